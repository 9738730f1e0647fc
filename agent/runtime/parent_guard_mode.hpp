#pragma once

#include "runtime/guard_mode.hpp"
#include "workload/guarded_hook_workload.hpp"

namespace tenure::runtime {

/// The guard that has started this process, and ends with it.
class parent_guard_mode : public guard_mode {
 public:
  using guard_mode::guard_mode;

  void bye(std::optional<int> status) override;

 protected:
  using guard_mode::on;
  [[nodiscard]] bool connect(const guard_wish& how, guard_handler on_event);

  void on(const workload::guard_unusable& what) override;
  void on(const workload::signalled& what) override;
  void on(const workload::guard_gone& what) override;
  void on(const workload::guard_hangs& what) override;
  void on(const workload::guard_recovers&) override {}

 private:
  void without_guard(bool hangs);
};

/// The workload is the command of this guard: `tenure exec`.
class own_command_mode final : public parent_guard_mode {
 public:
  explicit own_command_mode(const mode_parts& with)
      : parent_guard_mode(with), look_again_(with.machine.loop()) {}

  bool open() override;
  [[nodiscard]] bool ends_with_workload() const override { return true; }
  [[nodiscard]] bool exits_as_workload(core::loss_reason why) const override;
  void phase_changed(const core::command::transition& what) override;
  void close() override;

 private:
  using parent_guard_mode::on;
  void open_record();
  void look_at_run_before();
  /// `session`: this agent's, or that of the run before.
  void begin(const std::string& session);
  void on(const workload::guard_ready& what) override;

  std::unique_ptr<workload::run_record> record_;  ///< null: there is none, or not any more
  base::timer look_again_;
  core::time_point look_until_{};
  std::string taken_over_;  ///< the session of the run before; empty: ours is new
};

/// Somebody else starts the workload. The guard finds its processes and kills them; hooks may tell
/// it when it is active.
class found_processes_mode final : public parent_guard_mode {
 public:
  using parent_guard_mode::parent_guard_mode;

  bool open() override;

 private:
  using parent_guard_mode::on;
  void from_hooks(const workload::hook_event& what);
  void on(const workload::workload_started& what) override;
  void on(const workload::start_failed& what) override;
};

}  // namespace tenure::runtime
