#include "stores/turnstile.hpp"

#include <utility>

namespace tenure::stores {
namespace {

/// Enough to keep all connections busy, and few enough that each is answered long before its
/// deadline.
constexpr std::size_t most_under_way = 64;

}  // namespace

void turnstile::enter(core::time_point deadline, entry begin, entry too_late) {
  const core::time_point now = loop_.now();
  waiting_.push_back({.begin_by = now + (deadline - now) / 2,
                      .begin = std::move(begin),
                      .too_late = std::move(too_late)});
  begin_next();
  // If others wait already, the timer is set for the first of them, which ends first.
  if (waiting_.size() == 1) expire();
}

void turnstile::begin_next() {
  while (!waiting_.empty() && under_way_ < most_under_way) {
    waiting one = std::move(waiting_.front());
    waiting_.pop_front();
    ++under_way_;
    one.begin();
  }
}

/// Answers those whose time to begin is over, and sets the timer for the next one.
void turnstile::expire() {
  while (!waiting_.empty() && waiting_.front().begin_by <= loop_.now()) {
    waiting one = std::move(waiting_.front());
    waiting_.pop_front();
    one.too_late();
  }
  if (waiting_.empty()) {
    first_begin_by_.cancel();
    return;
  }
  first_begin_by_.at(waiting_.front().begin_by, [this] { expire(); });
}

void turnstile::leave() {
  --under_way_;
  begin_next();
}

void turnstile::close() {
  first_begin_by_.cancel();
  waiting_.clear();
}

}  // namespace tenure::stores
