#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.hpp"
#include "core/guard.hpp"
#include "runtime/surroundings.hpp"
#include "stage.hpp"
#include "workload/workload_owner.hpp"

namespace tenure::shell {

/// The workload of one pod, with the guard in its container: other processes on the same clock. The
/// guard's decisions are those of the `core::guard` that ships; the processes, the socket and the
/// page between guard and agent are modelled.
class stand_in_guard {
 public:
  stand_in_guard(stage& s, const pod_machine& on) : stage_(s), on_(on) {}
  stand_in_guard(const stand_in_guard&) = delete;
  stand_in_guard& operator=(const stand_in_guard&) = delete;

  /// An agent connects. The one before, if there is one, hears nothing more.
  std::unique_ptr<workload::workload_owner> connect(const std::shared_ptr<base::event_loop>& agent,
                                                    const runtime::guard_wish& how,
                                                    runtime::guard_handler on_event);

  /// The pod is gone, with all that is in it.
  void vanish();
  /// The workload ends by itself.
  void exit();
  [[nodiscard]] bool alive() const { return alive_; }

 private:
  class link;

  void hear_start(core::version term);
  void hear_stop(core::time_point kill_by);
  void carry_out(const core::guard_actions& todo);
  void set_timer();
  void dies_in(core::duration wait);
  void died();
  void tell(const workload::guard_event& what);
  void later(std::function<void()> what);
  [[nodiscard]] core::time_point now() const { return on_.clock.local(stage_.in.now); }

  stage& stage_;
  const pod_machine& on_;
  core::guard guard_;
  link* agent_ = nullptr;  ///< null: nobody is connected

  // In the page, which outlives the agents.
  std::string session_;
  core::version last_term_ = core::no_version;
  core::time_point stop_at_{};
  core::time_point kill_at_{};

  bool alive_ = false;
  bool told_ = false;  ///< to end
  bool ignores_term_ = false;
  std::optional<workload::workload_exited> unreported_;  ///< it has ended, and no agent knows
  core::version unreported_term_ = core::no_version;
  std::uint64_t instance_ = 0;
  world_time dies_at_ = sim::world_never;
  world_time timer_at_ = sim::world_never;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
