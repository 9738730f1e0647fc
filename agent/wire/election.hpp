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

/// An agent's reports about an election. In a value that was read, text is printable, and a member
/// missing from an older agent's report has the value that such an agent implies.
namespace tenure::wire {

/// A member of the election.
struct member_report {
  std::string identity;
  std::string state{};  ///< "standby", "active"...; newer agents may have others
  bool is_self = false;
  /// It could take the lease now; nothing: unknown, as for a holder, or for a member of an earlier
  /// release.
  std::optional<bool> ready{};
  std::int32_t priority = 0;                          ///< members with a higher one come first
  std::optional<std::int64_t> ready_since_unix_ms{};  ///< by the member's own clock

  friend bool operator==(const member_report&, const member_report&) = default;
};

/// A member that is no longer in the store's list.
struct gone_member {
  std::string identity;
  std::int64_t last_seen_unix_ms = 0;

  friend bool operator==(const gone_member&, const gone_member&) = default;
};

/// A time without an active member, from the end of one term to the beginning of the next.
///
/// It begins when the holder releases its lease: nothing runs under it then. If the holder leaves
/// no release record, nobody knows when it ceased to be active, and it begins with the last
/// renewal.
struct outage {
  std::int64_t from_unix_ms = 0;
  std::optional<std::int64_t> lasted_ms{};  ///< nothing: it lasts
  /// The holder may have been active for a while after its last renewal.
  bool at_most = false;

  friend bool operator==(const outage&, const outage&) = default;
};

/// "5.2 s", or "at most 5.2 s". Precondition: it has ended.
std::string length_text(const outage& what);
/// The same of one that may last, at `unix_ms`.
std::string length_text(const outage& what, std::int64_t unix_ms);

/// A term that the agent has seen, or that the store has reported.
struct past_term {
  core::holder who;
  bool is_self = false;  ///< the reporting agent's own
  bool ended = false;
  std::int64_t from_unix_ms = 0;  ///< 0: unknown
  std::int64_t to_unix_ms = 0;    ///< 0: unknown, or not ended
  /// Why it ended or is about to end: the name of a `core::loss_reason`; "expired" if its holder
  /// has left no release record in the store; empty: unknown.
  std::string reason{};
  std::optional<outage> outage_after{};  ///< nothing: it has not ended, or is unknown

  friend bool operator==(const past_term&, const past_term&) = default;
};

/// The health of the workload, according to its checks.
struct health_report {
  core::health state = core::health::unknown;
  std::string
      reason{};  ///< what failed in the newest check; empty if it passed, or there was no check yet
  std::int64_t since_unix_ms = 0;  ///< when the state began

  friend bool operator==(const health_report&, const health_report&) = default;
};

/// The state of the connection to the agent's store.
struct store_report {
  std::string kind{};  ///< empty: unknown
  bool reachable = true;
  std::optional<std::int64_t> last_answer_ms{};  ///< how long ago
  std::string why{};                             ///< what fails

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
  std::string identity{};  ///< the member whose agent reports
  std::string
      agent{};  ///< names the run of that agent: indexes of different runs cannot be compared
  std::optional<std::uint64_t> index{};  ///< grows with each meaningful change
  std::string state{};                   ///< the name of a `core::phase`
  bool is_self = false;                  ///< that member may act as the holder
  std::optional<core::holder> holder{};  ///< the one to show
  std::vector<core::holder> holders{};
  std::optional<std::string> sequencer{};
  std::optional<std::int64_t> since_unix_ms{};  ///< when `state` began
  std::string last_loss{};                      ///< empty: no loss yet
  std::optional<past_term> last_term{};         ///< the newest one that has ended
  std::uint64_t slots = 1;
  std::string next{};  ///< the member that comes next; empty: none is known
  /// This member has a place in line, or may have one; see store::stand_in_line.
  bool in_line = false;
  std::optional<std::vector<member_report>> members{};  ///< nothing: the store cannot tell
  std::vector<gone_member> gone{};
  bool paused = false;
  std::optional<bool> workload_running{};  ///< nothing: the agent runs no workload
  std::optional<health_report> health{};   ///< nothing: no health checks
  std::string cluster_id{};                ///< the store's own id; empty: it has none
  // The members below change with time alone, the others only at a new `index`.
  bool holder_known = true;  ///< false: `holders` is what was last seen, if anything
  std::optional<std::int64_t> holder_age_ms{};  ///< age of that news
  std::optional<std::int64_t> expires_in_ms{};
  std::optional<std::int64_t> aside_for_ms{};
  std::optional<obstacle> not_campaigning{};
  std::optional<std::int64_t> as_of_unix_ms{};
  store_report store{};

  friend bool operator==(const election_report&, const election_report&) = default;
};

/// Vacant and unknown values are null; "health" is omitted without health checks.
std::string write(const election_report& what);

/// {"elections":[...],"agent","index","as_of"} for `count` elections. They are made one by one, by
/// index: ten thousand of them at a time would need many times the space of their text.
std::string write_list(std::size_t count, const std::function<election_report(std::size_t)>& at,
                       std::string_view agent, std::uint64_t index, std::int64_t as_of_unix_ms);

/// The elections of a list, or the one of an answer about a single election. Nothing if the body is
/// neither.
std::optional<std::vector<election_report>> read_elections(std::string_view body);

/// The index of an answer; nothing from an agent that does not count its changes.
std::optional<std::uint64_t> index_in(std::string_view body);

/// The part of an answer that does not change with time alone.
std::string lasting_part(std::string_view body);

/// The terms of an election that an agent has seen.
struct history_report {
  std::string election;
  std::string identity{};
  std::string agent{};
  std::optional<std::int64_t> complete_since_unix_ms{};  ///< when the agent began to watch
  std::vector<past_term> terms{};                        ///< newest first
  bool holder_known = true;  ///< false: a term without an end may have ended
  store_report store{};
  std::optional<std::int64_t> as_of_unix_ms{};

  friend bool operator==(const history_report&, const history_report&) = default;
};

std::string write(const history_report& what);
/// Nothing if the body is not a history.
std::optional<history_report> read_history(std::string_view body);

/// "Does this holder (any holder, if none is given) still hold under this version, or by this
/// sequencer?" One of the two is given, or both.
struct term_question {
  core::version version = core::no_version;  ///< `no_version`: of any
  std::optional<std::string> holder{};
  std::optional<std::string> sequencer{};

  friend bool operator==(const term_question&, const term_question&) = default;
};

/// The answer to a term question, yes or no.
struct verification {
  bool valid = false;
  std::string reason{};   ///< only for no: the name of the validity
  std::string message{};  ///< only for no: for a person
  std::string action{};   ///< only for no: what to do
  std::string election;
  term_question asked{};
  /// The holder of the term in question if that is valid, otherwise the holder to show.
  std::optional<core::holder> holder{};
  std::vector<core::holder> holders{};  ///< the valid ones
  std::string source;  ///< where the answer comes from: "lease", "cache" or "store"
  std::optional<std::int64_t> as_of_unix_ms{};  ///< when the answer was true
  std::optional<std::int64_t> age_ms{};         ///< its age
  std::optional<std::int64_t> expires_in_ms{};
  std::string identity{};  ///< the member whose agent answers
  store_report store{};
  std::string cluster_id{};

  friend bool operator==(const verification&, const verification&) = default;
};

/// A yes has no "reason", "message" or "action".
std::string write(const verification& what);

/// Nothing if the body does not name the question, or gives no clear yes or no: a proxy may answer
/// anything.
std::optional<verification> read_verification(std::string_view body);

/// One body that clients of four older sidecars can read.
struct older_status {
  /// The holder. Those clients compare it with their own name and start working if it matches, so
  /// it is empty while this member holds the lease but may not act (pending, draining).
  std::string name{};
  bool is_leader = false;
  std::string node;
  std::optional<std::int64_t> as_of_unix_ms{};
  std::string election;
  std::optional<core::version> version{};  ///< the holder's version
};

std::string write(const older_status& what);

}  // namespace tenure::wire
