#pragma once

#include "guard/agent_child.hpp"
#include "guard/guarded_processes.hpp"
#include "guard/process_tree.hpp"

namespace tenure::guard {

/// A workload that the guard starts itself: its command and all descendants.
class started_workload final : public guarded_processes {
 public:
  /// `agent`: the child of the guard that does not belong to the workload.
  started_workload(process_tree& tree, const agent_child& agent) : tree_(tree), agent_(agent) {}

  [[nodiscard]] workload_news start(core::time_point now, std::string_view environment) override;
  [[nodiscard]] workload_news child_changed(const child_change& what, state is) override;
  [[nodiscard]] workload_news check_start() override;
  [[nodiscard]] workload_news look(core::time_point now, state is) override;
  [[nodiscard]] core::time_point look_at() const override { return core::never; }
  void terminate(core::time_point now, int signo) override;
  void kill(core::time_point now, bool deep) override;
  void forward(int signo) override;
  [[nodiscard]] process::survivors living() override { return tree_.living(agent_.pid()); }
  [[nodiscard]] pid_t first() const override { return tree_.leader(); }
  [[nodiscard]] std::optional<int> ended_by_itself() const override {
    return ended_by_itself_ ? last_status_ : std::nullopt;
  }
  [[nodiscard]] std::optional<int> exit_status() const override;

 private:
  process_tree& tree_;
  const agent_child& agent_;
  bool exec_awaited_ = false;       ///< not known yet whether the program was executed
  bool ended_by_itself_ = false;    ///< the first process ended without being asked to
  std::optional<int> start_error_;  ///< errno of the last start
  std::optional<int> last_status_;  ///< the status of the last first process
};

}  // namespace tenure::guard
