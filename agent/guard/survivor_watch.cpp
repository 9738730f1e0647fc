#include "guard/survivor_watch.hpp"

#include <chrono>

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;

/// A killed process ends within milliseconds, unless it has to free much memory or waits for a slow
/// disk.
constexpr core::duration survivors_are_told_after = 1s;
/// By then a hundred processes are dead and reaped: no deep look should delay that.
constexpr core::duration deep_looks_begin_after = 50ms;
/// Once the survivors are reported, processes below them have been killed, and they cannot fork.
constexpr core::duration between_late_deep_looks = 1s;

}  // namespace

bool survivor_watch::is_due(core::time_point now, bool killing) {
  if (!killing) {
    tell_at_.reset();
    return false;
  }
  if (!tell_at_) {
    tell_at_ = now + survivors_are_told_after;
    look_deep_at_ = now + deep_looks_begin_after;
  }
  return now >= *tell_at_;
}

/// Not with the first SIGKILL, which is usually enough.
bool survivor_watch::may_look_deep(core::time_point now) {
  if (!tell_at_ || now < look_deep_at_) return false;
  look_deep_at_ = *tell_at_ == core::never ? now + between_late_deep_looks : now;
  return true;
}

}  // namespace tenure::guard
