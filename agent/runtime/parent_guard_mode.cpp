#include "runtime/parent_guard_mode.hpp"

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "base/error_text.hpp"
#include "core/sometimes.hpp"
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
  look_until_ = now() + guard::strangers_end_within;
  open_record();
  return true;
}

/// Who was killed a moment ago may not be dead yet.
void own_command_mode::open_record() {
  if (with_.host.has_ended()) return;
  auto opened = with_.machine.open_run_record();
  if (!opened && opened.error() == workload::no_record::in_use && now() < look_until_) {
    return look_again_.after(guard::kill_again_after, [this] { open_record(); });
  }
  if (opened) record_ = std::move(*opened);
  if (!record_ || record_->before() == nullptr) return begin(with_.session);
  look_at_run_before();
}

/// A run that was killed as a whole has released nothing. Once nothing of its workload is left, its
/// term is over, and its session is ours: as in that of an agent that has crashed, all that it
/// holds is released first.
void own_command_mode::look_at_run_before() {
  if (with_.host.has_ended()) return;
  workload::killed_run& before = *record_->before();
  const guard::remains left = before.left->kill_all();
  if (left != guard::remains::nothing && now() < look_until_) {
    return look_again_.after(guard::kill_again_after, [this] { look_at_run_before(); });
  }
  if (left == guard::remains::nothing) {
    TENURE_SOMETIMES(killed_run_is_over);
    taken_over_ = before.session;
    say_run_before_is_over(with_.to, who());
  } else {
    TENURE_SOMETIMES(killed_run_may_live);
    say_run_before_may_live(with_.to, who(), before.left->doubtful());
  }
  begin(taken_over_.empty() ? with_.session : taken_over_);
}

/// The record comes first: once a guard has heard of a session, no other run may take it over.
void own_command_mode::begin(const std::string& session) {
  guard_wish how = wish();
  how.session = session;
  if (record_ && !record_->keep(session)) {
    record_.reset();
    taken_over_.clear();
    how.session = with_.session;
  }
  const bool connected =
      connect(how, [this](const workload::guard_event& what) { from_guard(what); });
  if (!connected) with_.host.end(exit_failed);
}

/// A guard that has had an agent before keeps that one's session.
void own_command_mode::on(const workload::guard_ready& what) {
  workload::guard_ready left = what;
  if (left.session.empty()) {
    left.session = taken_over_;
  } else if (record_ && !record_->keep(left.session)) {
    record_.reset();
  }
  parent_guard_mode::on(left);
}

/// The session is ended next: a write that is on its way then must not meet another run in it.
void own_command_mode::phase_changed(const core::command::transition& what) {
  if (what.to == core::phase::stopped && record_) record_->erase();
  parent_guard_mode::phase_changed(what);
}

void own_command_mode::close() {
  look_again_.cancel();
  record_.reset();
  parent_guard_mode::close();
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
