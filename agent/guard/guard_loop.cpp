#include "guard/guard_loop.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "guard/guard_lines.hpp"

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;

/// One turn takes at most this many messages, so that a flood cannot delay the deadline.
constexpr int messages_a_turn = 16;
constexpr int deaths_a_turn = 256;
bool asks_to_end(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGQUIT;
}

}  // namespace

// --- a turn ----------------------------------------------------------------------------------

guard_wait guard_loop::prepare() {
  check_deadline();
  set_timer();
  return {.room_to_send = !channel_.flush(), .only_look = deaths_};
}

/// The deadline comes before every event: nothing is done for a workload whose lease is over.
void guard_loop::act() {
  check_deadline();
  take_signals();
  reap();
  learn(workload_.check_start());
  learn(workload_.look(host_.now(), core_.current()));
  check_survivors();
  take_messages();
  accept_agents();
}

void guard_loop::check_deadline() {
  const core::time_point now = host_.now();
  // Read before acting on it, so that we never acknowledge a deadline that is newer than the one we
  // acted on.
  deadline_seen_ = page_.kill_at.load();
  if (runs()) {
    const auto until = page_.deadlines_of(core_.version());
    const core::guard_actions due =
        until ? core_.armed(now, until->stop_at, until->kill_at) : core_.woke(now);
    note_own(due);
    carry_out(due);
  }
  log_.flush(now, channel_.is_open());
  if (now >= agent_.due() && may_start_agent()) static_cast<void>(start_agent());
  if (now >= agent_kill_at_ && agent_.alive()) {
    agent_kill_at_ = core::never;
    agent_.signal(SIGKILL);
  }
}

void guard_loop::set_timer() {
  host_.set_timer(std::min({core_.next_wake(), agent_kill_at_, workload_.look_at(), log_.due(),
                            may_start_agent() ? agent_.due() : core::never}));
  page_.armed.store(deadline_seen_);
}

// --- signals and children --------------------------------------------------------------------

void guard_loop::take_signals() {
  while (const auto signo = host_.next_signal()) on_signal(*signo);
}

void guard_loop::on_signal(int signo) {
  if (signo == SIGCHLD) {
    deaths_ = true;
  } else if (asks_to_end(signo) || (signo == SIGHUP && host_.terminal_is_gone())) {
    on_end_signal(signo);
  } else if (runs()) {
    workload_.forward(signo);
  }
}

/// An agent that we started decides how to end, because the lease is released only once the
/// workload is dead. An agent that connected over the socket is only notified, because our
/// container ends even if the agent hangs. A second Ctrl-C kills at once. SIGHUP asks a workload to
/// read its configuration again, unless it is about a terminal.
void guard_loop::on_end_signal(int signo) {
  // The kernel and a shell may both send SIGHUP for one terminal.
  const bool impatient = end_signal_ != 0 && (signo == SIGINT || signo == SIGQUIT);
  end_signal_ = signo;
  const core::time_point now = host_.now();
  if (impatient) {
    if (!runs() && agent_.alive()) agent_.signal(SIGKILL);
    carry_out(core_.stop_asked(now, now));
  }
  if (channel_.is_open()) {
    channel_.say(message::signalled{.signo = signo});
    if (!accepts_agents()) return;
  }
  ending_ = true;
  if (accepts_agents()) {
    if (!runs() && !exit_code_) exit_code_ = 0;
    if (runs()) say_told_to_end(log_, signo, stop_signal(), rules_.drain);
    return stop_by_ourselves(rules_.drain);
  }
  agent_.never_again();
  if (agent_.alive()) {
    agent_.signal(SIGTERM);
    agent_kill_at_ = std::min(agent_kill_at_, now + agent_bye_grace);
  }
  stop_by_ourselves(rules_.after_exit_grace);
}

void guard_loop::reap() {
  if (!std::exchange(deaths_, false)) return;
  for (int count = 0; count < deaths_a_turn; ++count) {
    const auto child = host_.next_child();
    if (!child) return;
    if (child->pid != agent_.pid()) {
      learn(workload_.child_changed(*child, core_.current()));
    } else if (!WIFSTOPPED(child->status)) {
      on_agent_reaped(child->status);
    }
  }
  deaths_ = true;
}

// --- the workload ----------------------------------------------------------------------------

void guard_loop::learn(const workload_news& what) {
  const core::time_point now = host_.now();
  // The agent has started nothing without a lease, and hears nothing of its end.
  if (what.started && runs_under_a_lease()) {
    channel_.say(message::started{.version = core::number(core_.version()), .pid = *what.started});
  }
  if (what.leader_gone) carry_out(core_.leader_gone(now, now + rules_.after_exit_grace));
  if (what.runs_astray) stop_what_is_astray();
  if (what.failed) report_start_failure(*what.failed);
  if (what.ended) report_end(*what.ended);
}

void guard_loop::report_start_failure(int error) {
  core_.emptied();
  ending_ = ending_ || accepts_agents();
  channel_.say(message::start_failed{.version = core::number(core_.version()), .error = error});
}

void guard_loop::report_end(int status) {
  if (!runs_under_a_lease()) {
    core_.emptied();
    if (const auto next = std::exchange(start_after_end_, std::nullopt)) on(*next, {});
    return;
  }
  const message::exited end = end_with(status);
  ended_at_ = end.at;
  if (stopped_by_ourselves_) {
    log_.say_unless_told(host_.now(), log::log_level::info, ended_words(status));
  }
  core_.emptied();
  // The container ends with the workload, as it would without a guard.
  ending_ = ending_ || (accepts_agents() && workload_.ended_by_itself());
  channel_.say(end);
  if (!channel_.is_open()) show(worker_page_, {});
}

/// Stops a workload that belongs to no term.
void guard_loop::stop_what_is_astray() {
  const core::time_point now = host_.now();
  say_runs_without_lease(log_);
  carry_out(core_.armed(now, now + 1ns, now + rules_.after_exit_grace));
  carry_out(core_.start_asked(now, core::no_version));
  stop_by_ourselves(rules_.after_exit_grace);
}

void guard_loop::check_survivors() {
  const bool killing = core_.current() == core::guard::state::killing;
  if (!survivors_.is_due(host_.now(), killing)) return;
  const process::survivors found = workload_.living();
  // Dead meanwhile, or invisible for a moment.
  if (found.left == 0) return;
  survivors_.told();
  tell(found);
}

/// The agent logs it and decides about the lease; without an agent, the guard logs it.
void guard_loop::tell(const process::survivors& what) {
  if (!channel_.is_open()) return say_survivors(log_, what);
  channel_.say(message::survives{.version = core::number(core_.version()),
                                 .left = what.left,
                                 .stuck = what.stuck,
                                 .pid = what.pid,
                                 .state = static_cast<unsigned char>(what.state),
                                 .name = what.name,
                                 .where = what.where});
}

void guard_loop::start_workload(std::string_view environment) {
  asked_signal_ = 0;
  told_at_.reset();
  killed_at_.reset();
  stopped_by_ourselves_ = false;
  learn(workload_.start(host_.now(), environment));
}

/// In the order of the fields of `guard_actions`.
void guard_loop::carry_out(const core::guard_actions& todo) {
  if (!todo.kill && !todo.terminate) return;
  note(todo);
  if (todo.kill) workload_.kill(host_.now(), survivors_.may_look_deep(host_.now()));
  if (todo.terminate) {
    // Without an agent, the guard updates the workload's page.
    if (!channel_.is_open()) drain(worker_page_);
    workload_.terminate(host_.now(), stop_signal());
  }
}

void guard_loop::stop_by_ourselves(core::duration grace) {
  const core::time_point now = host_.now();
  carry_out(core_.stop_asked(now, now + grace));
}

/// A signal that the user typed (SIGINT, SIGQUIT) takes precedence over the configured one.
int guard_loop::stop_signal() const {
  if (end_signal_ == SIGINT || end_signal_ == SIGQUIT) return end_signal_;
  return asked_signal_ > 0 && asked_signal_ < NSIG ? asked_signal_ : rules_.stop_signal;
}

/// Notes the times, for the report of the workload's end.
void guard_loop::note(const core::guard_actions& todo) {
  const core::time_point now = host_.now();
  if (todo.terminate && !told_at_) told_at_ = now;
  if (todo.kill && !killed_at_) killed_at_ = now;
}

/// A deadline has passed. A healthy agent logs that; otherwise we do.
void guard_loop::note_own(const core::guard_actions& todo) {
  if (core_.version() == core::no_version) return;
  const core::time_point now = host_.now();
  const bool kills = todo.kill && !killed_at_;
  if (todo.terminate && !todo.kill) {
    stopped_by_ourselves_ = true;
    log_.say_unless_told(now, log::log_level::warn,
                         stopped_words(workload_.first(), stop_signal(), core_.next_wake() - now));
  } else if (kills && (stopped_by_ourselves_ || !channel_.is_open() || todo.terminate)) {
    stopped_by_ourselves_ = true;
    log_.say_unless_told(now, log::log_level::warn, killed_words(told_at_.has_value()));
  }
}

message::exited guard_loop::end_with(int status) const {
  const bool had_to_be_killed = told_at_ && killed_at_ && *killed_at_ > *told_at_;
  return {.version = core::number(core_.version()),
          .status = status,
          .had_to_be_killed = had_to_be_killed ? 1U : 0U,
          .at = host_.now().time_since_epoch().count()};
}

// --- what the agent says ---------------------------------------------------------------------

void guard_loop::take_messages() {
  for (int count = 0; count < messages_a_turn && channel_.is_open(); ++count) {
    std::optional<packet> what;
    const auto got = channel_.receive(what);
    if (got == guard_channel::reading::nothing) return;
    if (got == guard_channel::reading::hung_up) return on_hang_up();
    if (what) on_packet(*what);
  }
}

void guard_loop::on_packet(const packet& what) {
  if (const auto hello = as<message::hello>(what)) {
    greet(*hello);
  } else if (const auto start = as<message::start>(what)) {
    on(*start, what.tail);
  } else if (const auto stop = as<message::stop>(what)) {
    on(*stop);
  } else if (const auto bye = as<message::bye>(what)) {
    on(*bye);
  } else if (const auto as_agent = as<message::log_as>(what)) {
    log_.speak_as(as_agent->form, what.tail);
  }
  // `armed` only has to wake us: every turn reads the page.
}

void guard_loop::greet(const message::hello& from) {
  message::guard_hello answer{.version = core::number(core_.version()),
                              .session = session_,
                              .pid = workload_.first(),
                              .clock = host_.now().time_since_epoch().count()};
  if (runs_under_a_lease()) {
    const bool running = core_.current() == core::guard::state::running;
    answer.running = running ? message::guard_hello::runs : message::guard_hello::is_stopping;
  } else if (const auto status = workload_.ended_by_itself();
             status && !runs() && !accepts_agents()) {
    // We end with the workload, and so does the agent that releases the lease.
    answer.running = message::guard_hello::has_ended;
    answer.status = *status;
    answer.ended_at = ended_at_;
  }
  // It contains everything that the previous agent was not told.
  channel_.forget_news();
  channel_.say(answer);
  if (session_ == session_id{} || from.is_bound != 0) session_ = from.session;
  survivors_.tell_again(host_.now());
}

void guard_loop::on(const message::start& what, std::string_view environment) {
  if (runs() && !runs_under_a_lease()) {
    start_after_end_ = what;
    return;
  }
  const core::version version{what.version};
  const auto until = page_.deadlines_of(version);
  channel_.flush();
  // An agent that has not yet been told of the end of the last workload would take it for the end
  // of the new one.
  const bool untold = channel_.waits<message::exited>() || channel_.waits<message::start_failed>();
  if (!until || runs() || ending_ || untold) {
    return channel_.say(message::refused{.version = what.version});
  }
  const core::time_point now = host_.now();
  carry_out(core_.armed(now, until->stop_at, until->kill_at));
  const core::guard_actions todo = core_.start_asked(now, version);
  if (todo.refused) channel_.say(message::refused{.version = what.version});
  if (todo.start) start_workload(environment);
}

/// Cancels a start that waits for the end of a workload without a lease.
void guard_loop::refuse_waiting_start() {
  const auto waiting = std::exchange(start_after_end_, std::nullopt);
  if (waiting) channel_.say(message::refused{.version = waiting->version});
}

void guard_loop::on(const message::stop& what) {
  refuse_waiting_start();
  log_.agent_knows();
  stopped_by_ourselves_ = false;
  asked_signal_ = what.signal;
  carry_out(core_.stop_asked(host_.now(), core::time_point(core::duration(what.kill_by))));
}

void guard_loop::on(const message::bye& what) {
  ending_ = true;
  agent_kill_at_ = host_.now() + agent_bye_grace;
  if (what.exit_code != message::bye::as_the_workload) exit_code_ = what.exit_code & 0xff;
}

// --- agents come and go ----------------------------------------------------------------------

/// Clears a dead agent's deadlines for the next agent. A running workload keeps them until the next
/// agent moves them.
void guard_loop::forget_deadlines() {
  if (runs()) return;
  page_.disarm();
  show(worker_page_, {});
}

/// One agent at a time. A killed agent has hung up before the next can connect.
void guard_loop::accept_agents() {
  if (!accepts_agents()) return;
  int connections = most_connections_a_turn;
  while (acceptor_->next(connections)) {
    if (channel_.is_open() && channel_.hung_up()) on_hang_up();
    if (channel_.is_open()) {
      acceptor_->turn_away();
    } else if (acceptor_->welcome()) {
      forget_deadlines();
      channel_.begin();
    }
  }
}

bool guard_loop::start_agent() {
  channel_.close();
  forget_deadlines();
  const char* const wrong = agent_.start(host_.now());
  if (wrong != nullptr) say_no_agent(log_, wrong);
  return wrong == nullptr;
}

/// The agent is dead or disconnected. The workload keeps the rest of its lease; until then another
/// agent may connect and renew it.
void guard_loop::on_hang_up() {
  const core::time_point now = host_.now();
  if (core_.current() == core::guard::state::running && accepts_agents()) {
    say_agent_gone(log_, core_.next_wake() - now);
  }
  start_after_end_.reset();
  survivors_.tell_again(now);
  channel_.close();
}

void guard_loop::on_agent_reaped(int status) {
  hear_last_bye();
  const core::time_point now = host_.now();
  const pid_t agent = agent_.pid();
  agent_.ended();
  agent_kill_at_ = core::never;
  channel_.close();
  survivors_.tell_again(now);
  if (!ending_ && WIFEXITED(status)) {
    ending_ = true;
    exit_code_ = WEXITSTATUS(status);
  }
  ending_ = ending_ || end_signal_ != 0;
  if (ending_) return stop_by_ourselves(rules_.after_exit_grace);
  const bool goes_on = core_.current() == core::guard::state::running;
  say_agent_killed(log_, agent, WTERMSIG(status),
                   goes_on ? std::optional(core_.next_wake() - now) : std::nullopt);
  agent_.crashed(now);
}

/// The agent may have sent bye and ended before we read it, after other messages that no longer
/// matter.
void guard_loop::hear_last_bye() {
  if (!channel_.is_open()) return;
  std::optional<packet> what;
  while (channel_.receive(what) == guard_channel::reading::packet) {
    const auto bye = what ? as<message::bye>(*what) : std::nullopt;
    if (bye) on(*bye);
  }
}

// --- the end ---------------------------------------------------------------------------------

/// An order to start that we never answer leaves the agent in doubt about what runs, and then it
/// keeps the lease until that runs out.
void guard_loop::say_last() {
  channel_.stop_receiving();
  hear_last();
  channel_.flush();
  log_.flush(host_.now(), false);
}

/// Nothing is started any more: a start is refused.
void guard_loop::hear_last() {
  std::optional<packet> what;
  while (channel_.is_open() && channel_.receive(what) == guard_channel::reading::packet) {
    if (what) on_packet(*what);
  }
}

int guard_loop::exit_status() const {
  if (exit_code_) return *exit_code_;
  if (const auto status = workload_.exit_status()) return *status;
  return end_signal_ != 0 ? 128 + end_signal_ : 0;
}

}  // namespace tenure::guard
