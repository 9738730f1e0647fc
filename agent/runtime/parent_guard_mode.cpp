#include "runtime/parent_guard_mode.hpp"

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "base/error_text.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::runtime {
namespace {

/// What is wrong with the processes that were to get the signal.
std::string why_not_told(int error) {
  switch (error) {
    case ESRCH:
      return "the target names no process that runs; start the workload before the lease is gained";
    case EBUSY:
      return "what the target may name hangs in the kernel (state D)";
    case EPERM:
      return "a process that the target names may not be signalled; run both as the same user";
    default:
      return base::error_text(error);
  }
}

}  // namespace

bool parent_guard_mode::connect(const guard_wish& how, guard_handler on_event) {
  guard_result link = with_.machine.connect_parent_guard(how, std::move(on_event));
  if (!link) {
    say_guard_unreachable(with_.to, link.error());
    return false;
  }
  owner_ = std::move(*link);
  return true;
}

void parent_guard_mode::bye(std::optional<int> status) {
  if (owner_) owner_->bye(status);
}

void parent_guard_mode::on(const workload::guard_unusable& what) {
  say_guard_unusable(with_.to, what.why);
  with_.host.end(exit_failed);
}

void parent_guard_mode::on(const workload::signalled& what) {
  with_.host.shut_down(what.signo, core::loss_reason::shutdown);
}

void parent_guard_mode::on(const workload::guard_gone&) {
  with_.instruments.guard_is(false);
  without_guard(false);
}

/// When the guard continues, it may still start the workload as asked, but not after the deadline,
/// which nothing may move.
void parent_guard_mode::on(const workload::guard_hangs& what) {
  with_.instruments.guard_hung();
  owner_->end_orphans();
  without_guard(true);
  if (what.start_unanswered) feed(core::event::workload_stuck{});
}

/// Our own guard is lost: the agent cannot continue without it.
void parent_guard_mode::without_guard(bool hangs) {
  say_guard_lost(with_.to, who(), hangs, owner_->may_run());
  is_killed_ = true;
  with_.shown.guard_gone();
  with_.host.shut_down(SIGKILL, core::loss_reason::guard_gone);
}

// --- our own command -------------------------------------------------------------------------

bool own_command_mode::open() {
  return connect(wish(), [this](const workload::guard_event& what) { from_guard(what); });
}

bool own_command_mode::exits_as_workload(core::loss_reason why) const {
  return why == core::loss_reason::workload_exited || start_failed_ ||
         (with_.host.is_shutting_down() && ran_);
}

// --- processes that somebody else starts -----------------------------------------------------

bool found_processes_mode::open() {
  guard_wish how = wish();
  how.foreign = with_.settings.target;
  if (!with_.settings.hooks.gain()) {
    return connect(how, [this](const workload::guard_event& what) { from_guard(what); });
  }
  const bool connected = connect(how, [this](const workload::guard_event& what) {
    static_cast<workload::guarded_hook_workload&>(*owner_).from_guard(what);
  });
  if (!connected) return false;
  owner_ = std::make_unique<workload::guarded_hook_workload>(
      with_.machine.loop(), std::move(owner_), with_.machine.make_hooks(with_.settings.hooks),
      with_.settings.hooks, with_.settings.timing, names(),
      workload::guarded_hook_workload::listener{
          .environment = [this] { return environment(elections().at(owned).view()); },
          .on_guard = [this](const workload::guard_event& what) { from_guard(what); },
          .on_hook = [this](const workload::hook_event& what) { from_hooks(what); }});
  return true;
}

/// The guard stops a workload that could not be told.
void found_processes_mode::from_hooks(const workload::hook_event& what) {
  if (with_.host.has_ended()) return;
  if (const auto* told = std::get_if<workload::workload_told>(&what)) {
    say_hook_gained(with_.to, who());
    runs(told->version);
  } else if (const auto* failed = std::get_if<workload::workload_not_told>(&what)) {
    not_told(failed->why);
  } else if (const auto* way = std::get_if<workload::stop_way_failed>(&what)) {
    say_hook_failed(with_.to, who(), way->why);
  }
}

void found_processes_mode::on(const workload::workload_started& what) {
  say_workload_may_run(with_.to, who(), what.version, static_cast<std::uint64_t>(what.pid));
  runs(what.version);
}

void found_processes_mode::on(const workload::start_failed& what) {
  start_failed_ = true;
  say_start_failed(with_.to, who(), false, why_not_told(what.error));
  feed(core::event::workload_exited{});
}

}  // namespace tenure::runtime
