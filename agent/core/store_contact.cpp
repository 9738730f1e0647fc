#include "core/store_contact.hpp"

#include <algorithm>

#include "core/timing.hpp"

namespace tenure::core {

void store_contact::take(time_point now, const contact_event& what) {
  std::visit([&](const auto& one) { on(now, one); }, what);
}

void store_contact::hear(time_point now) {
  heard_at_ = std::max(heard_at_, now);
}

void store_contact::on(time_point now, const contact::answered&) {
  hear(now);
  answered_at_ = now;
  failure_.clear();
}

void store_contact::on(time_point now, const contact::showed&) {
  hear(now);
  showed_at_ = now;
  broken_watch_.clear();
  // Nobody has asked again: so old a failure says nothing about the store now.
  if (!failure_.empty() && now - failed_at_ > longest_silence_) failure_.clear();
}

/// If two requests overlap and one is answered, the answer decides: the other one was queued or
/// lost.
void store_contact::on(time_point now, const contact::failed& what) {
  if (answered_at_ != time_point::min() && answered_at_ > what.asked_at) return;
  failed_at_ = now;
  failure_ = what.why;
}

void store_contact::on(time_point, const contact::watch_broke& what) {
  broken_watch_ = what.why;
}

bool store_contact::reachable(time_point now) const {
  return was_heard() && failure_.empty() && now < silent_from();
}

std::optional<duration> store_contact::silence(time_point now) const {
  if (!was_heard()) return std::nullopt;
  return std::max(duration::zero(), now - heard_at_);
}

time_point store_contact::silent_from() const {
  if (!was_heard() || !failure_.empty()) return never;
  return longest_silence_ > never - heard_at_ ? never : heard_at_ + longest_silence_;
}

std::string store_contact::why(time_point now) const {
  if (!failure_.empty()) return failure_;
  if (!was_heard()) return broken_watch_.empty() ? "it has not answered yet" : broken_watch_;
  if (now >= silent_from()) return "it has not answered for more than " + text(longest_silence_);
  return broken_watch_.empty() ? "" : "the watch is broken: " + broken_watch_;
}

}  // namespace tenure::core
