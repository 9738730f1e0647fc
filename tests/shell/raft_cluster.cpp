#include "raft_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/sometimes.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// A leader without a quorum steps down, and the others elect another, after about a second each.
constexpr core::duration least_election = 900ms;
constexpr core::duration most_election = 2500ms;
/// After so long without a leader a watch that wants one is ended.
constexpr core::duration leaderless_patience = 3s;

}  // namespace

bool raft_cluster::has_quorum() const {
  std::size_t there = 0;
  for (std::size_t m = 0; m < most_members; ++m) there += well(m) ? 1 : 0;
  return there > most_members / 2;
}

bool raft_cluster::believes_to_lead(std::size_t m) const {
  return members_[m].up && world_.now < members_[m].leads_until && (!leads(m) || !led());
}

bool raft_cluster::has_replaced_leader() const {
  for (std::size_t m = 0; m < most_members; ++m) {
    const member& one = members_[m];
    const bool believes = one.frozen ? one.leads_until != world_time{} : believes_to_lead(m);
    if (one.up && believes && (!leads(m) || !led())) return true;
  }
  return false;
}

std::uint64_t raft_cluster::applied_by_all() const {
  std::uint64_t least = committed_;
  for (const member& one : members_) least = std::min(least, one.applied);
  return least;
}

void raft_cluster::propose(std::size_t m, std::move_only_function<std::uint64_t()> work,
                           std::move_only_function<void(bool)> done) {
  if (!led() || !well(m)) return done(false);
  world_.after(world_.dice.spread(50us, 4ms),
               [this, m, life = lives_, work = std::move(work), to = std::move(done)]() mutable {
                 if (!led() || !well(m) || life != lives_) return to(false);
                 when_applied(m, work(), [to = std::move(to)]() mutable { to(true); });
               });
}

void raft_cluster::when_applied(std::size_t m, std::uint64_t revision, world::task what) {
  member& at = members_[m];
  if (at.applied >= revision) return what();
  at.waiting.emplace(revision, std::move(what));
}

void raft_cluster::commit(std::uint64_t revision) {
  committed_ = revision;
  for (std::size_t m = 0; m < most_members; ++m) {
    if (well(m)) apply_later(m);
  }
}

void raft_cluster::apply_later(std::size_t m) {
  member& at = members_[m];
  const core::duration takes =
      leads(m) ? core::duration(1us)
               : world_.dice.spread(50us, 3ms) + world_.dice.between(core::duration{}, at.lag);
  at.applies_at = std::max(at.applies_at, world_.now + takes);
  world_.at(at.applies_at, [this, m, to = committed_, life = lives_] {
    if (well(m) && life == lives_) apply(m, to);
  });
}

void raft_cluster::apply(std::size_t m, std::uint64_t revision) {
  member& at = members_[m];
  if (revision <= at.applied) return;
  at.applied = revision;
  on_.applied(m);
  while (!at.waiting.empty() && at.waiting.begin()->first <= at.applied) {
    auto next = std::move(at.waiting.extract(at.waiting.begin()).mapped());
    next();
  }
}

/// `m` is not among the others any more. A leader goes on for a moment.
void raft_cluster::lost_quorum(std::size_t m) {
  member& at = members_[m];
  at.alone_since = world_.now;
  if (leads(m)) {
    at.leads_until = world_.now + world_.dice.between(least_election, most_election);
    if (on_.alone) on_.alone(m);
    elect_later();
  } else if (!has_quorum() && leader_ >= 0) {
    TENURE_SOMETIMES(model_leader_lost_its_quorum);
    member& leader = members_[static_cast<std::size_t>(leader_)];
    leader.alone_since = world_.now;
    leader.leads_until = world_.now + world_.dice.between(least_election, most_election);
    if (on_.alone) on_.alone(static_cast<std::size_t>(leader_));
    elect_later();
  }
  world_.after(leaderless_patience, [this, m, since = at.alone_since] {
    const member& still = members_[m];
    if (still.up && !still.frozen && !still.linked && still.alone_since == since) {
      on_.leaderless(m);
    }
  });
}

void raft_cluster::elect_later() {
  world_.after(world_.dice.between(least_election, most_election), [this] {
    if (led()) return;
    std::vector<std::size_t> able;
    for (std::size_t m = 0; m < most_members; ++m) {
      if (well(m)) able.push_back(m);
    }
    if (able.size() <= most_members / 2) return elect_later();
    elect(able[world_.dice.below(able.size())]);
  });
}

void raft_cluster::elect(std::size_t m) {
  leader_ = static_cast<int>(m);
  ++term_;
  on_.elected();
  for (std::size_t i = 0; i < most_members; ++i) {
    if (!well(i)) continue;
    members_[i].term = term_;
    members_[i].leads_until = {};
    apply_later(i);
  }
}

void raft_cluster::kill(std::size_t m) {
  member& at = members_[m];
  if (!at.up) return;
  on_.stopped(m);
  at.waiting.clear();
  at.inbox.clear();
  at.frozen = false;
  at.up = false;
  lost_quorum(m);
  at.leads_until = {};
}

void raft_cluster::start(std::size_t m) {
  if (halted_) return;
  members_[m].up = true;
  // A new process believes nothing.
  members_[m].leads_until = {};
  join(m);
}

void raft_cluster::freeze(std::size_t m) {
  member& at = members_[m];
  if (!at.up || at.frozen) return;
  at.frozen = true;
  lost_quorum(m);
}

/// First handles what arrived meanwhile, still believing what it believed before.
void raft_cluster::thaw(std::size_t m) {
  member& at = members_[m];
  if (!at.frozen) return;
  const bool replaced = !leads(m);
  if (at.leads_until != world_time{}) {
    at.leads_until = world_.now + world_.dice.spread(1ms, least_election);
  }
  at.frozen = false;
  // Until it has heard of the others again.
  const bool was_linked = std::exchange(at.linked, !replaced && at.linked);
  for (auto& one : std::exchange(at.inbox, {})) one();
  if (!was_linked || at.linked) {
    if (at.linked) join(m);
    return;
  }
  world_.after(world_.dice.spread(1ms, least_election), [this, m] {
    if (members_[m].up) join(m);
  });
}

void raft_cluster::cut_off(std::size_t m) {
  member& at = members_[m];
  if (!at.linked) return;
  at.linked = false;
  lost_quorum(m);
}

void raft_cluster::join(std::size_t m) {
  member& at = members_[m];
  at.linked = true;
  if (!well(m)) return;
  if (led()) {
    // If this is the leader, others may have come back before it, and hear of it now.
    for (std::size_t i = 0; i < most_members; ++i) {
      if (!well(i)) continue;
      if (!leads(i)) members_[i].leads_until = {};
      members_[i].term = term_;
      apply_later(i);
    }
  } else {
    elect_later();
  }
}

void raft_cluster::change_leader() {
  if (!led()) return;
  std::vector<std::size_t> others;
  for (std::size_t m = 0; m < most_members; ++m) {
    if (well(m) && !leads(m)) others.push_back(m);
  }
  if (!others.empty()) elect(others[world_.dice.below(others.size())]);
}

void raft_cluster::halt() {
  halted_ = true;
  for (std::size_t m = 0; m < most_members; ++m) kill(m);
}

void raft_cluster::begin_anew(std::uint64_t revision, std::uint64_t cluster_id) {
  constexpr std::uint64_t first_raft_term = 1;
  for (member& one : members_) {
    const bool linked = one.linked;
    const core::duration lag = one.lag;
    one = member();
    one.linked = linked;
    one.lag = lag;
    one.applied = revision;
    one.term = first_raft_term;
  }
  leader_ = -1;
  term_ = first_raft_term;
  committed_ = revision;
  cluster_id_ = cluster_id;
  ++lives_;
  halted_ = false;
  elect_later();
}

std::string raft_cluster::describe() const {
  return "raft term " + std::to_string(term_) + (led() ? ", led by " : ", was led by ") +
         std::to_string(leader_);
}

std::string raft_cluster::describe(std::size_t m) const {
  const member& one = members_[m];
  return std::string(one.up ? "" : "down ") + (one.linked ? "" : "alone ") +
         (one.frozen ? "frozen " : "") + "at " + std::to_string(one.applied) + " with " +
         std::to_string(one.waiting.size()) + " waiting";
}

}  // namespace tenure::shell
