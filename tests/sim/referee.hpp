#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/lease_group.hpp"
#include "message.hpp"
#include "mix.hpp"
#include "rule.hpp"
#include "virtual_time.hpp"

/// Who watches the rules of the guarantee. Does its own arithmetic: that of the code under test
/// is part of what it judges.
///
/// What it excuses is what docs/safety.md says under "Where the claim does not hold", and each
/// excuse ends when its reason does.
namespace tenure::sim {

class referee {
 public:
  explicit referee(const mix& m) : mix_(m) {}

  [[nodiscard]] rule broken() const { return broken_; }
  /// Which pod and election broke the rule, and when.
  [[nodiscard]] const std::string& details() const { return details_; }
  void violated(rule what, world_time now, std::size_t pod, std::size_t election);

  // --- the store -----------------------------------------------------------------------------

  /// A change of holder.
  void granted(world_time now, std::size_t election, std::size_t pod, core::version version);
  /// Nobody else is granted this slot before `until`, unless an operator interferes.
  void promised(std::size_t election, std::size_t pod, core::version version, world_time until);
  /// A release of `version` was carried out.
  void released(world_time now, std::size_t election, std::size_t pod, core::version version);
  void removed_by_operator(world_time now, std::size_t election, std::size_t pod,
                           core::version version);
  /// A backup was restored: what was granted before may be granted again.
  void versions_moved_back();

  // --- what reaches an agent -----------------------------------------------------------------

  void agent_began(std::size_t pod, const core::lease_group* machine, machine_clock clock);
  void agent_ended(std::size_t pod) { agents_[pod].machine = nullptr; }
  /// A holder is making way for another member, or has just done so.
  [[nodiscard]] bool makes_way(world_time now, std::size_t election) const {
    const core::duration at_most = mix_.when.drain + mix_.when.grace + 2 * mix_.when.ttl +
                                   std::chrono::seconds(3) + mix_.late_most;
    return made_way_[election] && now - *made_way_[election] < at_most;
  }
  /// Its guard has kept the workload of an earlier agent.
  void found(std::size_t pod, std::size_t election, const core::event::workload_found& what);
  /// A candidate is granted `version`. Not one that arrives at its own stop_at or later, and not
  /// one whose end the watch has shown before: nobody need believe these.
  void began_term(world_time now, std::size_t pod, std::size_t election, core::version version,
                  core::time_point sent_at, core::duration ttl);
  /// The watch has shown the state at `as_of`, in which the agent holds `ours`.
  void saw_state(std::size_t pod, std::size_t election, core::version as_of, core::version ours) {
    ledger& l = agents_[pod].of[election];
    l.shown_as_of = as_of;
    l.shown_ours = ours;
  }
  /// The answer to an acquire or a renewal. `in_time`: it must be believed.
  void acknowledged(world_time now, std::size_t pod, std::size_t election, core::version version,
                    core::time_point sent_at, core::duration ttl, bool in_time);
  /// The watch has shown a version of somebody else.
  void saw_version(std::size_t pod, std::size_t election, core::version seen);
  /// The store's own word that `version` is over. `in_time`: it must be believed.
  void told_lost(world_time now, std::size_t pod, std::size_t election, core::version version,
                 bool in_time);
  /// The release that the agent has sent last was carried out.
  void release_answered(std::size_t pod, std::size_t election) {
    agents_[pod].of[election].releasing = false;
  }
  void asked(std::size_t pod, std::size_t election, core::loss_reason why);
  /// Its agent hears that the machine has slept for `lasted`, and acts on that first.
  void slept(world_time now, std::size_t pod, core::duration lasted) {
    agents_[pod].slept = {.seen = now, .lasted = lasted};
  }
  /// It does not have to stand aside any more.
  void resumed(std::size_t pod, std::size_t election);
  /// What it would answer now must be true.
  void check_claim(world_time now, std::size_t pod, std::size_t election);

  // --- what an agent does --------------------------------------------------------------------

  void stepped(world_time now, std::size_t pod);
  void campaigns(world_time now, std::size_t pod, std::size_t election, bool may_run);
  void releases(world_time now, std::size_t pod, std::size_t election, bool may_run);
  void arms(world_time now, std::size_t pod, std::size_t election, core::version version,
            core::time_point kill_at);
  void starts(world_time now, std::size_t pod, std::size_t election, bool may_run);
  void changes(world_time now, std::size_t pod, std::size_t election,
               const core::command::transition& how);

  // --- workloads -----------------------------------------------------------------------------

  /// `kill_takes`: from the first SIGKILL to the end of its last process.
  void workload_began(world_time now, std::size_t pod, std::size_t election, core::version version,
                      core::duration kill_takes);
  void workload_ended(world_time now, std::size_t pod, std::size_t election);
  /// Those that run at the end of the world are too many, too, if they are.
  void ends(world_time now);
  /// The whole pod stands still: only versions protect the resource from now on.
  void froze(world_time now, std::size_t pod);
  void thawed(world_time now, std::size_t pod);
  /// A write to the protected resource, which knows the highest version that it has accepted.
  void wrote(world_time now, std::size_t pod, std::size_t election, core::version version,
             bool is_holder);

  [[nodiscard]] bool runs(std::size_t pod, std::size_t election) const {
    return running_[pod][election].alive;
  }
  [[nodiscard]] bool claims(world_time now, std::size_t pod, std::size_t election) const;

 private:
  /// What an agent has been told about its newest term.
  struct ledger {
    core::version version = core::no_version;
    core::version seen = core::no_version;   ///< the largest, its own and those of others
    core::version found = core::no_version;  ///< what ran when it came, until it is granted one
    core::version shown_as_of = core::no_version;  ///< by the watch
    core::version shown_ours = core::no_version;   ///< what it holds there
    bool overtaken = false;           ///< the end of what it was granted last had been shown before
    core::time_point must_stop_at{};  ///< no earlier: the answers that must be believed
    core::time_point may_stop_at{};   ///< no later: all answers
    bool lost = false;
    bool releasing = false;   ///< and nobody has said that it is done
    std::uint32_t asked = 0;  ///< a bit for each `loss_reason`
    core::time_point active_since{};
    core::duration last_pause{};  ///< after the newest term that was unhealthy
    core::duration pause{};       ///< after the one that is ending
    core::time_point rests_until{};

    /// True if resources may have seen `version`, or a larger one, under somebody else or before.
    [[nodiscard]] bool regressed() const { return version <= seen; }
    /// True if the watch has shown a state with this grant in it, in which it is over.
    [[nodiscard]] bool seen_gone(core::version granted) const {
      return shown_as_of >= granted && shown_ours != granted;
    }
  };
  struct sleep {
    world_time seen = world_time::min();
    core::duration lasted{};
  };
  struct agent_record {
    const core::lease_group* machine = nullptr;
    machine_clock clock;
    sleep slept;  ///< the newest
    world_time window{};
    std::uint32_t steps = 0;  ///< since `window`
    std::array<ledger, max_elections> of{};
  };
  struct running {
    bool alive = false;
    core::version version = core::no_version;
    core::duration kill_takes{};
    bool given_again = false;  ///< its term was taken away, and granted again by a restored store
  };
  /// The newest one of a pod.
  struct standstill {
    bool lasts = false;
    world_time ended = world_time::min();  ///< `min`: there was none
  };
  struct promise {
    core::version version = core::no_version;
    world_time until{};
  };
  /// Several terms of one pod: its old session may hold one slot, and its new one another.
  struct promises {
    std::array<promise, 64> all{};  ///< late requests may be granted while the pod stands still
    std::size_t oldest = 0;
  };
  struct removal {
    core::version version = core::no_version;
    world_time at{};
    world_time news = world_never;  ///< when the agent heard of it
    bool is_waited_for = true;      ///< by the next holder
  };

  /// The newest removal of this term; null if no operator has touched it.
  [[nodiscard]] const removal* removed(std::size_t pod, std::size_t election,
                                       core::version version) const;
  /// True if an operator has taken this term away, and its agent cannot know yet.
  [[nodiscard]] bool unaware(std::size_t pod, std::size_t election, core::version version) const;
  [[nodiscard]] bool excused(world_time now, std::size_t pod, std::size_t election) const;
  [[nodiscard]] bool oversleeps(world_time now, std::size_t pod, std::size_t election) const;
  void count_running(world_time now, std::size_t pod, std::size_t election);
  [[nodiscard]] world_time dead_after_news(std::size_t pod, std::size_t election) const;
  [[nodiscard]] world_time killed_by(std::size_t pod, std::size_t election) const;
  [[nodiscard]] std::size_t count_claims(world_time now, std::size_t election,
                                         std::size_t but_for) const;
  [[nodiscard]] static bool fits_sleep(world_time now, const agent_record& agent, const ledger& of,
                                       core::loss_reason why);
  [[nodiscard]] bool may_make_way(world_time now, const agent_record& agent,
                                  std::size_t election) const;
  void note_pause(core::time_point now, ledger& of, const core::command::transition& how) const;
  [[nodiscard]] core::duration stop_after(core::duration ttl) const;
  template <class T>
  using of_each = std::array<std::array<T, max_elections>, max_pods>;

  const mix& mix_;
  rule broken_ = rule::none;
  std::string details_;
  std::array<agent_record, max_pods> agents_{};
  std::array<std::optional<world_time>, max_elections> made_way_{};  ///< last
  std::array<standstill, max_pods> standstills_{};
  of_each<running> running_{};
  of_each<core::time_point> armed_{};  ///< kill_at of what runs
  of_each<promises> promises_{};
  of_each<std::vector<removal>> removals_{};                 ///< oldest first
  std::array<core::version, max_elections> last_granted_{};  ///< since the last restore
  /// Up to here versions may have been given out twice.
  std::array<core::version, max_elections> given_twice_{};
  std::array<core::version, max_elections> highest_accepted_{};
};

}  // namespace tenure::sim
