#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/unique_fd.hpp"
#include "guard/guard_host.hpp"
#include "process/side_process.hpp"

struct pollfd;

namespace tenure::guard {

/// The real kernel: signals read as data, and one timer on CLOCK_BOOTTIME.
class guard_kernel final : public guard_host {
 public:
  /// Blocks every signal for good and receives those that the guard handles. False if the kernel
  /// refuses.
  [[nodiscard]] bool open();

  [[nodiscard]] core::time_point now() const override;
  void set_timer(core::time_point when) override;
  [[nodiscard]] std::optional<int> next_signal() override;
  [[nodiscard]] bool terminal_is_gone() override;
  [[nodiscard]] std::optional<child_change> next_child() override;

  /// A child whose end the loop does not see. At most `most_apart`.
  void keep_apart(process::side_process& one);

  /// Waits for a signal, the timer, or one of `others`. Only polls if `blocks` is false.
  void wait(std::span<const pollfd> others, bool blocks);

 private:
  static constexpr std::size_t most_apart = 8;

  base::unique_fd signals_;
  base::unique_fd timer_;
  int terminal_ = -1;
  std::array<process::side_process*, most_apart> apart_{};
};

}  // namespace tenure::guard
