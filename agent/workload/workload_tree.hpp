#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/unique_fd.hpp"
#include "workload/child_list.hpp"
#include "workload/guard_protocol.hpp"
#include "workload/worker_page.hpp"

namespace tenure::workload {

/// Everything that runs because the workload was started: its first process (the leader), and
/// whatever came out of it, in whichever process group or session it now is.
///
/// Because the guard is a subreaper, each of them is a descendant of the guard, and one whose
/// parent ends becomes its child. Signals go only to direct children and to process groups that
/// one of them is in: those ids cannot be anybody else's before we reap them. What is deeper
/// moves up, to be reached next, unless what is above it hangs in the kernel.
class workload_tree {
 public:
  /// Prepares the command, which is to inherit `page`. False if /proc does not show our children.
  [[nodiscard]] bool prepare(const std::vector<std::string>& command, bool keeps_hup_ignored,
                             worker_page& page);

  /// Forks, and executes the command with this block of "KEY=VALUE\0" added to the environment.
  /// Returns 0 or an errno value. Whether the program was executed shows in `exec_pipe`.
  /// Allocates nothing. Precondition: empty.
  [[nodiscard]] int start(std::string_view environment);

  /// Readable once the program was executed or could not be; -1: nothing is awaited.
  [[nodiscard]] int exec_pipe() const { return exec_pipe_.get(); }

  /// What `exec_pipe` says: 0 if the program runs, else an errno value. Nothing: not known yet.
  [[nodiscard]] std::optional<int> exec_result();

  /// The leader was reaped.
  void leader_reaped(int status);

  /// True if no process is left but `agent` (0: there is none). Reads the kernel's own list; if
  /// that fails, something counts as left.
  [[nodiscard]] bool empty(pid_t agent);

  /// Sends to all of it that can be reached now. `agent` is left alone.
  void signal_all(int signo, pid_t agent);

  /// SIGKILL to all of it that can be reached now; `deep`: also to what is below a process that has
  /// not ended by that, which costs a look at every process there is.
  void kill_all(pid_t agent, bool deep);

  /// Sends to the leader's process group, if it still exists.
  void signal_group(int signo, pid_t agent);

  /// Nothing is left: takes the terminal back and forgets the leader.
  void finish();

  /// 0 once it was reaped.
  [[nodiscard]] pid_t leader() const { return leader_; }
  /// Of the last leader that ended, as waitpid gives it; nothing if there was none.
  [[nodiscard]] std::optional<int> last_status() const { return last_status_; }
  /// True while the terminal on stdin was handed to it.
  [[nodiscard]] bool has_terminal() const { return has_terminal_; }

 private:
  [[nodiscard]] int merge_environment(std::string_view added);

  std::vector<std::string> command_;
  std::vector<char*> argv_;
  std::vector<char*> own_;     ///< the guard's own environment
  std::vector<char*> merged_;  ///< room for `own_`, what the agent adds, and the null
  bool keeps_hup_ignored_ = false;
  int page_fd_ = -1;

  pid_t leader_ = 0;
  pid_t group_ = 0;
  std::optional<int> last_status_;
  os::unique_fd exec_pipe_;
  bool has_terminal_ = false;
  child_list children_;
};

}  // namespace tenure::workload
