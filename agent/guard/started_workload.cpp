#include "guard/started_workload.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "guard/guard_rules.hpp"
#include "process/exec_status.hpp"

namespace tenure::guard {

workload_news started_workload::start(core::time_point, std::string_view environment) {
  ended_by_itself_ = false;
  start_error_.reset();
  const int error = tree_.start(environment);
  exec_awaited_ = error == 0;
  if (exec_awaited_) return {};
  start_error_ = error;
  return {.failed = error};
}

workload_news started_workload::check_start() {
  if (!exec_awaited_) return {};
  const std::optional<int> error = tree_.exec_result();
  if (!error) return {};
  exec_awaited_ = false;
  if (*error == 0) return {.started = tree_.leader()};
  start_error_ = *error;
  return {};
}

workload_news started_workload::child_changed(const child_change& what, state is) {
  if (what.pid != tree_.leader()) return {};
  if (WIFSTOPPED(what.status)) {
    // Ctrl-Z: the shell waits for us, and we never stop, so nobody could continue the workload.
    if (tree_.has_terminal() && WSTOPSIG(what.status) == SIGTSTP) forward(SIGCONT);
    return {};
  }
  workload_news out = check_start();
  ended_by_itself_ = is == state::running;
  last_status_ = what.status;
  tree_.leader_reaped();
  out.leader_gone = !tree_.empty(agent_.pid());
  return out;
}

/// Death is observed, never assumed.
workload_news started_workload::look(core::time_point, state is) {
  if (is == state::empty || tree_.leader() != 0) return {};
  if (!tree_.empty(agent_.pid())) {
    // A process that has just lost its parent became our child: kill it now, not at the next timer.
    if (is == state::killing) tree_.signal_all(SIGKILL, agent_.pid());
    return {};
  }
  tree_.finish();
  if (start_error_) return {.failed = start_error_};
  return {.ended = last_status_};
}

void started_workload::terminate(core::time_point, int signo) {
  tree_.signal_all(signo, agent_.pid());
  // A stopped process would not act on the signal.
  tree_.signal_all(SIGCONT, agent_.pid());
}

void started_workload::kill(core::time_point, bool deep) {
  tree_.kill_all(agent_.pid(), deep);
}

void started_workload::forward(int signo) {
  tree_.signal_group(signo, agent_.pid());
}

/// The status as a shell reports it.
std::optional<int> started_workload::exit_status() const {
  if (start_error_) {
    return *start_error_ == ENOENT ? process::exit_command_not_found
                                   : process::exit_command_not_executable;
  }
  if (!last_status_) return std::nullopt;
  return WIFSIGNALED(*last_status_) ? 128 + WTERMSIG(*last_status_) : WEXITSTATUS(*last_status_);
}

}  // namespace tenure::guard
