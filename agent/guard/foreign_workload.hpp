#pragma once

#include <optional>

#include "guard/guard_log.hpp"
#include "guard/guarded_processes.hpp"
#include "guard/process_finder.hpp"

namespace tenure::guard {

/// How to treat a workload that others start.
struct foreign_rules {
  bool may_run_on_standby = false;  ///< false: a workload without a lease is stopped
  int gain_signal = 0;              ///< tells it that it is active now; 0: none
};

/// A workload that others start. `process_finder` looks for its processes and sees their deaths.
class foreign_workload final : public guarded_processes {
 public:
  /// A workload that runs at `now` has no lease that the guard knows of.
  foreign_workload(process_finder& finder, const foreign_rules& rules, guard_log& log,
                   core::time_point now)
      : finder_(finder), rules_(rules), log_(log), look_at_(now) {}

  [[nodiscard]] workload_news start(core::time_point now, std::string_view environment) override;
  [[nodiscard]] workload_news child_changed(const child_change&, state) override { return {}; }
  [[nodiscard]] workload_news check_start() override { return {}; }
  [[nodiscard]] workload_news look(core::time_point now, state is) override;
  [[nodiscard]] core::time_point look_at() const override { return look_at_; }
  void terminate(core::time_point now, int signo) override;
  void kill(core::time_point now, bool deep) override;
  void forward(int) override {}
  [[nodiscard]] process::survivors living() override { return finder_.living(); }
  [[nodiscard]] pid_t first() const override { return finder_.first(); }
  [[nodiscard]] std::optional<int> ended_by_itself() const override { return std::nullopt; }
  [[nodiscard]] std::optional<int> exit_status() const override { return std::nullopt; }

 private:
  [[nodiscard]] workload_news tell(core::time_point now);
  [[nodiscard]] workload_news sweep(core::time_point now, const tally& found);
  [[nodiscard]] workload_news watch(core::time_point now, const tally& found, bool running);
  void warn_of(const tally& found);

  process_finder& finder_;
  const foreign_rules rules_;
  guard_log& log_;
  core::time_point look_at_;  ///< when to look again
  /// It is to be told that it is active, by then at the latest; nothing: it was, or need not be.
  std::optional<core::time_point> tell_by_{};
  bool sweeping_ = true;  ///< stop a workload without a lease
  bool seen_ = false;     ///< a process was seen in this term
  bool warned_ = false;   ///< that a process may not be signalled
};

}  // namespace tenure::guard
