#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "process/survivors.hpp"
#include "shell/world.hpp"

namespace tenure::shell {

/// One process of the modelled machine.
struct modelled_process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::string mark;               ///< "TENURE_RUN=..."; empty: its environment does not show it
  std::uint64_t version = 0;      ///< of the workload that it came out of; 0: of none
  bool of_agent = false;          ///< an agent
  bool foreign = false;           ///< of a container that the kubelet starts
  std::uint64_t known_to = 0;     ///< the guard that has started it, or found it under `version`
  world_time missed_at{};         ///< if so: a look of the guard has left it out then
  bool ignores_term = false;      ///< SIGTERM does nothing
  bool dies_with_parent = false;  ///< SIGKILL when its parent ends
  bool zombie = false;            ///< dead, and not reaped
  bool killed = false;            ///< has got SIGKILL
  bool hangs = false;             ///< in the kernel (state D): no signal ends it
  world_time hung_until{};        ///< when it hung last
  bool stopped = false;
  int status = 0;  ///< once it is a zombie
  world_time born{};
  world_time dies_at = sim::world_never;

  [[nodiscard]] bool alive() const { return !zombie; }
  /// Nobody without a guard can tell that it came out of a workload.
  [[nodiscard]] bool hidden() const { return version != 0 && mark.empty() && !foreign; }
};

/// The processes of one machine, as far as signals, parents and groups go. A guard is the subreaper
/// of what comes out of it.
class modelled_processes {
 public:
  static constexpr pid_t init = 1;

  explicit modelled_processes(world& in) : world_(in) {}

  /// Called with the parent of each child that became a zombie.
  std::function<void(pid_t)> child_died;
  /// Called with each agent that has ended.
  std::function<void(pid_t)> agent_died;
  /// Called with each agent that gets a signal which asks it to end. Null: agents ignore those.
  std::function<void(pid_t, int signo)> agent_told;
  /// Called when nothing lives any more of the workload of this term.
  std::function<void(std::uint64_t version)> workload_ended;
  /// Called when a process of a container that the kubelet starts has ended.
  std::function<void()> foreign_died;

  modelled_process& fork(pid_t parent);
  [[nodiscard]] modelled_process* find(pid_t pid);
  [[nodiscard]] std::vector<modelled_process*> children_of(pid_t parent);
  /// All its descendants, without `except` and the descendants of that.
  [[nodiscard]] std::vector<modelled_process*> descendants_of(pid_t ancestor, pid_t except);
  [[nodiscard]] std::map<pid_t, modelled_process>& all() { return all_; }
  [[nodiscard]] const std::map<pid_t, modelled_process>& all() const { return all_; }

  void signal(pid_t pid, int signo);
  void signal_group(pid_t group, int signo);
  /// It ends now, with this status of waitpid. Its children become those of `subreaper`, if that
  /// lives, else those of init.
  void ends(pid_t pid, int status);
  void reap(pid_t pid) { all_.erase(pid); }
  /// It hangs in the kernel, or does not any more.
  void set_hanging(pid_t pid, bool hangs);
  /// Something of the workload of this term does, or may come.
  [[nodiscard]] bool lives(std::uint64_t version) const;
  /// What the kubelet starts from now on runs under no term.
  void close_term();

  pid_t subreaper = 0;          ///< of what belongs to no agent
  std::uint64_t open_term = 0;  ///< the kubelet starts what runs under it; 0: none is
  core::duration stops_within = std::chrono::seconds(1);         ///< after SIGTERM
  core::duration killed_within = std::chrono::milliseconds(20);  ///< after SIGKILL

  /// What of these lives, as a guard reports it. Null: it is gone.
  [[nodiscard]] static tenure::process::survivors living(
      const std::vector<modelled_process*>& among);

 private:
  void dies_in(modelled_process& one, core::duration wait, int status);

  world& world_;
  std::map<pid_t, modelled_process> all_;
  pid_t last_ = 100;
};

}  // namespace tenure::shell
