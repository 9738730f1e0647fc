#pragma once

#include <cstdint>
#include <optional>

#include "core/clock.hpp"

namespace tenure::workload {

/// The ways to stop a workload that the agent does not run itself, in the order in which they are
/// tried.
enum class stop_way : std::uint8_t { remove_file, http, command, exit_code };

/// What a way gets although no time is left, after a loss that nobody could foresee: a word that
/// comes late is better than none. But the agent's own end waits for nothing.
inline constexpr core::duration late_word = std::chrono::milliseconds(500);

/// Which way is tried when, and until when. Each begins with an equal share of what is left to
/// `kill_by`, so that a way that hangs leaves time for those after it; what one does not need goes
/// to the next. `exit_code` takes no time. No I/O, no clock.
class stop_plan {
 public:
  struct ways {
    bool remove_file = false;
    bool http = false;
    bool command = false;
    bool exit_code = false;
  };
  explicit stop_plan(const ways& with) : ways_(with) {}

  /// Begins with the first way.
  void begin(core::time_point now, core::time_point kill_by);

  /// There is less time now. Never more.
  void shorten(core::time_point now, core::time_point kill_by);

  /// The present way has failed, or is over: on to the next.
  void next(core::time_point now);

  /// What is tried now; nothing if no way is left.
  [[nodiscard]] std::optional<stop_way> current() const { return current_; }
  /// When it has had its share.
  [[nodiscard]] core::time_point until() const { return until_; }
  [[nodiscard]] core::time_point kill_by() const { return kill_by_; }

 private:
  [[nodiscard]] bool has(stop_way which) const;
  [[nodiscard]] core::time_point share_end(core::time_point now) const;
  void go_to_first_from(std::uint8_t number, core::time_point now);

  ways ways_;
  std::optional<stop_way> current_;
  core::time_point until_{};
  core::time_point kill_by_{};
};

}  // namespace tenure::workload
