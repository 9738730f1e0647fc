#include <csignal>
#include <utility>

#include "os/error_text.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/target_of.hpp"
#include "runtime/told_workload.hpp"

/// The part of the agent that has to do with its guard and the workload.
namespace tenure::runtime {
namespace {

/// The election that a guard belongs to; there is no other.
constexpr core::election_index guarded{0};

/// A guard that runs is there at once. One that is busy with the end of the agent before gets this.
constexpr core::duration guard_may_be_busy = std::chrono::seconds(2);

/// When a pod ends, all of its containers are told so at about the same time.
constexpr core::duration others_are_told_within = std::chrono::seconds(1);

}  // namespace

// --- finding it ------------------------------------------------------------------------------

bool agent_loop::open_guard() {
  if (has_door()) {
    dial_until_ = loop_.now() + guard_may_be_busy;
    dialer_ = std::make_unique<workload::guard_dialer>(
        io_.get_executor(), options_.settings.guard_dir, options_.settings.guard_uid,
        [this](std::variant<workload::guard_fds, workload::no_guard> what) {
          if (!ended_) std::visit([this](auto& one) { dialed(std::move(one)); }, what);
        });
    dialer_->start();
    return true;
  }
  if (has_hooks()) {
    open_hooks();
    return true;
  }
  if (!options_.has_guard) return true;
  std::optional<workload::target> foreign;
  if (is_foreign()) foreign = target_of(options_.settings.target);
  const bool told = is_foreign() && options_.settings.hooks.gain();
  auto on_event = [this, told](const workload::guard_event& e) {
    told ? static_cast<told_workload&>(*guard_).from_guard(e) : from_guard(e);
  };
  auto link = workload::guard_link::from_environment(
      loop_, loop_.executor(), {.id = options_.session}, std::move(on_event), foreign);
  if (!link) {
    say_guard_unreachable(log_, link.error());
    return false;
  }
  tell_guard_the_log(**link);
  guard_ = std::move(*link);
  if (told) open_told_workload();
  return true;
}

void agent_loop::dialed(workload::guard_fds with) {
  auto link = workload::guard_link::over(loop_, loop_.executor(), std::move(with),
                                         {.id = options_.session, .is_bound = store_ != nullptr},
                                         [this](const workload::guard_event& e) { from_guard(e); });
  const auto before = std::move(guard_);
  if (link) {
    tell_guard_the_log(**link);
    guard_ = std::move(*link);
  }
  // A container is started anew only when nothing of it is left.
  if (before) before->presume_dead();
  if (!link) on(workload::guard_unusable{.why = link.error()});
}

/// One in another container may be replaced by one that can be used.
void agent_loop::on(const workload::guard_unusable& what) {
  if (!has_door()) {
    say_guard_unusable(log_, what.why);
    return end(exit_failed);
  }
  guard_.reset();
  dialed({.why = what.why});
  dialer_->start_later();
}

void agent_loop::dialed(const workload::no_guard& what) {
  if (std::exchange(no_guard_, what.why) != what.why) {
    say_no_guard(log_, options_.settings.guard_dir, what.why);
  }
  if (!store_ && (what.absent || loop_.now() >= dial_until_)) open_store();
}

/// Only now is it known which session to be in.
void agent_loop::on(const workload::guard_ready& what) {
  no_guard_.clear();
  guard_here_ = true;
  instruments_.guard_found();
  if (store_) return guard_returned(what);
  session_was_used_ = !what.session.empty();
  if (session_was_used_) options_.session = what.session;
  last_term_ = what.last_term;
  told_api_port_ = what.api_port;
  found_ = what.found;
  if (found_) {
    workload_ran_ = true;
    if (found_->ended) {
      say(guarded, *found_->ended);
    } else {
      say_workload_found(log_, speaker_of(guarded), *found_);
    }
  }
  open_store();
}

core::event::workload_found agent_loop::event_of(const workload::found_workload& what) {
  return {.term = what.term,
          .stop_at = what.stop_at,
          .kill_at = what.kill_at,
          .stopping = what.stopping};
}

void agent_loop::guard_returned(const workload::guard_ready& what) {
  say_guard_found(log_, options_.settings.guard_dir);
  workload_is_killed_ = false;
  if (what.found) {
    workload::found_workload found = *what.found;
    if (what.session != options_.session) {
      // We could not be granted its term.
      found.stopping = true;
      guard_->stop(loop_.now() + options_.settings.timing.drain, stop_signal_);
    }
    say_workload_found(log_, speaker_of(guarded), found);
    feed(guarded, event_of(found));
  }
  feed(guarded, core::event::guard_back{});
}

/// A workload of our own is started by the transition, and cannot run yet.
void agent_loop::count_adoption(core::election_index which, const core::command::transition& what) {
  const bool runs = session_.at(which).view().workload_running;
  if (what.to == core::phase::active && runs) instruments_.workload_adopted();
}

// --- what it says ----------------------------------------------------------------------------

void agent_loop::from_guard(const workload::guard_event& what) {
  if (ended_) return;
  std::visit([this](const auto& one) { on(one); }, what);
}

void agent_loop::on(const workload::workload_started& what) {
  const auto pid = static_cast<std::uint64_t>(what.pid);
  if (is_foreign()) {
    say_workload_may_run(log_, speaker_of(guarded), what.term, pid);
  } else {
    say_workload_started(log_, speaker_of(guarded), what.term, pid);
  }
  workload_runs(what.term);
}

/// Started by a guard, or told by hooks.
void agent_loop::workload_runs(core::version term) {
  workload_ran_ = true;
  feed(guarded, core::event::workload_started{term});
  const bool active = session_.at(guarded).view().phase == core::phase::active;
  if (health_ && active) health_->workload_started();
}

void agent_loop::on(const workload::start_refused&) {
  say_start_refused(log_, speaker_of(guarded));
  feed(guarded, core::event::workload_exited{});
}

void agent_loop::on(const workload::start_failed& what) {
  start_failed_ = true;
  say_start_failed(log_, speaker_of(guarded), !is_foreign(), os::error_text(what.error));
  feed(guarded, core::event::workload_exited{});
}

/// What runs nothing of its own any more is no reason to keep the others waiting for ever.
void agent_loop::on(const workload::workload_survives& what) {
  say_survivors(log_, speaker_of(guarded), what.what);
  if (what.what.all_stuck()) feed(guarded, core::event::workload_stuck{});
}

void agent_loop::on(const workload::workload_exited& what) {
  say(guarded, what);
  feed(guarded, core::event::workload_exited{});
  if (has_door() && guard_ && guard_->gone()) dialer_->start();
  if (leaving_ != leave::no) shut_down(SIGTERM);
}

/// What was found, and is not ours yet, can only be kept from a release by ending here.
void agent_loop::on(const workload::workload_doubtful& what) {
  say_doubtful(log_, speaker_of(guarded), what.what);
  if (session_.size() == 0 || session_.at(guarded).adopting()) return end(exit_failed);
  let_lease_run_out();
}

void agent_loop::on(const workload::signalled& what) {
  if (!has_door()) return shut_down(what.signo);
  say_guard_ends(log_, options_.settings.guard_dir, what.signo);
  guard_here_ = false;
  feed(guarded, core::event::guard_away{});
  if (leaving_ != leave::no) shut_down(SIGTERM);
}

void agent_loop::on(const workload::guard_gone& what) {
  instruments_.guard_is(false);
  if (!has_door()) return without_guard(false);
  if (std::exchange(guard_here_, false)) say_guard_gone(log_, options_.settings.guard_dir);
  lose_guard(what.workload_in_sight);
  // A workload in sight has to be ended first, by the link that we have.
  if (!guard_->may_run() || !what.workload_in_sight) dialer_->start();
}

void agent_loop::on(const workload::guard_hangs& what) {
  instruments_.guard_hung();
  guard_->end_orphans();
  if (!has_door()) {
    without_guard(true);
  } else {
    if (!serve()) return end(exit_failed);
    guard_here_ = false;
    say_guard_hangs(log_, options_.settings.guard_dir);
    lose_guard(what.workload_in_sight);
  }
  // It may start when it goes on, but not once its deadline has passed: nothing may move that.
  if (what.start_unanswered) feed(guarded, core::event::workload_stuck{});
}

void agent_loop::on(const workload::guard_recovers&) {
  if (!has_door()) return;
  instruments_.guard_is(true);
  guard_here_ = true;
  say_guard_answers(log_, options_.settings.guard_dir);
  feed(guarded, core::event::guard_back{});
}

/// Our own guard: without it there is no point in going on.
void agent_loop::without_guard(bool hangs) {
  say_guard_lost(log_, speaker_of(guarded), hangs, guard_->may_run());
  workload_is_killed_ = true;
  snapshots_.guard_gone();
  shut_down(SIGKILL, core::loss_reason::guard_gone);
}

void agent_loop::lose_guard(bool workload_in_sight) {
  if (!workload_in_sight && guard_->may_run()) let_lease_run_out();
  if (session_.size() == 0) return;
  workload_is_killed_ = workload_in_sight;
  feed(guarded, core::event::guard_away{});
}

/// A workload whose end nobody can see keeps its lease from others until that runs out by itself.
void agent_loop::let_lease_run_out() {
  feed(guarded, core::event::workload_unseen{});
}

// --- what it is told -------------------------------------------------------------------------

void agent_loop::carry_out(core::election_index, const core::command::forget_grants& c) {
  if (guard_) guard_->forget_grants(c.before);
}

void agent_loop::carry_out(core::election_index, const core::command::arm& c) {
  guard_->arm(c.term, c.stop_at, c.kill_at);
}

void agent_loop::carry_out(core::election_index which, const core::command::start_workload& c) {
  workload_ran_ = false;
  stop_ordered_ = false;
  workload_is_killed_ = false;
  const bool has_port = service_ && service_->api_address();
  guard_->note_api_port(has_port ? service_->api_address()->port : std::uint16_t{0});
  guard_->start(c.term, workload_environment(which));
}

void agent_loop::carry_out(core::election_index which, const core::command::stop_workload& c) {
  say(which, c);
  guard_->stop(c.kill_by, stop_signal_);
}

/// Its lease, for whoever asks before each write. In a drain it is to finish what it has begun.
void agent_loop::show_to_workload() {
  const core::election& one = session_.at(guarded);
  if (one.adopting()) return;  // the last one's word stands until the store has spoken
  const core::election_view& view = one.view();
  const bool active = view.phase == core::phase::active;
  if (!one.holding() || (!active && view.phase != core::phase::draining)) return guard_->show({});
  guard_->show({.state = active ? TENURE_ACTIVE : TENURE_DRAINING,
                .version = view.lease->term,
                .stop_at = view.lease->stop_at});
}

std::vector<std::string> agent_loop::workload_environment(core::election_index which) const {
  const core::election_view& view = session_.at(which).view();
  std::vector<std::string> out = names_for_workload();
  out.insert(out.end(), {
                            "TENURE_VERSION=" + std::to_string(core::number(view.lease->term)),
                            "TENURE_SEQUENCER=" + view.sequencer,
                        });
  for (std::string& one :
       stores::lock_variables(options_.settings.store, view.sequencer, view.lease->term)) {
    out.push_back(std::move(one));
  }
  if (service_ && service_->api_address()) {
    out.push_back("TENURE_API=http://" + net::text(*service_->api_address()));
  } else if (service_ && !options_.settings.socket.empty()) {
    out.push_back("TENURE_API=unix:" + options_.settings.socket);
  }
  return out;
}

/// What it may be told before there is a term.
std::vector<std::string> agent_loop::names_for_workload() const {
  return {"TENURE_ELECTION=" + std::string(name_of(guarded)),
          "TENURE_IDENTITY=" + options_.settings.identity};
}

// --- leaving it to another agent -------------------------------------------------------------

/// A sidecar that is restarted or replaced costs no fail-over. But if the whole pod ends, so does
/// the guard, which is told at about the same time: then the lease is given up in order.
bool agent_loop::may_leave_workload() const {
  return has_door() && guard_here_ && guard_ && guard_->may_run() && session_.size() > 0 &&
         session_.at(guarded).view().phase == core::phase::active;
}

void agent_loop::begin_to_leave() {
  leaving_ = leave::unless_guard_ends;
  say_leaving_workload(log_, options_.settings.identity);
  leave_timer_.after(others_are_told_within, [this] {
    if (leaving_ == leave::unless_guard_ends) leaving_ = leave::with_next_renewal;
  });
}

/// The next agent has all of a lease to come in.
void agent_loop::leave_if_time() {
  if (leaving_ != leave::with_next_renewal || shutting_down_) return;
  say_left_workload(log_, options_.settings.identity);
  end(exit_ok);
}

}  // namespace tenure::runtime
