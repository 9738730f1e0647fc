#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/clock.hpp"
#include "runtime/health_check.hpp"
#include "workload/check_process.hpp"

namespace tenure::runtime {

/// A check in a process of its own, killed when its time is over. At most one process at a time: as
/// long as the kernel cannot end one, the checks that follow wait for that, and fail.
class process_check final : public health_check {
 public:
  /// What an outcome says of the workload.
  using judge = std::function<verdict(const workload::check_outcome&)>;

  process_check(net::asio_loop& on, workload::check_task what, std::string subject, judge says);

  void begin(core::duration limit, handler done) override;
  void cancel() override;
  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  void start();
  void kill();
  void finish(verdict what);
  void fail_soon(const std::string& why);
  void ended(const workload::check_outcome& how);
  void too_late();

  net::asio_loop& loop_;
  workload::check_task what_;
  std::string subject_;
  judge says_;

  base::timer deadline_;
  std::unique_ptr<workload::check_process> process_;  ///< until it is gone
  std::shared_ptr<handler> done_;                     ///< null: nobody waits
  bool killed_ = false;                               ///< `process_` was, and is to be gone soon
  core::duration limit_{};
};

}  // namespace tenure::runtime
