#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "base/event_loop.hpp"
#include "runtime/guard_mode.hpp"

namespace tenure::runtime {

/// The guard is in another container, found by its socket. Guards and agents come and go
/// independently; a workload may be left to the next agent.
class socket_guard_mode final : public guard_mode {
 public:
  explicit socket_guard_mode(const mode_parts& with);

  bool open() override;
  [[nodiscard]] bool is_ready() const override { return here_; }
  [[nodiscard]] bool leaves() override;
  void give_up(int stop_signal) override;
  void renewed() override;
  void bye(std::optional<int> status) override;
  void close() override;

 private:
  void found(std::variant<guard_opener, workload::no_guard> what);
  void use(guard_opener with);
  void none(const workload::no_guard& what);
  void returned(const workload::guard_ready& what);
  void lose(bool workload_in_sight);

  void on(const workload::guard_ready& what) override;
  void on(const workload::guard_unusable& what) override;
  void on(const workload::workload_exited& what) override;
  void on(const workload::signalled& what) override;
  void on(const workload::guard_gone& what) override;
  void on(const workload::guard_hangs& what) override;
  void on(const workload::guard_recovers& what) override;

  /// Whether the workload is left to another agent, and when.
  enum class leave : std::uint8_t { no, unless_guard_ends, with_next_renewal };

  std::unique_ptr<guard_search> search_;
  core::time_point search_until_{};  ///< until then, wait for a guard that is there but busy
  std::string none_;                 ///< why there is no guard, as last logged
  bool here_ = false;
  bool lost_ = false;  ///< the elections were told so, or will be when they begin
  leave leaving_ = leave::no;
  base::timer leave_timer_;
};

}  // namespace tenure::runtime
