#pragma once

#include "runtime/workload_mode.hpp"
#include "workload/hook_workload.hpp"

namespace tenure::runtime {

/// Hooks tell the workload when it is active and when it must stop. Nothing else stops it.
class hook_mode final : public owned_mode {
 public:
  using owned_mode::owned_mode;

  bool open() override;
  [[nodiscard]] bool is_lapsing() const override { return lapsing_; }
  void bye(std::optional<int>) override {}

 protected:
  [[nodiscard]] int stop_signal() const override { return 0; }

 private:
  void from_hooks(const workload::hook_event& what);
  void on(const workload::hooks_ready& what);
  void on(const workload::workload_told& what);
  void on(const workload::workload_not_told& what);
  void on(const workload::stop_way_failed& what);
  void on(const workload::workload_obeyed& what);
  void on(const workload::workload_defied& what);
  void on(const workload::workload_lapsed& what);
  void on(const workload::agent_must_end& what);

  bool lapsing_ = false;  ///< nothing has stopped the workload, so its lease must run out
};

}  // namespace tenure::runtime
