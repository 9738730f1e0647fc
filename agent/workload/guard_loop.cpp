#include "workload/guard_loop.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "os/boot_time.hpp"
#include "workload/guard_lines.hpp"

namespace tenure::workload {
namespace {

/// One turn takes no more than this of each, so that no flood delays the deadline.
constexpr int messages_a_turn = 16;
constexpr int deaths_a_turn = 256;

/// As a shell reports it.
int exit_status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

/// Time first, whatever woke us: nothing is done for a workload whose lease is over.
void guard_loop::turn() {
  check_deadline();
  set_timer();
  wait();
  check_deadline();
  take_signals();
  reap();
  check_exec();
  foreign_ ? check_foreign() : check_empty();
  check_survivors();
  take_messages();
  if (has_door()) let_agents_in();
}

void guard_loop::check_deadline() {
  const core::time_point now = os::boot_now();
  // Read before it is acted upon: what is acknowledged later is never newer than what was done.
  deadline_seen_ = page_->kill_at.load();
  if (runs()) {
    const auto until = page_->deadlines_of(core_.term());
    const core::guard_actions due =
        until ? core_.armed(now, until->stop_at, until->kill_at) : core_.woke(now);
    note_own(due);
    carry_out(due);
  }
  log_.flush(now, channel_.is_open());
  if (now >= agent_.due() && may_start_agent()) static_cast<void>(start_agent());
  if (now >= agent_kill_at_ && agent_.alive()) {
    agent_kill_at_ = core::never;
    ::kill(agent_.pid(), SIGKILL);
  }
}

void guard_loop::set_timer() {
  wakes_.set_timer(std::min({core_.next_wake(), agent_kill_at_, look_at_, log_.due(),
                             may_start_agent() ? agent_.due() : core::never}));
  page_->armed.store(deadline_seen_);
}

void guard_loop::wait() {
  const short for_socket = channel_.flush() ? POLLIN : POLLIN | POLLOUT;
  const pollfd others[] = {
      {.fd = channel_.fd(), .events = for_socket, .revents = 0},
      {.fd = foreign_ ? foreign_->deaths() : tree_.exec_pipe(), .events = POLLIN, .revents = 0},
      {.fd = door_.fd(), .events = POLLIN, .revents = 0}};
  wakes_.wait(others, !deaths_);
}

void guard_loop::take_signals() {
  while (const auto signo = wakes_.next_signal()) on_signal(*signo);
}

void guard_loop::on_signal(int signo) {
  if (signo == SIGCHLD) {
    deaths_ = true;
  } else if (asks_to_end(signo)) {
    on_end_signal(signo);
  } else if (runs() && !foreign_) {
    tree_.signal_group(signo, agent_.pid());
  }
}

/// An agent of ours decides how to end: the lease is given up only once the workload is dead. One
/// that has come in by the door is told, but need not be well: that container is to end in any
/// case. A second Ctrl-C does not wait for anybody.
void guard_loop::on_end_signal(int signo) {
  const bool impatient = end_signal_ != 0 && signo != SIGTERM;
  end_signal_ = signo;
  const core::time_point now = os::boot_now();
  if (impatient) {
    if (!runs() && agent_.alive()) ::kill(agent_.pid(), SIGKILL);
    carry_out(core_.stop_asked(now, now));
  }
  if (channel_.is_open()) {
    channel_.say(message::signalled{.signo = signo});
    if (!has_door()) return;
  }
  ending_ = true;
  if (has_door()) {
    if (!runs() && !exit_code_) exit_code_ = 0;
    if (runs()) say_told_to_end(log_, signo, stop_signal(), options_.drain);
    return stop_by_ourselves(options_.drain);
  }
  agent_.never_again();
  if (agent_.alive()) {
    ::kill(agent_.pid(), SIGTERM);
    agent_kill_at_ = std::min(agent_kill_at_, now + agent_bye_grace);
  }
  stop_by_ourselves(options_.after_exit_grace);
}

void guard_loop::reap() {
  if (!std::exchange(deaths_, false)) return;
  for (int count = 0; count < deaths_a_turn; ++count) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return;
    if (WIFSTOPPED(status)) {
      // Ctrl-Z. The shell waits for us, who never stop, so nobody could continue the workload.
      const bool from_terminal = tree_.has_terminal() && WSTOPSIG(status) == SIGTSTP;
      if (pid == tree_.leader() && from_terminal) tree_.signal_group(SIGCONT, agent_.pid());
    } else if (pid == agent_.pid()) {
      on_agent_reaped(status);
    } else if (pid == tree_.leader()) {
      on_leader_reaped(status);
    }
  }
  deaths_ = true;
}

void guard_loop::on_leader_reaped(int status) {
  check_exec();
  ended_by_itself_ = core_.current() == core::guard::state::running;
  tree_.leader_reaped(status);
  const core::time_point now = os::boot_now();
  if (!tree_.empty(agent_.pid())) {
    carry_out(core_.leader_gone(now, now + options_.after_exit_grace));
  }
}

void guard_loop::check_exec() {
  if (!exec_awaited_) return;
  const std::optional<int> error = tree_.exec_result();
  if (!error) return;
  exec_awaited_ = false;
  if (*error != 0) {
    start_error_ = *error;
  } else {
    channel_.say(message::started{.term = core::number(core_.term()), .pid = tree_.leader()});
  }
}

/// Death is observed, never assumed.
void guard_loop::check_empty() {
  if (!runs() || tree_.leader() != 0) return;
  if (!tree_.empty(agent_.pid())) {
    // What has just lost its parent became a child of ours: it need not wait for the timer.
    if (core_.current() == core::guard::state::killing) tree_.signal_all(SIGKILL, agent_.pid());
    return;
  }
  tree_.finish();
  if (start_error_) return report_start_failure(*start_error_);
  report_end(*tree_.last_status());
}

void guard_loop::report_start_failure(int error) {
  core_.emptied();
  ending_ = ending_ || has_door();
  channel_.say(message::start_failed{.term = core::number(core_.term()), .error = error});
}

void guard_loop::report_end(int status) {
  const message::exited end = end_with(status);
  ended_at_ = end.at;
  if (stopped_by_ourselves_) {
    log_.say_unless_told(os::boot_now(), core::log_level::info, ended_words(status));
  }
  core_.emptied();
  // Its container ends with it, as if we were not there.
  ending_ = ending_ || (has_door() && ended_by_itself_);
  channel_.say(end);
  if (!channel_.is_open()) worker_page_.show({});
}

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
    refuse_waiting_start();
    log_.agent_knows();
    stopped_by_ourselves_ = false;
    asked_signal_ = stop->signal;
    carry_out(core_.stop_asked(os::boot_now(), core::time_point(core::duration(stop->kill_by))));
  } else if (const auto bye = as<message::bye>(what)) {
    on(*bye);
  } else if (const auto as_agent = as<message::log_as>(what)) {
    log_.speak_as(as_agent->form, what.tail);
  }
  // `armed` has done its work by waking us: every turn looks at the page.
}

void guard_loop::greet(const message::hello& from) {
  message::guard_hello answer{.term = core::number(core_.term()),
                              .session = session_,
                              .pid = tree_.leader(),
                              .clock = os::boot_now().time_since_epoch().count()};
  if (runs_under_a_lease()) {
    const bool running = core_.current() == core::guard::state::running;
    answer.running = running ? message::guard_hello::runs : message::guard_hello::is_stopping;
  } else if (ended_for_good()) {
    answer.running = message::guard_hello::has_ended;
    answer.status = *tree_.last_status();
    answer.ended_at = ended_at_;
  }
  channel_.say(answer);
  if (session_ == session_id{} || from.is_bound != 0) session_ = from.session;
  tell_survivors_again();
}

void guard_loop::on(const message::start& what, std::string_view environment) {
  if (runs() && !runs_under_a_lease()) {
    start_after_end_ = what;
    return;
  }
  const core::version term{what.term};
  const auto until = page_->deadlines_of(term);
  channel_.flush();
  // An agent that has not been told yet how the last one ended would take the one for the other.
  const bool untold = channel_.waits<message::exited>() || channel_.waits<message::start_failed>();
  if (!until || runs() || ending_ || untold) {
    return channel_.say(message::refused{.term = what.term});
  }
  const core::time_point now = os::boot_now();
  carry_out(core_.armed(now, until->stop_at, until->kill_at));
  const core::guard_actions todo = core_.start_asked(now, term);
  if (todo.refused) channel_.say(message::refused{.term = what.term});
  if (todo.start) start_workload(environment);
}

void guard_loop::start_workload(std::string_view environment) {
  asked_signal_ = 0;
  ended_by_itself_ = false;
  told_at_.reset();
  killed_at_.reset();
  stopped_by_ourselves_ = false;
  start_error_.reset();
  if (foreign_) return start_foreign();
  const int error = tree_.start(environment);
  exec_awaited_ = error == 0;
  if (exec_awaited_) return;
  start_error_ = error;
  report_start_failure(error);
}

void guard_loop::on(const message::bye& what) {
  ending_ = true;
  agent_kill_at_ = os::boot_now() + agent_bye_grace;
  if (what.exit_code != message::bye::as_the_workload) exit_code_ = what.exit_code & 0xff;
}

/// For what is said of the end.
void guard_loop::note(const core::guard_actions& todo) {
  const core::time_point now = os::boot_now();
  if (todo.terminate && !told_at_) told_at_ = now;
  if (todo.kill && !killed_at_) killed_at_ = now;
}

/// A deadline has passed. The agent says so, if it is well; else there is nobody but us.
void guard_loop::note_own(const core::guard_actions& todo) {
  if (core_.term() == core::no_version) return;
  const core::time_point now = os::boot_now();
  const bool kills = todo.kill && !killed_at_;
  if (todo.terminate && !todo.kill) {
    stopped_by_ourselves_ = true;
    log_.say_unless_told(now, core::log_level::warn,
                         stopped_words(tree_.leader(), stop_signal(), core_.next_wake() - now));
  } else if (kills && (stopped_by_ourselves_ || !channel_.is_open() || todo.terminate)) {
    stopped_by_ourselves_ = true;
    log_.say_unless_told(now, core::log_level::warn, killed_words(told_at_.has_value()));
  }
}

message::exited guard_loop::end_with(int status) const {
  const bool had_to_be_killed = told_at_ && killed_at_ && *killed_at_ > *told_at_;
  return {.term = core::number(core_.term()),
          .status = status,
          .had_to_be_killed = had_to_be_killed ? 1U : 0U,
          .at = os::boot_now().time_since_epoch().count()};
}

/// What is due is carried out from top to bottom, as `guard_actions` says.
void guard_loop::carry_out(const core::guard_actions& todo) {
  note(todo);
  const auto send = [this](int signo) {
    if (foreign_) {
      foreign_->signal_all(signo);
    } else {
      tree_.signal_all(signo, agent_.pid());
    }
  };
  if (todo.kill && foreign_) {
    warn_of(foreign_->kill_all());
  } else if (todo.kill) {
    tree_.kill_all(agent_.pid(), may_look_deep());
  }
  if (foreign_ && (todo.kill || todo.terminate)) look_at_ = os::boot_now();
  if (todo.terminate) {
    // Without an agent nobody else tells the workload's own page.
    if (!channel_.is_open()) worker_page_.drain();
    send(stop_signal());
    // A stopped process would sleep through it.
    send(SIGCONT);
  }
}

/// What the user typed goes before what is configured.
int guard_loop::stop_signal() const {
  if (end_signal_ == SIGINT || end_signal_ == SIGQUIT) return end_signal_;
  return asked_signal_ > 0 && asked_signal_ < NSIG ? asked_signal_ : options_.stop_signal;
}

void guard_loop::stop_by_ourselves(core::duration grace) {
  const core::time_point now = os::boot_now();
  carry_out(core_.stop_asked(now, now + grace));
}

/// Of an agent that is dead, for the next one. What runs keeps its own, until that one moves them.
void guard_loop::forget_deadlines() {
  if (runs()) return;
  page_->disarm();
  worker_page_.show({});
}

/// One at a time. An agent that was killed has hung up before the next can come.
void guard_loop::let_agents_in() {
  int knocks = most_knocks_a_turn;
  while (os::unique_fd agent = door_.let_in(knocks)) {
    if (channel_.is_open() && channel_.hung_up()) on_hang_up();
    if (channel_.is_open()) {
      guard_door::turn_away_for_another(std::move(agent));
    } else if (guard_door::welcome(agent, page_.fd(), worker_page_.fd())) {
      forget_deadlines();
      channel_.attach(std::move(agent));
    }
  }
}

bool guard_loop::start_agent() {
  const core::time_point now = os::boot_now();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    agent_.crashed(now);
    say_no_agent(log_, "cannot make a socket pair for the agent; check the limits on open files");
    return false;
  }
  channel_.attach(os::unique_fd(ends[0]));
  const os::unique_fd theirs(ends[1]);
  forget_deadlines();
  if (agent_.start(now, theirs, page_.fd(), worker_page_.fd())) return true;
  channel_.close();
  say_no_agent(log_, "cannot fork the agent; check the limits on processes and memory");
  return false;
}

/// The agent is dead, or as good as dead: it can neither hear us nor tell us to stop. The workload
/// has what is left of its lease; in that time another agent may come and renew it.
void guard_loop::on_hang_up() {
  if (core_.current() == core::guard::state::running && has_door()) {
    say_agent_gone(log_, core_.next_wake() - os::boot_now());
  }
  start_after_end_.reset();
  tell_survivors_again();
  channel_.close();
}

void guard_loop::on_agent_reaped(int status) {
  hear_last_bye();
  const pid_t agent = agent_.pid();
  agent_.ended();
  agent_kill_at_ = core::never;
  channel_.close();
  tell_survivors_again();
  if (!ending_ && WIFEXITED(status)) {
    ending_ = true;
    exit_code_ = WEXITSTATUS(status);
  }
  ending_ = ending_ || end_signal_ != 0;
  if (ending_) return stop_by_ourselves(options_.after_exit_grace);
  const core::time_point now = os::boot_now();
  const bool goes_on = core_.current() == core::guard::state::running;
  say_agent_killed(log_, agent, WTERMSIG(status),
                   goes_on ? std::optional(core_.next_wake() - now) : std::nullopt);
  agent_.crashed(now);
}

/// It may have said bye and ended before we read that, behind much that no longer matters.
void guard_loop::hear_last_bye() {
  if (!channel_.is_open()) return;
  std::optional<packet> what;
  while (channel_.receive(what) == guard_channel::reading::packet) {
    const auto bye = what ? as<message::bye>(*what) : std::nullopt;
    if (bye) on(*bye);
  }
}

void guard_loop::say_last() {
  channel_.flush();
  log_.flush(os::boot_now(), false);
}

int guard_loop::exit_status() const {
  if (exit_code_) return *exit_code_;
  if (start_error_) {
    return *start_error_ == ENOENT ? exit_command_not_found : exit_command_not_executable;
  }
  if (const auto status = tree_.last_status()) return exit_status_of(*status);
  return end_signal_ != 0 ? 128 + end_signal_ : 0;
}

}  // namespace tenure::workload
