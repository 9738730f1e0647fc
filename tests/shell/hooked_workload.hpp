#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "process.hpp"
#include "stage.hpp"
#include "workload/hook.hpp"

namespace tenure::shell {

/// A workload that runs all the time, and acts from when a hook has told it to until one has told
/// it to stop, as docs/hooks.md asks of it: it remembers the last term that it was told to stop,
/// and does not begin that again.
class hooked_workload {
 public:
  hooked_workload(stage& s, const pod_machine& on) : stage_(s), on_(on) {}
  hooked_workload(const hooked_workload&) = delete;
  hooked_workload& operator=(const hooked_workload&) = delete;

  /// The hooks of an agent, on its loop. It outlives them.
  [[nodiscard]] workload::hooks make_hooks(const std::shared_ptr<process>& loop);

  // What goes wrong.
  /// It hears nothing, or hears and does not answer.
  void go_deaf(core::duration lasts);
  /// It ends, and another begins that does not act.
  void restart() { acts_under(0); }
  /// An operator starts those anew that nobody has stopped, and after a restore those that have
  /// seen larger versions.
  void mend();

  /// True if a call to stop it failed so long ago. Its agent has said so, and an operator has to
  /// stop it.
  [[nodiscard]] bool is_left_alone_for(core::duration how_long) const {
    return left_alone_at_ && *left_alone_at_ + how_long < stage_.in.now;
  }

  // What the judge asks. `well_since`: when its agent began to get its time.
  /// True if its agent, which has got its time for a whole lease, should have stopped it.
  [[nodiscard]] bool lives_by_mistake(world_time well_since) const;
  /// True if its agent could have told it to stop since it has heard that the term is over.
  [[nodiscard]] bool outlives_news(world_time well_since, world_time heard_at) const;

 private:
  friend class modelled_hook;

  /// What the workload is told: "gain" or "stop". False if it refuses.
  [[nodiscard]] bool hears(bool is_gain, std::uint64_t version);
  void acts_under(std::uint64_t version);
  /// A call to stop it has failed: nobody knows whether it acts.
  void not_stopped() {
    if (!left_alone_at_) left_alone_at_ = stage_.in.now;
  }
  [[nodiscard]] bool is_deaf() const { return stage_.in.now < deaf_until_; }

  stage& stage_;
  const pod_machine& on_;
  std::uint64_t acts_ = 0;     ///< under this version; 0: it does not
  std::uint64_t stopped_ = 0;  ///< the newest version that it was told to stop
  world_time deaf_until_{};
  std::optional<world_time> left_alone_at_{};
};

}  // namespace tenure::shell
