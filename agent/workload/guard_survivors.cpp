#include <unistd.h>

#include <chrono>

#include "os/boot_time.hpp"
#include "workload/guard_lines.hpp"
#include "workload/guard_loop.hpp"
#include "workload/survivors.hpp"

/// The part of the guard for what SIGKILL does not end.
namespace tenure::workload {
namespace {

using namespace std::chrono_literals;

/// Whoever is killed ends within milliseconds, unless much memory or a slow disk has to be let go.
constexpr core::duration survivors_are_told_after = 1s;
/// A hundred processes are dead and reaped before: no look at all that there is delays that.
constexpr core::duration deep_looks_begin_after = 50ms;
/// Once the survivors are told, what is below them has been killed, and they cannot fork.
constexpr core::duration between_late_deep_looks = 1s;

}  // namespace

/// Said once for each end of a workload to each agent, and here once there is none.
void guard_loop::check_survivors() {
  if (core_.current() != core::guard::state::killing) return tell_survivors_at_.reset();
  const core::time_point now = os::boot_now();
  if (!tell_survivors_at_) {
    tell_survivors_at_ = now + survivors_are_told_after;
    look_deep_at_ = now + deep_looks_begin_after;
  }
  if (now < *tell_survivors_at_) return;
  const survivors found =
      foreign_ ? living_members() : living_descendants(::getpid(), agent_.pid());
  // Dead meanwhile, or out of sight for a moment.
  if (found.left == 0) return;
  tell_survivors_at_ = core::never;
  tell(found);
}

survivors guard_loop::living_members() const {
  survivors out;
  process_scan processes;
  if (!processes.open()) return out;
  for (const member& one : foreign_->members()) {
    if (!one.gone()) out.count(processes, one.pid);
  }
  return out;
}

/// The agent has a log for it, and a lease to think of.
void guard_loop::tell(const survivors& what) {
  if (channel_.is_open()) {
    return channel_.say(message::survives{.term = core::number(core_.term()),
                                          .left = what.left,
                                          .stuck = what.stuck,
                                          .pid = what.pid,
                                          .state = static_cast<unsigned char>(what.state),
                                          .name = what.name,
                                          .where = what.where});
  }
  say_survivors(log_, what);
}

/// Whoever was told is dead, or has just come.
void guard_loop::tell_survivors_again() {
  if (tell_survivors_at_ == core::never) tell_survivors_at_ = os::boot_now();
}

/// Not with the first SIGKILL, which is enough as a rule.
bool guard_loop::may_look_deep() {
  const core::time_point now = os::boot_now();
  if (!tell_survivors_at_ || now < look_deep_at_) return false;
  const bool told = *tell_survivors_at_ == core::never;
  look_deep_at_ = told ? now + between_late_deep_looks : now;
  return true;
}

}  // namespace tenure::workload
