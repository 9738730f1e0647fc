#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "guard/process_tree.hpp"
#include "guard/worker_page.hpp"
#include "process/child_list.hpp"
#include "process/program_starter.hpp"
#include "process/side_process.hpp"

namespace tenure::guard {

/// The real processes that a guard has started.
///
/// The guard is a subreaper, so each of them stays a descendant of the guard, and a process whose
/// parent ends becomes the guard's child. Signals go only to direct children and to process groups
/// with such a child: those ids cannot be reused before we reap them. Deeper processes become
/// children in turn and are reached then, unless a process above them hangs in the kernel.
///
/// One more child does not belong to the workload, beside the agent: the writer of the log.
class workload_tree final : public process_tree {
 public:
  explicit workload_tree(const process::side_process& writer) : writer_(writer) {}

  /// Prepares the command, which inherits `page`. False if /proc does not show our children.
  [[nodiscard]] bool prepare(const std::vector<std::string>& command, bool keeps_hup_ignored,
                             worker_page& page);

  [[nodiscard]] int start(std::string_view environment) override;

  /// Readable once the program was executed or has failed to; -1: no start is pending.
  [[nodiscard]] int exec_pipe() const { return exec_pipe_.get(); }

  [[nodiscard]] std::optional<int> exec_result() override;
  void leader_reaped() override { leader_ = 0; }
  /// Reads the kernel's list of our children.
  [[nodiscard]] bool empty(pid_t agent) override;
  void signal_all(int signo, pid_t agent) override;
  void kill_all(pid_t agent, bool deep) override;
  void signal_group(int signo, pid_t agent) override;
  void finish() override;
  [[nodiscard]] process::survivors living(pid_t agent) override;
  [[nodiscard]] pid_t leader() const override { return leader_; }
  [[nodiscard]] bool has_terminal() const override { return has_terminal_; }

 private:
  [[nodiscard]] int merge_environment(std::string_view added);
  [[nodiscard]] bool in_foreground() const;
  [[nodiscard]] std::optional<pid_t> next_child(pid_t agent);

  const process::side_process& writer_;
  std::vector<std::string> command_;
  std::vector<char*> argv_;
  std::vector<char*> own_;       ///< the guard's own environment
  std::string added_;            ///< the agent's additions
  std::string_view last_words_;  ///< part of `added_`: see last_words_variable
  std::vector<char*> merged_;    ///< room for `own_`, the agent's additions and the null
  process::program_starter starter_;
  bool keeps_hup_ignored_ = false;
  bool may_kill_all_ = false;         ///< also processes of other users
  bool may_have_terminal_ = false;    ///< stdin is one
  bool ends_with_container_ = false;  ///< nothing that we start outlives our container
  int page_fd_ = -1;

  pid_t leader_ = 0;
  pid_t group_ = 0;
  base::unique_fd exec_pipe_;
  bool has_terminal_ = false;
  process::child_list children_;
};

}  // namespace tenure::guard
