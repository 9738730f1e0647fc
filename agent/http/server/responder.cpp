#include "http/server/responder.hpp"

#include <utility>

namespace tenure::http {

void answer_slot::give(std::optional<answer> what) {
  const std::lock_guard lock(mutex_);
  if (settled_ || closed_) return;
  settled_ = true;
  given_ = std::move(what);
  // Under the lock: the receiver exists until the slot is closed.
  if (wake_) wake_();
}

bool answer_slot::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_;
}

bool answer_slot::await(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (settled_) return false;
  wake_ = std::move(wake);
  return true;
}

std::optional<answer> answer_slot::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  // It refers to the server, which a responder may outlive.
  wake_ = nullptr;
  return std::exchange(given_, std::nullopt);
}

void answer_slot::reset() {
  const std::lock_guard lock(mutex_);
  settled_ = false;
  closed_ = false;
}

responder::~responder() {
  if (into_) into_->give(std::nullopt);
}

void responder::operator()(answer what) {
  if (into_) std::exchange(into_, nullptr)->give(std::move(what));
}

}  // namespace tenure::http
