#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/event_loop.hpp"
#include "core/timing.hpp"
#include "settings/agent.hpp"
#include "workload/hook.hpp"
#include "workload/hook_codec.hpp"
#include "workload/stop_plan.hpp"
#include "workload/workload_owner.hpp"

namespace tenure::workload {

/// What an earlier agent may have told the workload was taken back, as far as that is possible.
struct hooks_ready {
  /// By `stop_http` or `stop_command`; nothing if there is neither.
  std::optional<bool> stopped;
};

/// The workload of this term was told that it may be active.
struct workload_told {
  core::version version;
};

/// It was not, or that is in doubt: `stop` finds out what is left to do.
struct workload_not_told {
  std::string why;
};

/// A way of stopping has failed; another may follow.
struct stop_way_failed {
  std::string why;
};

/// It has stopped, by its own word, or never knew of the term.
struct workload_obeyed {};

/// No way has stopped it, as far as anybody knows. `workload_lapsed` follows when its lease has run
/// out for certain, if nobody renews it.
struct workload_defied {
  core::version version;
};
struct workload_lapsed {};

/// No other way has stopped it: it ends with the agent, which is to end now, with this status.
struct agent_must_end {
  int status;
};

using hook_event = std::variant<hooks_ready, workload_told, workload_not_told, stop_way_failed,
                                workload_obeyed, workload_defied, workload_lapsed, agent_must_end>;

/// A workload that somebody else runs, and that is told by hooks when it may be active and when it
/// has to stop. It is believed: nobody here can see it, and nobody kills it.
class hook_workload final : public workload_owner {
 public:
  using handler = std::function<void(const hook_event&)>;

  /// Who sees to the workload's end: its own word does, or a guard that kills it. With a guard it
  /// is only told of its gain, and `stop` just takes `gain_file` back.
  enum class ended_by : std::uint8_t { its_word, guard };

  /// `ways`: those that `with` configures. Begins with a stop of whatever an earlier agent may have
  /// told it: once, and within `drain`, but no longer than a lease lasts. Nothing may be asked of
  /// it before `hooks_ready`. `environment`: what is told then, when there is no term yet.
  hook_workload(base::event_loop& on, hooks ways, const settings::hooks& with,
                const core::timing& when, std::vector<std::string> environment, ended_by how,
                handler on_event);
  ~hook_workload() override;

  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;
  void show(const guard::worker_term&) override {}
  void note_grant(core::version) override {}
  void forget_grants(core::version) override {}
  void note_api_port(std::uint16_t) override {}
  /// Tells it by each way that is configured, http first, each in its share of the time to
  /// `stop_at`. If one fails those after it are not tried.
  void start(core::version version, const std::vector<std::string>& environment) override;
  /// See `stop_plan`.
  void stop(core::time_point kill_by, int signal) override;
  void bye(std::optional<int>) override {}
  void presume_dead() override {}
  [[nodiscard]] bool may_run() const override {
    return state_ != state::idle && state_ != state::clearing;
  }
  [[nodiscard]] bool gone() const override { return false; }
  void end_orphans() override {}

 private:
  enum class state : std::uint8_t {
    clearing,  ///< what an earlier agent has told
    idle,
    gaining,
    untold,  ///< it certainly has not heard of its term
    told,    ///< it has, or may have
    stopping,
    lapsing,  ///< nobody knows whether it has stopped
  };

  void cleared(bool stopped);
  void gain_next();
  void gained(const std::optional<hook_failure>& how);
  void begin_to_stop(core::time_point kill_by);
  void stop_now();
  void way_ended(const std::optional<hook_failure>& how);
  void no_way_left();
  void call(hook& which, const hook_order& what, core::time_point until, hook::handler done);
  void turn();
  void turn_at(core::time_point when) {
    timer_.at(when, [this] { turn(); });
  }
  void emit_soon(hook_event what);
  [[nodiscard]] hook* stopper() const;

  base::event_loop& loop_;
  settings::hooks with_;
  ended_by ended_by_;
  core::duration lapse_;
  std::shared_ptr<handler> on_event_;  ///< shared with posts that may outlive us
  hooks ways_;
  stop_plan plan_;
  base::timer timer_;  ///< for what is tried now, and for the end of a lease that runs out

  state state_ = state::clearing;
  core::version version_ = core::no_version;
  core::time_point stop_at_{};
  std::vector<std::string> environment_;
  std::size_t gained_ = 0;   ///< ways that have told it
  hook* calling_ = nullptr;  ///< under way
  bool waits_ = false;       ///< for the end of a killed program, before it stops anything
  hook::handler then_;       ///< of that
};

}  // namespace tenure::workload
