#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/timing.hpp"
#include "settings/agent.hpp"
#include "workload/hook_workload.hpp"
#include "workload/workload_owner.hpp"

namespace tenure::workload {

/// A workload that a guard finds and kills, and that hooks tell when it may be active.
///
/// The guard ensures its end, so a workload that a hook cannot reach is stopped and does not have
/// to obey. This class delays two of the guard's events: a workload counts as started once the
/// hooks have told it, and as ended once the file that says "active" is removed.
class guarded_hook_workload final : public workload_owner {
 public:
  struct listener {
    std::function<std::vector<std::string>()> environment;  ///< the environment of the present term
    std::function<void(const guard_event&)> on_guard;
    /// `workload_told`, `workload_not_told` and `stop_way_failed`.
    std::function<void(const hook_event&)> on_hook;
  };

  /// `names`: the environment of hooks without a term. Precondition: there is a hook for a gain,
  /// and none for a stop.
  guarded_hook_workload(base::event_loop& on, std::unique_ptr<workload_owner> guard, hooks ways,
                        const settings::hooks& with, const core::timing& when,
                        std::vector<std::string> names, listener to);

  /// Receives the events of the guard's link.
  void from_guard(const guard_event& what);

  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;
  void show(const guard::worker_term& what) override { guard_->show(what); }
  void note_grant(core::version version) override { guard_->note_grant(version); }
  void forget_grants(core::version before) override { guard_->forget_grants(before); }
  void note_api_port(std::uint16_t port) override { guard_->note_api_port(port); }
  void start(core::version version, const std::vector<std::string>& environment) override;
  void stop(core::time_point kill_by, int signal) override;
  void bye(std::optional<int> exit_code) override { guard_->bye(exit_code); }
  void presume_dead() override { guard_->presume_dead(); }
  [[nodiscard]] bool may_run() const override { return guard_->may_run() || hooks_.may_run(); }
  [[nodiscard]] bool gone() const override { return guard_->gone(); }
  void end_orphans() override { guard_->end_orphans(); }

 private:
  void on(const guard_ready& what);
  void on(const workload_started& what);
  void on(const workload_exited& what);
  void from_hooks(const hook_event& what);
  void tell(core::version version);
  void forget();

  base::event_loop& loop_;
  listener to_;
  std::unique_ptr<workload_owner> guard_;
  hook_workload hooks_;
  bool hooks_ready_ = false;
  core::version to_start_ = core::no_version;  ///< tell it once it runs
  core::version found_ = core::no_version;     ///< tell it once its term is confirmed
  // Held back until the hooks are done.
  std::optional<guard_ready> ready_;
  std::optional<workload_started> started_;
  std::optional<workload_exited> exited_;
};

}  // namespace tenure::workload
