#include "sqlite/fiber.hpp"

#include <utility>

#include "core/check.hpp"

namespace tenure::shell {
namespace {

/// `makecontext` passes no pointers.
thread_local fiber* entered = nullptr;

}  // namespace

void fiber::begin(std::move_only_function<void()> what) {
  TENURE_CHECK(!under_way_);
  if (!stack_) stack_ = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  what_ = std::move(what);
  TENURE_CHECK(::getcontext(&inside_) == 0);
  inside_.uc_stack.ss_sp = stack_.get();
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = &outside_;
  ::makecontext(&inside_, &fiber::enter, 0);
  under_way_ = true;
}

void fiber::enter() {
  fiber& self = *entered;
  self.what_();
  self.what_ = nullptr;
  self.under_way_ = false;
}

void fiber::resume() {
  TENURE_CHECK(under_way_ && !running_);
  running_ = true;
  entered = this;
  TENURE_CHECK(::swapcontext(&outside_, &inside_) == 0);
  running_ = false;
}

void fiber::suspend() {
  TENURE_CHECK(running_);
  TENURE_CHECK(::swapcontext(&inside_, &outside_) == 0);
}

}  // namespace tenure::shell
