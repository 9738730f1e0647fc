#pragma once

#include <optional>
#include <span>

#include "base/unique_fd.hpp"
#include "guard/guard_host.hpp"

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
  [[nodiscard]] std::optional<child_change> next_child() override;

  /// Waits for a signal, the timer, or one of `others`. Only polls if `blocks` is false.
  void wait(std::span<const pollfd> others, bool blocks);

 private:
  base::unique_fd signals_;
  base::unique_fd timer_;
};

}  // namespace tenure::guard
