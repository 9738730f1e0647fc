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

/// The stop at the start of the agent is done: it takes back what an earlier agent may have told
/// the workload, as far as possible.
struct hooks_ready {
  /// True if `stop_http` or `stop_command` succeeded; nothing if neither is configured.
  std::optional<bool> stopped;
};

/// The workload of this term was told that it may be active.
struct workload_told {
  core::version version;
};

/// The workload was not told, or that is in doubt: `stop` does what is left to do.
struct workload_not_told {
  std::string why;
};

/// A way of stopping has failed; another may follow.
struct stop_way_failed {
  std::string why;
};

/// The workload says that it has stopped, or it was never told of the term.
struct workload_obeyed {};

/// No way of stopping has succeeded, as far as we know. If nobody renews the lease,
/// `workload_lapsed` follows when it has certainly run out.
struct workload_defied {};
struct workload_lapsed {};

/// No other way has stopped the workload. It ends with the agent, so the agent must end now, with
/// this status.
struct agent_must_end {
  int status;
};

using hook_event = std::variant<hooks_ready, workload_told, workload_not_told, stop_way_failed,
                                workload_obeyed, workload_defied, workload_lapsed, agent_must_end>;

/// A workload that others run, and that hooks tell when it may be active and when it has to stop.
/// The agent believes its answers: it can neither see nor kill it.
class hook_workload final : public workload_owner {
 public:
  using handler = std::function<void(const hook_event&)>;

  /// What counts as the workload's end: its own answer, or a guard that kills it. With a guard,
  /// hooks tell it only of a gain, and `stop` only removes `gain_file`.
  enum class ended_by : std::uint8_t { its_word, guard };

  /// `ways`: the hooks that `with` configures. Begins with one stop, because an earlier agent may
  /// have told the workload to be active: within `drain`, but no longer than a lease lasts. Call
  /// nothing before `hooks_ready`. `environment`: for this stop, which belongs to no term.
  hook_workload(base::event_loop& on, hooks ways, const settings::hooks& with,
                const core::timing& when, std::vector<std::string> environment, ended_by how,
                handler on_event);
  ~hook_workload() override;

  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;
  void show(const guard::worker_term&) override {}
  void note_grant(core::version) override {}
  void forget_grants(core::version) override {}
  void note_api_port(std::uint16_t) override {}
  /// Calls each configured hook, http first, each in its share of the time to `stop_at`. If one
  /// fails, the later ones are not called.
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
    clearing,  ///< the stop at the start
    idle,
    gaining,
    untold,  ///< the workload certainly does not know of its term
    told,    ///< it knows of its term, or may know
    stopping,
    lapsing,  ///< it is unknown whether it has stopped
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
  base::timer timer_;  ///< for the present call, and for the end of a lease that runs out

  state state_ = state::clearing;
  core::version version_ = core::no_version;
  core::time_point stop_at_{};
  std::vector<std::string> environment_;
  std::size_t gained_ = 0;   ///< hooks of `gain` that are done
  hook* calling_ = nullptr;  ///< under way
  bool waits_ = false;       ///< for the end of a killed program, before stopping
  hook::handler then_;       ///< the handler of `calling_`
};

}  // namespace tenure::workload
