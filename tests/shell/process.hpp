#pragma once

#include <deque>
#include <memory>

#include "base/event_loop.hpp"
#include "world.hpp"

namespace tenure::shell {

/// The event loop of one agent process, in virtual time and by the clock of its machine.
///
/// Work takes no time of its own; on a slow machine the loop is not turned.
class process final : public base::event_loop, public std::enable_shared_from_this<process> {
 public:
  process(world& in, machine_clock clock) : world_(in), clock_(clock), dice_(in.dice.bits()) {}

  [[nodiscard]] core::time_point now() const override { return clock_.local(world_.now); }
  [[nodiscard]] std::uint64_t random_bits() override { return dice_.bits(); }
  void post(task what) override;

  /// SIGSTOP: what comes waits, and so do timers.
  void pause() { paused_ = true; }
  void go_on();

  [[nodiscard]] const machine_clock& clock() const { return clock_; }

 private:
  void timers_changed() override;
  void turn_soon();
  void turn();

  world& world_;
  machine_clock clock_;
  rng dice_;
  std::deque<task> tasks_;
  bool turning_ = false;  ///< a turn is on the agenda
  bool paused_ = false;
  world_time wakes_at_ = sim::world_never;
};

}  // namespace tenure::shell
