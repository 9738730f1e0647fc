#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/session.hpp"
#include "message.hpp"
#include "mix.hpp"
#include "virtual_time.hpp"

/// Who watches the rules of the guarantee. Does its own arithmetic: that of the code under test
/// is part of what it judges.
namespace tenure::sim {

/// What must never happen.
enum class rule : std::uint8_t {
  none,
  too_many_running,        ///< more workloads run than there are slots
  too_many_claims,         ///< more members say that they hold than there are slots
  version_not_larger,      ///< a change of holder without a larger version
  version_went_back,       ///< a workload starts under a version older than its agent has seen
  holder_fenced_out,       ///< the resource refuses the present holder
  released_while_running,  ///< a lease is given up while its workload may run
  armed_beyond_promise,    ///< the guard's deadline is later than what the store promised
  armed_after_stop_at,     ///< an answer that arrived after stop_at was believed
  stopped_without_cause,   ///< a term ends although nothing has happened to it
  killed_without_cause,    ///< the guard ends a workload that it should let run
  claim_beyond_lease,      ///< "I hold" after stop_at
  campaign_in_shutdown,
  started_late,            ///< a start is ordered at stop_at or later
  started_over_previous,   ///< a start is ordered before the previous workload is gone
  campaign_over_previous,  ///< the lease is asked for while the previous workload may run
  busy_loop,
  no_holder,    ///< everything is well again, and still a slot is empty
  did_not_end,  ///< an agent that was told to end is still there
};

const char* name(rule r);

class referee {
 public:
  explicit referee(const mix& m) : mix_(m) {}

  [[nodiscard]] rule broken() const { return broken_; }
  /// Of the broken rule: which pod and election, when.
  [[nodiscard]] const std::string& details() const { return details_; }
  void violated(rule what, world_time now, std::size_t pod, std::size_t election);

  // --- the store -----------------------------------------------------------------------------

  /// A change of holder. `moved_back`: a backup was restored since the last one.
  void granted(world_time now, std::size_t election, std::size_t pod, core::version term,
               bool moved_back);
  /// Nobody else is granted this slot before `until`, unless an operator interferes.
  void promised(std::size_t election, std::size_t pod, core::version term, world_time until);
  void removed_by_operator(world_time now, std::size_t election, std::size_t pod,
                           core::version term);

  // --- what reaches an agent -----------------------------------------------------------------

  void agent_began(std::size_t pod, const core::session* machine, machine_clock clock);
  void agent_ended(std::size_t pod) { agents_[pod].machine = nullptr; }
  /// A candidate is granted `term`.
  void began_term(std::size_t pod, std::size_t election, core::version term);
  /// The answer to an acquire or a renewal. `in_time`: it must be believed.
  void acknowledged(world_time now, std::size_t pod, std::size_t election, core::version term,
                    core::time_point sent_at, core::duration ttl, bool in_time);
  void saw_version(std::size_t pod, std::size_t election, core::version seen);
  /// The store's own word that `term` is over.
  void told_lost(world_time now, std::size_t pod, std::size_t election, core::version term);
  void asked(std::size_t pod, std::size_t election, core::loss_reason why);
  /// What it would answer now must be true.
  void check_claim(world_time now, std::size_t pod, std::size_t election);

  // --- what an agent does --------------------------------------------------------------------

  void stepped(world_time now, std::size_t pod);
  void campaigns(world_time now, std::size_t pod, std::size_t election, bool may_run);
  void releases(world_time now, std::size_t pod, std::size_t election, bool may_run);
  void arms(world_time now, std::size_t pod, std::size_t election, core::version term,
            core::time_point kill_at);
  void starts(world_time now, std::size_t pod, std::size_t election, core::version term,
              bool may_run);
  void changes(world_time now, std::size_t pod, std::size_t election,
               const core::command::transition& how);

  // --- workloads -----------------------------------------------------------------------------

  /// `kill_takes`: from SIGKILL to the end of its last process. `was_frozen`: the
  /// order to start it was under way while the pod stood still.
  void workload_began(world_time now, std::size_t pod, std::size_t election, core::version term,
                      core::duration kill_takes, bool was_frozen);
  void workload_ended(std::size_t pod, std::size_t election);
  /// The whole pod stands still: only versions protect the resource from now on.
  void froze(std::size_t pod, bool frozen);
  /// A write to the protected resource, which knows the highest version that it has accepted.
  void wrote(world_time now, std::size_t pod, std::size_t election, core::version term,
             bool is_holder, bool moved_back);

  [[nodiscard]] bool runs(std::size_t pod, std::size_t election) const {
    return running_[pod][election].alive;
  }
  [[nodiscard]] bool claims(world_time now, std::size_t pod, std::size_t election) const;

 private:
  /// What an agent has been told about its newest term.
  struct ledger {
    core::version term = core::no_version;
    core::version seen = core::no_version;
    core::time_point must_stop_at{};  ///< no earlier: the answers that must be believed
    core::time_point may_stop_at{};   ///< no later: all answers
    bool lost = false;
    bool regressed = false;
    std::uint32_t asked = 0;  ///< a bit for each `loss_reason`
  };
  struct agent_record {
    const core::session* machine = nullptr;
    machine_clock clock;
    bool frozen = false;
    world_time window{};
    std::uint32_t steps = 0;  ///< since `window`
    std::array<ledger, max_elections> of{};
  };
  struct running {
    bool alive = false;
    bool was_frozen = false;
    core::version term = core::no_version;
    core::duration kill_takes{};
  };
  struct promise {
    core::version term = core::no_version;
    world_time until{};
  };
  struct removal {
    core::version term = core::no_version;
    world_time at{};
    world_time news = world_never;  ///< when the agent heard of it
  };

  /// The newest removal of this term; null if no operator has touched it.
  [[nodiscard]] const removal* removed(std::size_t pod, std::size_t election,
                                       core::version term) const;
  [[nodiscard]] bool excused(std::size_t pod, std::size_t election) const;
  [[nodiscard]] std::size_t count_claims(world_time now, std::size_t election,
                                         std::size_t but_for) const;
  [[nodiscard]] core::duration stop_after(core::duration ttl) const;
  template <class T>
  using of_each = std::array<std::array<T, max_elections>, max_pods>;

  const mix& mix_;
  rule broken_ = rule::none;
  std::string details_;
  std::array<agent_record, max_pods> agents_{};
  of_each<running> running_{};
  of_each<promise> promises_{};
  of_each<std::vector<removal>> removals_{};  ///< oldest first
  std::array<core::version, max_elections> last_granted_{};
  std::array<core::version, max_elections> highest_accepted_{};
};

}  // namespace tenure::sim
