#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "health/health_check.hpp"
#include "process/helper_process.hpp"

namespace tenure::health {

/// A check in a process of its own, which is killed at the time limit. At most one process at a
/// time: while the kernel cannot end one, later checks wait for it, and fail.
class process_check final : public health_check {
 public:
  /// Turns an outcome into a verdict on the workload.
  using judge = std::function<verdict(const process::check_outcome&)>;

  process_check(http::asio_loop& on, process::check_task what, std::string subject, judge says);

  void begin(core::duration limit, handler done) override;
  void cancel() override;
  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  void start();
  void kill_process();
  void finish(verdict what);
  void fail_soon(const std::string& why);
  void ended(const process::check_outcome& how);
  void too_late();

  http::asio_loop& loop_;
  process::check_task what_;
  std::string subject_;
  judge says_;

  base::timer deadline_;
  std::unique_ptr<process::helper_process> process_;  ///< set until it is gone
  std::shared_ptr<handler> done_;                     ///< null: nobody waits
  bool killed_ = false;                               ///< `process_` was killed and is not gone yet
  core::duration limit_{};
};

}  // namespace tenure::health
