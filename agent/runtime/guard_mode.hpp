#pragma once

#include <memory>
#include <optional>

#include "runtime/workload_mode.hpp"

namespace tenure::runtime {

/// A guard owns the workload: its messages become events of the election.
class guard_mode : public owned_mode {
 public:
  using owned_mode::owned_mode;

  [[nodiscard]] bool has_guard() const override { return true; }

 protected:
  /// Handles the guard's answer.
  void from_guard(const workload::guard_event& what);
  [[nodiscard]] guard_wish wish() const;
  /// If nobody can see the end of a workload, its lease must run out by itself.
  void let_lease_run_out() { feed(core::event::workload_unseen{}); }

  virtual void on(const workload::guard_ready& what);
  virtual void on(const workload::guard_unusable& what) = 0;
  virtual void on(const workload::workload_started& what);
  virtual void on(const workload::start_refused& what);
  virtual void on(const workload::start_failed& what);
  virtual void on(const workload::workload_survives& what);
  virtual void on(const workload::workload_exited& what);
  virtual void on(const workload::workload_doubtful& what);
  virtual void on(const workload::signalled& what) = 0;
  virtual void on(const workload::guard_gone& what) = 0;
  virtual void on(const workload::guard_hangs& what) = 0;
  virtual void on(const workload::guard_recovers& what) = 0;

  bool start_failed_ = false;  ///< ever
};

}  // namespace tenure::runtime
