#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What an agent says of its elections, as commands need it. All text is printable: what comes
/// from a network must not steer a terminal.
namespace tenure::cli {

struct seat {
  std::string holder;
  std::uint64_t version = 0;

  friend bool operator==(const seat&, const seat&) = default;
};

struct member_report {
  std::string identity;
  std::string state;
  bool is_self = false;
};

struct term_report {
  seat who;
  std::string from{};  ///< RFC 3339; empty: not known
  std::string to{};    ///< the same, or the term runs still
  bool ended = false;
  bool is_self = false;  ///< of the agent that was asked
  std::string reason{};  ///< empty: not known
};

/// How the agent's store answers.
struct store_report {
  std::string kind{};  ///< empty: not known
  bool reachable = true;
  std::optional<std::int64_t> last_answer_ms{};  ///< how long ago
  std::string why{};                             ///< what does not work
};

struct election_report {
  std::string election;
  std::string identity;  ///< the member whose agent says so
  std::string state;
  bool is_self = false;  ///< that member may act
  std::optional<seat> holder{};
  std::vector<seat> holders{};
  bool holder_known = true;  ///< false: `holders` is what was last seen, or nothing was
  std::optional<std::int64_t> holder_age_ms{};  ///< of that news
  std::uint64_t slots = 1;
  std::optional<std::int64_t> expires_in_ms{};
  std::optional<std::int64_t> since_ms{};  ///< how long it has been in this state
  bool paused = false;
  std::optional<std::int64_t> aside_for_ms{};
  std::string held_back{};       ///< why it does not campaign, as a code; empty: it does
  std::string held_back_text{};  ///< the same for a person
  std::optional<std::vector<member_report>> members{};  ///< nothing: the store cannot tell
  std::optional<term_report> last_term{};
  std::string unhealthy{};  ///< why; empty: it is well, or nobody checks
  store_report store{};

  /// The seat of that member, or nullptr.
  [[nodiscard]] const seat* seat_of(const std::string& member) const;
};

struct history_report {
  std::string election;
  std::string complete_since;
  std::string as_of;
  std::vector<term_report> terms;  ///< newest first
  bool holder_known = true;        ///< false: a term that has not ended may have
};

}  // namespace tenure::cli
