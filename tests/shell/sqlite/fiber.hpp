#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace tenure::shell {

/// A function that can stop in the middle and go on later, on the same thread: what calls that
/// block need in virtual time. One function after the other, on one stack.
class fiber {
 public:
  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// What `resume` runs. Precondition: what was run before has returned.
  void begin(std::move_only_function<void()> what);

  /// Runs until the function suspends itself or returns. Precondition: it has not returned.
  void resume();

  /// Called by the function: returns to the caller of `resume`.
  void suspend();

  /// True from `begin` until the function has returned.
  [[nodiscard]] bool is_under_way() const { return under_way_; }
  /// True within the function.
  [[nodiscard]] bool is_running() const { return running_; }

 private:
  static void enter();

  static constexpr std::size_t stack_bytes = 512UL * 1024;

  std::unique_ptr<std::byte[]> stack_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  std::move_only_function<void()> what_;
  bool under_way_ = false;
  bool running_ = false;
};

}  // namespace tenure::shell
