#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "world.hpp"

namespace tenure::shell {

/// The members of a modelled store, etcd or Consul: who runs, who reaches whom, who leads in which
/// raft term, and up to which revision each has applied the one history. Does not know the keys.
///
/// A leader that was cut off or stopped believes in its old term until it notices. A member cannot
/// lose what it has confirmed.
class raft_cluster {
 public:
  static constexpr std::size_t most_members = 3;

  /// What others do when something happens to a member.
  struct handlers {
    std::function<void(std::size_t)> applied;     ///< it has applied more
    std::function<void(std::size_t)> stopped;     ///< its process ends
    std::function<void(std::size_t)> leaderless;  ///< it has been alone for a while
    std::function<void()> elected;                ///< there is a new leader
    std::function<void(std::size_t)> alone{};  ///< this leader does not reach the others any more
  };

  raft_cluster(world& in, handlers on) : world_(in), on_(std::move(on)) {}

  // What is true.
  [[nodiscard]] bool up(std::size_t m) const { return members_[m].up; }
  [[nodiscard]] bool frozen(std::size_t m) const { return members_[m].frozen; }
  /// It runs and reaches the others.
  [[nodiscard]] bool well(std::size_t m) const {
    return members_[m].up && members_[m].linked && !members_[m].frozen;
  }
  [[nodiscard]] bool led() const {
    return leader_ >= 0 && has_quorum() && well(static_cast<std::size_t>(leader_));
  }
  [[nodiscard]] int leader() const { return leader_; }
  [[nodiscard]] bool leads(std::size_t m) const { return static_cast<int>(m) == leader_; }
  /// It has been replaced as leader, and has not noticed yet.
  [[nodiscard]] bool believes_to_lead(std::size_t m) const;
  /// Some leader that was replaced may still answer as one, at once or when it goes on.
  [[nodiscard]] bool has_replaced_leader() const;
  /// Since when such a leader has not heard from the others.
  [[nodiscard]] world_time alone_since(std::size_t m) const { return members_[m].alone_since; }
  [[nodiscard]] std::uint64_t term(std::size_t m) const { return members_[m].term; }
  [[nodiscard]] std::uint64_t applied(std::size_t m) const { return members_[m].applied; }
  /// The revision that all members have applied.
  [[nodiscard]] std::uint64_t applied_by_all() const;
  /// For the trace of one seed.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string describe(std::size_t m) const;

  // What a request does.
  /// Through the leader, if `m` reaches it: `work` at the leader, which returns a revision, then
  /// `applied` at `m` once that has applied it. `failed`, at once or later: it was not done.
  void propose(std::size_t m, std::move_only_function<std::uint64_t()> work,
               std::move_only_function<void(bool)> done);
  /// The history has grown to this revision.
  void commit(std::uint64_t revision);
  /// Calls `what` when this frozen member goes on; never if it is killed before.
  void when_thawed(std::size_t m, world::task what) {
    members_[m].inbox.push_back(std::move(what));
  }

  // What goes wrong.
  void kill(std::size_t m);
  void start(std::size_t m);
  void freeze(std::size_t m);
  void thaw(std::size_t m);
  void cut_off(std::size_t m);  ///< from the other members
  void join(std::size_t m);
  void lag(std::size_t m, core::duration by) { members_[m].lag = by; }
  void change_leader();

  /// All members stop, to be restored from a backup: `start` does nothing until that is done.
  void halt();
  /// They start with a history up to this revision, as a cluster of this id whose raft terms begin
  /// anew.
  void begin_anew(std::uint64_t revision, std::uint64_t cluster_id);
  [[nodiscard]] bool halted() const { return halted_; }
  [[nodiscard]] std::uint64_t cluster_id() const { return cluster_id_; }

 private:
  struct member {
    bool up = true;
    bool linked = true;
    bool frozen = false;
    std::uint64_t applied = 1;
    std::uint64_t term = 2;
    core::duration lag{};
    world_time applies_at{};   ///< the newest one under way
    world_time leads_until{};  ///< by its own belief, against the truth
    world_time alone_since{};
    std::multimap<std::uint64_t, world::task> waiting;  ///< for a revision to be applied
    std::deque<world::task> inbox;                      ///< while it is frozen
  };

  [[nodiscard]] bool has_quorum() const;
  void when_applied(std::size_t m, std::uint64_t revision, world::task what);
  void apply_later(std::size_t m);
  void apply(std::size_t m, std::uint64_t revision);
  void lost_quorum(std::size_t m);
  void elect_later();
  void elect(std::size_t m);

  world& world_;
  handlers on_;
  std::array<member, most_members> members_;
  int leader_ = 0;
  std::uint64_t term_ = 2;
  std::uint64_t committed_ = 1;
  std::uint64_t cluster_id_ = 0xc1;
  std::uint64_t lives_ = 1;  ///< of the cluster: one more with every restore
  bool halted_ = false;
};

}  // namespace tenure::shell
