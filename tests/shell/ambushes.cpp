#include "ambushes.hpp"

#include <string_view>
#include <utility>

#include "modelled_cluster.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t half = 500'000;
/// As the kinds are.
constexpr std::array<std::string_view, 6> names{"overtaken",    "doubted",     "stale_leader",
                                                "late_session", "slow_return", "late_guard"};
/// There is another leader by then.
constexpr core::duration longest_election = 2500ms;

}  // namespace

ambushes::ambushes(stage& s, std::uint64_t seed, std::size_t pods, hands_on_pods on,
                   std::function<void(const std::string&)> say)
    : stage_(s), dice_(seed), pods_(pods), on_(std::move(on)), say_(std::move(say)) {
  static_assert(names.size() == kinds);
  const bool has_servers = s.host == nullptr;
  draw(kind::overtaken, 150'000, has_servers);
  draw(kind::doubted, 150'000, has_servers);
  draw(kind::stale_leader, 60'000, s.store == kept_in::consul);
  draw(kind::late_session, 60'000, s.store == kept_in::consul);
  draw(kind::slow_return, 60'000, has_servers && s.guarded);
  draw(kind::late_guard, 150'000, has_servers && s.guard_socket);
}

void ambushes::draw(kind one, std::uint32_t ppm, bool is_possible) {
  has_[static_cast<std::size_t>(one)] = dice_.chance(ppm) && is_possible;
}

void ambushes::tell(std::vector<std::string>& traits) const {
  for (std::size_t i = 0; i < kinds; ++i) {
    if (has_[i]) traits.emplace_back(names[i]);
  }
}

void ambushes::plan(world_time quiet) {
  const auto several = [&](kind one, std::int64_t least, const std::function<void()>& what) {
    for (auto times = has(one) ? dice_.between(least, std::int64_t{6}) : 0; times > 0; --times) {
      stage_.in.after(dice_.between(core::duration{}, quiet - stage_.in.now), what);
    }
  };
  several(kind::overtaken, 2, [this] { is_overtaken_[dice_.below(pods_)] = true; });
  several(kind::stale_leader, 2, [this] { replace_leader_of_holder(); });
  several(kind::late_session, 2, [this] { renew_late(); });
  several(kind::slow_return, 2, [this] { return_slowly(); });
}

void ambushes::granted(std::size_t pod, const std::string& which) {
  if (std::exchange(is_overtaken_[pod], false)) overtake(pod, which);
}

const std::string& ambushes::any_election() {
  return stage_.elections[dice_.below(stage_.elections.size())];
}

/// The answer to the campaign is late, and an operator deletes the key before it comes: the watch
/// is faster.
void ambushes::overtake(std::size_t pod, const std::string& which) {
  const core::duration late = dice_.spread(10ms, stage_.when.try_timeout());
  say_("the answer to pod " + std::to_string(pod) + " is late, and an operator deletes a key of " +
       which);
  stage_.network.answer_late(pod, "txn", late);
  stage_.in.after(late, [this, pod] { stage_.network.answer_late(pod, "txn", {}); });
  stage_.in.after(dice_.spread(1ms, late), [this, which] { stage_.servers.delete_one(which); });
}

/// The member that is told answers in the store, and hears no more of that in the time that an
/// order has: its watch alone shows that its answer counts.
void ambushes::ordered() {
  if (!doubts() || !dice_.chance(800'000)) return;
  say_("nobody hears whether an answer to it counts");
  answer_all_late(stage_.longest_order() + 1s);
  stage_.in.after(dice_.spread(5ms, 1s), [this] { answer_all_late({}); });
}

void ambushes::answer_all_late(core::duration by) {
  const char* const target = stage_.store == kept_in::kubernetes ? "/leases/" : "txn";
  for (std::size_t p = 0; p < pods_; ++p) stage_.network.answer_late(p, target, by);
}

/// This pod reaches no other server; `most_servers`: none at all.
void ambushes::isolate(std::size_t pod, std::size_t server) {
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
    if (s != server) stage_.network.cut(pod, s);
  }
}

void ambushes::heal(std::size_t pod) {
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) stage_.network.heal(pod, s);
}

/// The holder reaches the leader alone, which stands still until another one is elected and the
/// holder's key is gone. What it is asked meanwhile it answers when it goes on.
void ambushes::replace_leader_of_holder() {
  const std::string& which = any_election();
  const auto pod = stage_.referee.pod_in_line(which, 0);
  if (!pod || stage_.servers.leader() < 0) return;
  const auto leader = static_cast<std::size_t>(stage_.servers.leader());
  say_("pod " + std::to_string(*pod) + ", which holds " + which + ", reaches server " +
       std::to_string(leader) + " alone, a leader that is going to be replaced");
  isolate(*pod, leader);
  const core::duration frozen_after = dice_.spread(1ms, stage_.when.ttl / 2);
  const core::duration deleted_after = frozen_after + longest_election + dice_.spread(1ms, 1s);
  const core::duration thawed_after = deleted_after + dice_.spread(50ms, stage_.when.ttl / 2);
  stage_.in.after(frozen_after, [this, leader] { stage_.servers.freeze(leader); });
  stage_.in.after(deleted_after, [this, leader, which] {
    if (stage_.servers.leader() != static_cast<int>(leader)) stage_.servers.delete_one(which);
  });
  stage_.in.after(thawed_after, [this, leader] { stage_.servers.thaw(leader); });
  stage_.in.after(thawed_after + 1s, [this, p = *pod] { heal(p); });
}

/// A pod that waits asks the leader alone to keep its session, which stands still until that may
/// have ended, and answers as it knew when it goes on. The lease is free then.
void ambushes::renew_late() {
  const std::string& which = any_election();
  const std::size_t pod = dice_.below(pods_);
  if (stage_.servers.leader() < 0) return;
  const auto leader = static_cast<std::size_t>(stage_.servers.leader());
  say_("pod " + std::to_string(pod) + " is going to renew its session late");
  isolate(pod, leader);
  stage_.in.after(dice_.spread(1ms, stage_.when.ttl / 2), [this, pod, leader, which] {
    stage_.servers.freeze(leader);
    const core::duration lasts = dice_.between(stage_.when.ttl * 3 / 4, stage_.when.ttl * 7 / 4);
    stage_.in.after(lasts - dice_.spread(1ms, 1s),
                    [this, which] { stage_.servers.revoke_one(which); });
    stage_.in.after(lasts, [this, pod, leader] {
      stage_.servers.thaw(leader);
      heal(pod);
    });
  });
}

void ambushes::return_slowly() {
  const std::string& which = any_election();
  const auto pod = stage_.referee.pod_in_line(which, 0);
  if (!pod) return;
  say_("the agent of pod " + std::to_string(*pod) + " is killed while it gives " + which +
       " up, and comes back over slow connections");
  on_.resign(*pod, which);
  stage_.in.after(dice_.spread(1ms, 300ms), [this, p = *pod] {
    on_.kill_agent(p);
    const core::duration most = dice_.spread(100ms, stage_.when.ttl);
    for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
      stage_.network.slow(p, s, most);
    }
    stage_.in.after(2 * stage_.when.ttl, [this, p] {
      for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
        stage_.network.slow(p, s, 2ms);
      }
    });
  });
}

/// What the guard knows of versions is the only thing that the agent could hear of.
void ambushes::restored() {
  if (!has(kind::late_guard)) return;
  for (std::size_t p = 0; p < pods_; ++p) {
    if (!dice_.chance(half)) continue;
    say_("the agent of pod " + std::to_string(p) + " comes back, and its guard stands still");
    on_.freeze_guard(p, dice_.between(core::duration(2s), 8s));
    on_.kill_agent(p);
  }
}

void ambushes::mend() {
  is_overtaken_ = {};
  answer_all_late({});
}

}  // namespace tenure::shell
