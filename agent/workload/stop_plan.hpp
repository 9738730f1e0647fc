#pragma once

#include <cstdint>
#include <optional>

#include "core/clock.hpp"

namespace tenure::workload {

/// The ways to stop a workload that the agent does not run itself, in the order of the tries.
enum class stop_way : std::uint8_t { remove_file, http, command, exit_code };

/// The time a way gets even if none is left, after an unforeseen loss: a late stop is better than
/// none. The agent's own end never waits.
inline constexpr core::duration late_word = std::chrono::milliseconds(500);

/// Decides which way is tried, and until when. Each gets an equal share of the time left to
/// `kill_by`, so that a way that hangs leaves time for the later ones; unused time goes to the
/// next. `exit_code` takes no time. No I/O, no clock.
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

  /// Shortens the time; never extends it.
  void shorten(core::time_point now, core::time_point kill_by);

  /// The present way is done or has failed: goes on to the next.
  void next(core::time_point now);

  /// The way to try now; nothing if none is left.
  [[nodiscard]] std::optional<stop_way> current() const { return current_; }
  /// When its share of the time ends.
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
