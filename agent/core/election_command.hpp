#pragma once

#include <array>
#include <cstddef>
#include <variant>

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// What an election orders.
namespace tenure::core {

namespace command {

/// Ask the store for the lease. Idempotent for one session: if we hold it already, the answer is
/// `granted` with the same version.
struct acquire {
  attempt number{};
  time_point deadline{};
  /// The new version must be larger than this one. A store that makes its own versions enforces
  /// this, so that versions do not go back even if its file is lost.
  core::version above = no_version;
};

/// Release the lease if our session still holds it. The workload is dead.
struct release {
  attempt number{};
  core::version version = no_version;  ///< `no_version`: every term our session may hold
  /// Every workload of earlier terms is dead, too, so the next holder does not wait. False if this
  /// term ends before its own lock_delay is over.
  bool clean = false;
  time_point deadline{};
};

/// Open the watch, or open it again. Its first observation is the present state.
struct watch {
  time_point not_before{};
};

/// Move the guard's deadlines. Comes before `start_workload` and after every renewal.
struct arm {
  core::version version = no_version;
  time_point stop_at{};
  time_point kill_at{};
};

/// Start the workload under this version, unless kill_at has passed.
struct start_workload {
  core::version version = no_version;
};

/// SIGTERM now, SIGKILL at `kill_by` to every process that is left. A later command may only
/// shorten it.
struct stop_workload {
  time_point kill_by{};
  loss_reason why = loss_reason::none;
};

/// The phase has changed; the agent logs one line.
struct transition {
  phase from;
  phase to;
  loss_reason why = loss_reason::none;
};

/// `view()` shows something new.
struct publish {};

/// An operator has accepted that versions restart lower: the newest grant that is kept for the next
/// agent of this session (`event::started::last_term`) must be below `before`.
struct forget_grants {
  core::version before = no_version;
};

/// Say in the list of members whether this member could take the lease now.
struct announce {
  bool ready = false;
};

/// Whether to stand in line: this member comes next when the present holder ends.
struct stand_in_line {
  bool stands = false;
};

/// Nothing is held and nothing runs: the agent may end.
struct finished {
  loss_reason why = loss_reason::none;
};

}  // namespace command

using election_command = std::variant<command::acquire, command::release, command::watch,
                                      command::arm, command::start_workload, command::stop_workload,
                                      command::transition, command::publish, command::forget_grants,
                                      command::announce, command::stand_in_line, command::finished>;

/// The commands of one step, in the order in which they must be carried out. Holds them in
/// place, so that a step allocates nothing.
class effects {
 public:
  static constexpr std::size_t capacity = 14;

  void add(const election_command& what) {
    TENURE_CHECK(count_ < capacity);
    commands_[count_++] = what;
  }
  [[nodiscard]] const election_command* begin() const { return commands_.data(); }
  [[nodiscard]] const election_command* end() const { return commands_.data() + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  std::array<election_command, capacity> commands_;
  std::size_t count_ = 0;
};

}  // namespace tenure::core
