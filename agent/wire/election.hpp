#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/health.hpp"
#include "core/vocabulary.hpp"

/// What an agent says of an election. In a value that was read, text is printable, and what an
/// older agent does not say has the value that such an agent means.
namespace tenure::wire {

/// A member that takes part.
struct member_report {
  std::string identity;
  std::string state{};  ///< "standby", "active"...; a newer agent may have further ones
  bool is_self = false;

  friend bool operator==(const member_report&, const member_report&) = default;
};

/// A member that is not in the store's list any more.
struct gone_member {
  std::string identity;
  std::int64_t last_seen_unix_ms = 0;

  friend bool operator==(const gone_member&, const gone_member&) = default;
};

/// A term that the agent has seen, or that the store has told it of.
struct past_term {
  core::holder who;
  bool is_self = false;  ///< of the agent that says so
  bool ended = false;
  std::int64_t from_unix_ms = 0;  ///< 0: not known
  std::int64_t to_unix_ms = 0;    ///< 0: not known, or not ended
  /// Why it ended, or is about to: the name of a `core::loss_reason`; "expired" if its holder did
  /// not say; empty: not known.
  std::string reason{};

  friend bool operator==(const past_term&, const past_term&) = default;
};

/// What the checks say of the workload's health.
struct health_report {
  core::health state = core::health::unknown;
  std::string reason{};  ///< what failed in the newest check; empty if it passed, or there was none
  std::int64_t since_unix_ms = 0;  ///< of the state

  friend bool operator==(const health_report&, const health_report&) = default;
};

/// How the agent's store answers.
struct store_report {
  std::string kind{};  ///< empty: not known
  bool reachable = true;
  std::optional<std::int64_t> last_answer_ms{};  ///< how long ago
  std::string why{};                             ///< what does not work

  friend bool operator==(const store_report&, const store_report&) = default;
};

/// Why a standby does not campaign.
struct obstacle {
  std::string reason;  ///< stable, snake_case
  std::string text;    ///< for a person

  friend bool operator==(const obstacle&, const obstacle&) = default;
};

struct election_report {
  std::string election;
  std::string identity{};  ///< the member whose agent says so
  std::string agent{};     ///< names the run of that agent: indexes of two runs do not compare
  std::optional<std::uint64_t> index{};  ///< grows at each meaningful change
  std::string state{};                   ///< the name of a `core::phase`
  bool is_self = false;                  ///< that member may act as the holder
  std::optional<core::holder> holder{};  ///< the one to show
  std::vector<core::holder> holders{};
  std::optional<std::string> sequencer{};
  std::optional<std::int64_t> since_unix_ms{};  ///< when `state` began
  std::string last_loss{};                      ///< empty: none
  std::optional<past_term> last_term{};         ///< the newest that has ended
  std::uint64_t slots = 1;
  std::optional<std::vector<member_report>> members{};  ///< nothing: the store cannot tell
  std::vector<gone_member> gone{};
  bool paused = false;
  std::optional<bool> workload_running{};  ///< nothing: the agent runs none
  std::optional<health_report> health{};   ///< nothing: it is not checked
  std::string cluster_id{};                ///< of the store; empty: it has none
  // What follows changes by time alone; the rest only at a new `index`.
  bool holder_known = true;  ///< false: `holders` is what was last seen, or nothing was
  std::optional<std::int64_t> holder_age_ms{};  ///< of that news
  std::optional<std::int64_t> expires_in_ms{};
  std::optional<std::int64_t> aside_for_ms{};
  std::optional<obstacle> not_campaigning{};
  std::optional<std::int64_t> as_of_unix_ms{};
  store_report store{};

  friend bool operator==(const election_report&, const election_report&) = default;
};

/// What is vacant or not known is null; "health" is left out if it is not checked.
std::string write(const election_report& what);

/// {"elections":[...],"agent","index","as_of"} of `count` elections. They are made one after the
/// other by their place: ten thousand of them would take many times the space of their text.
std::string write_list(std::size_t count, const std::function<election_report(std::size_t)>& at,
                       std::string_view agent, std::uint64_t index, std::int64_t as_of_unix_ms);

/// The elections of a list, or the one of an answer about one. Nothing if the body is neither.
std::optional<std::vector<election_report>> read_elections(std::string_view body);

/// The index of an answer; nothing from an agent that does not count its changes.
std::optional<std::uint64_t> index_in(std::string_view body);

/// The same text for two answers between which only time has passed.
std::string lasting_part(std::string_view body);

/// The terms of an election that an agent has seen.
struct history_report {
  std::string election;
  std::string identity{};
  std::string agent{};
  std::optional<std::int64_t> complete_since_unix_ms{};  ///< when the agent began to watch
  std::vector<past_term> terms{};                        ///< newest first
  bool holder_known = true;  ///< false: a term that has not ended may have
  store_report store{};
  std::optional<std::int64_t> as_of_unix_ms{};

  friend bool operator==(const history_report&, const history_report&) = default;
};

std::string write(const history_report& what);
/// Nothing if the body is not a history.
std::optional<history_report> read_history(std::string_view body);

/// "Does the holder (any, if none is given) still hold under this version?"
struct term_question {
  core::version version = core::no_version;
  std::optional<std::string> holder{};

  friend bool operator==(const term_question&, const term_question&) = default;
};

/// The yes or the no to a question.
struct verification {
  bool valid = false;
  std::string reason{};   ///< of a no: the name of the validity
  std::string message{};  ///< of a no, for a person
  std::string action{};   ///< of a no: what to do
  std::string election;
  term_question asked{};
  /// That of the term in question if it is valid, else the one to show.
  std::optional<core::holder> holder{};
  std::vector<core::holder> holders{};          ///< those in force
  std::string source;                           ///< what it rests on: "lease", "cache" or "store"
  std::optional<std::int64_t> as_of_unix_ms{};  ///< when it was true
  std::optional<std::int64_t> age_ms{};         ///< how long before the answer that was
  std::optional<std::int64_t> expires_in_ms{};
  std::string identity{};  ///< the member whose agent answers
  store_report store{};
  std::string cluster_id{};

  friend bool operator==(const verification&, const verification&) = default;
};

/// A yes has no "reason", "message" and "action".
std::string write(const verification& what);

/// Nothing if the body does not say what it answers, or gives no clear yes or no: a proxy may
/// answer anything.
std::optional<verification> read_verification(std::string_view body);

/// One body for the readers of four older sidecars.
struct older_status {
  /// The holder. Those readers compare it with their own name and begin to work if it is the same,
  /// so it is empty while this member holds the lease but may not act (pending, draining).
  std::string name{};
  bool is_leader = false;
  std::string node;
  std::optional<std::int64_t> as_of_unix_ms{};
  std::string election;
  std::optional<core::version> version{};  ///< of the holder

  friend bool operator==(const older_status&, const older_status&) = default;
};

std::string write(const older_status& what);
/// Nothing if the body is not JSON of this form.
std::optional<older_status> read_older_status(std::string_view body);

}  // namespace tenure::wire
