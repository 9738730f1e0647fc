#include "runtime/socket_guard_mode.hpp"

#include <csignal>
#include <utility>

#include "runtime/exit_status.hpp"

namespace tenure::runtime {
namespace {

/// A running guard answers at once. One that is busy with the end of the previous agent gets this
/// long.
constexpr core::duration guard_may_be_busy = std::chrono::seconds(2);

/// When a pod ends, all of its containers get SIGTERM at about the same time.
constexpr core::duration others_are_told_within = std::chrono::seconds(1);

}  // namespace

socket_guard_mode::socket_guard_mode(const mode_parts& with)
    : guard_mode(with), leave_timer_(with.machine.loop()) {}

// --- finding it ------------------------------------------------------------------------------

bool socket_guard_mode::open() {
  search_until_ = now() + guard_may_be_busy;
  search_ = with_.machine.search_guard(
      [this](std::variant<guard_opener, workload::no_guard> what) { found(std::move(what)); });
  search_->start();
  return true;
}

void socket_guard_mode::found(std::variant<guard_opener, workload::no_guard> what) {
  if (with_.host.has_ended()) return;
  if (auto* opener = std::get_if<guard_opener>(&what)) return use(std::move(*opener));
  none(std::get<workload::no_guard>(what));
}

void socket_guard_mode::use(guard_opener with) {
  guard_wish how = wish();
  how.session_is_bound = with_.host.store_is_open();
  guard_result link = with(how, [this](const workload::guard_event& what) { from_guard(what); });
  const auto before = std::move(owner_);
  if (link) owner_ = std::move(*link);
  // A container is restarted only when nothing of it is left.
  if (before) before->presume_dead();
  if (!link) on(workload::guard_unusable{.why = link.error()});
}

/// A usable guard may take its place.
void socket_guard_mode::on(const workload::guard_unusable& what) {
  owner_.reset();
  none({.why = what.why});
  search_->start_later();
}

void socket_guard_mode::none(const workload::no_guard& what) {
  if (std::exchange(none_, what.why) != what.why) {
    say_no_guard(with_.to, with_.settings.guard_dir, what.why);
  }
  if (!with_.host.store_is_open() && (what.absent || now() >= search_until_)) {
    with_.host.open_store({});
  }
}

void socket_guard_mode::on(const workload::guard_ready& what) {
  none_.clear();
  here_ = true;
  if (!with_.host.store_is_open()) {
    // The elections have not begun, but will be told that it was lost.
    if (std::exchange(lost_, false)) {
      say_guard_found(with_.to, with_.settings.guard_dir);
      feed(core::event::guard_back{.last_term = what.last_term});
    }
    return guard_mode::on(what);
  }
  with_.instruments.guard_found();
  returned(what);
}

void socket_guard_mode::returned(const workload::guard_ready& what) {
  say_guard_found(with_.to, with_.settings.guard_dir);
  is_killed_ = false;
  if (what.found) {
    workload::found_workload found = *what.found;
    if (what.session != with_.session) {
      // We cannot be granted its term.
      found.stopping = true;
      owner_->stop(now() + with_.settings.timing.drain, stop_signal());
    }
    say_workload_found(with_.to, who(), found);
    feed(event_of(found));
  }
  feed(core::event::guard_back{.last_term = what.last_term});
}

// --- what it says ----------------------------------------------------------------------------

void socket_guard_mode::on(const workload::workload_exited& what) {
  guard_mode::on(what);
  if (owner_ && owner_->gone()) search_->start();
  if (leaving_ != leave::no) with_.host.shut_down(SIGTERM, core::loss_reason::shutdown);
}

void socket_guard_mode::on(const workload::signalled& what) {
  say_guard_ends(with_.to, with_.settings.guard_dir, what.signo);
  here_ = false;
  feed(core::event::guard_away{.why = core::loss_reason::shutdown});
  if (leaving_ != leave::no) with_.host.shut_down(SIGTERM, core::loss_reason::shutdown);
}

/// A workload in sight must be ended first, over the link that we have.
void socket_guard_mode::on(const workload::guard_gone& what) {
  with_.instruments.guard_is(false);
  if (std::exchange(here_, false)) {
    what.with_container ? say_container_died(with_.to, with_.settings.guard_dir)
                        : say_guard_gone(with_.to, with_.settings.guard_dir);
  }
  if (what.with_container) {
    is_killed_ = lost_ = true;
    feed(core::event::guard_away{.why = core::loss_reason::container_died});
  } else {
    lose(what.workload_in_sight);
  }
  if (!owner_->may_run() || !what.workload_in_sight) search_->start();
}

/// When the guard continues, it may still start the workload as asked, but not after the deadline,
/// which nothing may move.
void socket_guard_mode::on(const workload::guard_hangs& what) {
  with_.instruments.guard_hung();
  owner_->end_orphans();
  if (!with_.host.serve()) return with_.host.end(exit_failed);
  here_ = false;
  say_guard_hangs(with_.to, with_.settings.guard_dir);
  lose(what.workload_in_sight);
  if (what.start_unanswered) feed(core::event::workload_stuck{});
}

void socket_guard_mode::on(const workload::guard_recovers&) {
  with_.instruments.guard_is(true);
  here_ = true;
  say_guard_answers(with_.to, with_.settings.guard_dir);
  feed(core::event::guard_back{});
}

/// Also before the elections have begun: a guard may have come back and gone by then.
void socket_guard_mode::lose(bool workload_in_sight) {
  if (!workload_in_sight && owner_->may_run()) let_lease_run_out();
  is_killed_ = workload_in_sight;
  lost_ = true;
  feed(core::event::guard_away{});
}

// --- leaving the workload to another agent ---------------------------------------------------

/// Restarting or replacing a sidecar costs no fail-over. But if the whole pod ends, the guard ends,
/// too, and is told at about the same time: then the lease is given up in order.
bool socket_guard_mode::leaves() {
  if (leaving_ != leave::no) return false;
  const bool can =
      here_ && owner_ && owner_->may_run() && driver().begun() && phase() == core::phase::active;
  if (!can) return false;
  leaving_ = leave::unless_guard_ends;
  say_leaving_workload(with_.to, with_.settings.identity);
  leave_timer_.after(others_are_told_within, [this] {
    if (leaving_ == leave::unless_guard_ends) leaving_ = leave::with_next_renewal;
  });
  return true;
}

void socket_guard_mode::give_up(int signo) {
  leaving_ = leave::no;
  guard_mode::give_up(signo);
}

/// The next agent has the whole lease left to arrive.
void socket_guard_mode::renewed() {
  if (leaving_ != leave::with_next_renewal || with_.host.is_shutting_down()) return;
  say_left_workload(with_.to, with_.settings.identity);
  with_.host.end(exit_ok);
}

/// The guard continues without us.
void socket_guard_mode::bye(std::optional<int>) {
  leave_timer_.cancel();
}

void socket_guard_mode::close() {
  search_.reset();
  guard_mode::close();
}

}  // namespace tenure::runtime
