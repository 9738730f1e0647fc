#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "process.hpp"
#include "runtime/surroundings.hpp"
#include "shell/guard/modelled_guard.hpp"
#include "workload/guard_link.hpp"

namespace tenure::shell {

class judged_link;

/// An agent as a process of a machine with a guard.
struct agent_process {
  pid_t pid = 0;
  world_time able_since{};  ///< since when it has got its time; `world_never`: it is stopped
  std::vector<std::shared_ptr<modelled_line>> lines{};  ///< its ends close when it is dead
  judged_link* link = nullptr;                          ///< its newest; null: it has none

  /// Since when it could have the guard kill the workload; `world_never`: it could not.
  [[nodiscard]] world_time orders_since() const;
  /// Since when it could kill the workload without the guard; `world_never`: it could not.
  [[nodiscard]] world_time reaches_since() const;
};

/// One end of a line to a guard, and the memory that comes with it.
struct way_to_guard {
  std::shared_ptr<modelled_line> line;
  std::shared_ptr<guard_memory> memory;
  pid_t guard = 0;  ///< 0: it is in another container
};

/// The link that ships; the judge hears of each order before the guard does, and of each answer
/// before the agent does.
class judged_link final : public workload::workload_owner {
 public:
  judged_link(guard_machine& on, std::shared_ptr<agent_process> of, way_to_guard over,
              const std::shared_ptr<process>& loop, const runtime::guard_wish& how,
              runtime::guard_handler to);
  ~judged_link() override;
  judged_link(const judged_link&) = delete;
  judged_link& operator=(const judged_link&) = delete;

  void arm(core::version version, core::time_point stop_at, core::time_point kill_at) override;
  void show(const guard::worker_term& what) override { link_->show(what); }
  void note_grant(core::version version) override { link_->note_grant(version); }
  void forget_grants(core::version before) override { link_->forget_grants(before); }
  void note_api_port(std::uint16_t port) override { link_->note_api_port(port); }
  void start(core::version version, const std::vector<std::string>& environment) override;
  void stop(core::time_point kill_by, int signal) override;
  void bye(std::optional<int> exit_code) override;
  void presume_dead() override { link_->presume_dead(); }
  [[nodiscard]] bool may_run() const override { return link_->may_run(); }
  [[nodiscard]] bool gone() const override { return link_->gone(); }
  void end_orphans() override;

  [[nodiscard]] world_time orders_since() const;
  [[nodiscard]] world_time reaches_since() const;
  /// True while the agent may rely on the guard, as far as it has heard.
  [[nodiscard]] bool is_usable() const { return usable_; }
  /// Called again and again.
  void look();
  /// Called with the version of a workload of which nobody can tell any more whether it lives.
  std::function<void(std::uint64_t version)> out_of_sight;
  /// Called when a guard has reported its end.
  std::function<void()> in_sight;

 private:
  [[nodiscard]] world_time knows_since() const;
  void judge(const workload::guard_event& what);
  void on(const workload::guard_ready& what);
  void on(const workload::guard_unusable& what);
  void on(const workload::workload_started& what);
  void on(const workload::start_refused& what);
  void on(const workload::start_failed& what);
  void on(const workload::workload_survives&) {}
  void on(const workload::workload_exited& what);
  void on(const workload::workload_doubtful& what);
  void on(const workload::signalled&) { usable_ = false; }
  void on(const workload::guard_gone& what) { lost(what.workload_in_sight || what.with_container); }
  void on(const workload::guard_hangs& what);
  void on(const workload::guard_recovers&);
  void lost(bool workload_in_sight);
  void shows(std::uint64_t version) const;
  void look_at_hearing();
  void look_at_survivors() const;

  guard_machine& on_;
  std::shared_ptr<agent_process> of_;
  std::string session_;
  bool is_bound_;
  bool in_sight_;
  std::uint64_t guard_number_;
  world_time greeted_at_ = sim::world_never;
  bool doubtful_ = false;
  bool usable_ = false;
  world_time lost_at_ = sim::world_never;  ///< the guard, as the agent has heard
  std::uint64_t running_ = 0;              ///< the version that was started last, or found
  std::shared_ptr<guard_memory> memory_;
  world_time unheard_since_ = sim::world_never;  ///< armed, and not acknowledged
  std::unique_ptr<workload::guard_link> link_;
};

}  // namespace tenure::shell
