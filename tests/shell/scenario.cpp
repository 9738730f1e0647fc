#include "scenario.hpp"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "member.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// For the cluster to elect, the leases to run out and somebody to campaign, several times over.
constexpr core::duration patience = 30s;
constexpr int patience_in_ttls = 4;
/// A world that does so much has a loop in it.
constexpr std::uint64_t most_events = 3'000'000;

core::timing draw_timing(rng& dice) {
  const auto valid = core::resolve({.ttl = std::chrono::seconds(dice.between(2, 12)),
                                    .drain = dice.between(core::duration{}, 3s)});
  TENURE_CHECK(valid.has_value());
  return *valid;
}

class scenario {
 public:
  scenario(std::uint64_t seed, bool trace)
      : world_(seed),
        trace_(trace),
        judge_(world_, trace),
        servers_(world_, judge_),
        network_(world_, servers_),
        stage_{.in = world_,
               .servers = servers_,
               .network = network_,
               .referee = judge_,
               .when = draw_timing(world_.dice),
               .elections = {}} {
    const auto elections = 1 + world_.dice.below(3);
    for (std::size_t e = 0; e < elections; ++e)
      stage_.elections.push_back("db" + std::to_string(e));
    pods_.resize(2 + world_.dice.below(most_pods - 1));
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      pods_[p].clock = machine_clock(world_.dice.between(core::duration(1h), 1000h),
                                     world_.dice.between(-sim::most_ppm_off, sim::most_ppm_off));
      for (const std::string& name : stage_.elections) {
        pods_[p].workloads.push_back(std::make_unique<workload>(stage_, pods_[p].clock, p, name));
      }
      world_.after(world_.dice.between(core::duration{}, 3s), [this, p] { start(p); });
    }
  }

  tests::seed_outcome run() {
    const world_time quiet = world_.now + world_.dice.between(core::duration(20s), 90s);
    const auto faults = world_.dice.between(std::int64_t{2}, 40);
    for (std::int64_t i = 0; i < faults; ++i) {
      world_.at(world_.now + world_.dice.between(core::duration(3s), quiet - world_.now),
                [this, quiet] { fault(quiet); });
    }
    const world_time began = world_.now;
    go_until(quiet);
    mend();
    go_until(quiet + patience + patience_in_ttls * stage_.when.ttl);
    if (judge_.broken() == rule::none) check_end();
    say(servers_.describe());
    say(std::to_string(judge_.terms_entered()) + " terms");
    return {.broken = judge_.broken() == rule::none ? "" : name(judge_.broken()),
            .details = judge_.details(),
            .simulated = world_.now - began,
            .events = world_.events,
            .fingerprint = world_.events * 31 + servers_.revision() + world_.dice.bits()};
  }

 private:
  struct pod {
    machine_clock clock;
    std::vector<std::unique_ptr<workload>> workloads;
    std::unique_ptr<member> agent;
    std::uint32_t incarnation = 0;
  };

  /// In steps, so that a broken rule ends it.
  void go_until(world_time end) {
    while (world_.now < end && judge_.broken() == rule::none) {
      world_.run_until(std::min(end, world_.now + 1s));
      if (world_.events > most_events) judge_.broke(rule::busy_loop, "too many events");
    }
  }

  void start(std::size_t p) {
    pod& one = pods_[p];
    if (one.agent) return;
    one.agent = std::make_unique<member>(stage_, one.clock, p, ++one.incarnation, one.workloads);
  }

  void say(const std::string& what) const {
    if (!trace_) return;
    std::printf("%9.3f %s\n",
                std::chrono::duration<double>(world_.now.time_since_epoch() - 1h).count(),
                what.c_str());
  }

  void fault(world_time quiet) {
    rng& dice = world_.dice;
    const std::size_t p = dice.below(pods_.size());
    const std::size_t s = dice.below(modelled_etcd::most_servers);
    const core::duration lasts =
        std::min(dice.spread(20ms, 3 * stage_.when.ttl), core::duration(quiet - world_.now));
    const std::string which = stage_.elections[dice.below(stage_.elections.size())] + "/";
    const std::string pod_name = " pod " + std::to_string(p);
    const std::string server_name = " server " + std::to_string(s) +
                                    (static_cast<int>(s) == servers_.leader() ? " (leader)" : "");
    const std::string for_long =
        " for " + std::to_string(std::chrono::duration<double>(lasts).count()) + " s";
    switch (dice.below(18)) {
      case 0:
        say("cut off" + pod_name + " from" + server_name + for_long);
        network_.cut(p, s);
        return world_.after(lasts, [this, p, s] { network_.heal(p, s); });
      case 1:
        say("cut off" + pod_name + " from all servers" + for_long);
        for (std::size_t i = 0; i < modelled_etcd::most_servers; ++i) network_.cut(p, i);
        return world_.after(lasts, [this, p] {
          for (std::size_t i = 0; i < modelled_etcd::most_servers; ++i) network_.heal(p, i);
        });
      case 2:
        say("slow" + pod_name + " to" + server_name + for_long);
        network_.slow(p, s, dice.spread(10ms, stage_.when.ttl));
        return world_.after(lasts, [this, p, s] { network_.slow(p, s, 2ms); });
      case 3:
        say("killed" + server_name + for_long);
        servers_.kill(s);
        return world_.after(lasts, [this, s] { servers_.start(s); });
      case 4:
      case 5:
        say("frozen" + server_name + for_long);
        servers_.freeze(s);
        return world_.after(lasts, [this, s] { servers_.thaw(s); });
      case 6:
      case 7:
        say("cut off" + server_name + " from the others" + for_long);
        servers_.cut_off(s);
        return world_.after(lasts, [this, s] { servers_.join(s); });
      case 8:
        say("lags" + server_name + for_long);
        servers_.lag(s, dice.spread(10ms, stage_.when.ttl));
        return world_.after(lasts, [this, s] { servers_.lag(s, {}); });
      case 9:
        say("another leader");
        return servers_.change_leader();
      case 10:
        say("compacted");
        return servers_.compact();
      case 11:
      case 12:
        // Who follows the cluster by a server that is behind hears of it late.
        if (dice.chance(500'000)) {
          for (std::size_t i = 0; i < modelled_etcd::most_servers; ++i) {
            servers_.lag(i, dice.spread(10ms, 2 * stage_.when.ttl));
          }
          world_.after(lasts, [this] {
            for (std::size_t i = 0; i < modelled_etcd::most_servers; ++i) servers_.lag(i, {});
          });
          say("all servers but the leader lag" + for_long);
        }
        say("an operator deletes a key of " + which);
        if (dice.chance(500'000)) {
          servers_.delete_one(which);
        } else {
          servers_.revoke_one(which);
        }
        return;
      case 13:
        say("paused" + pod_name + for_long);
        if (pods_[p].agent) pods_[p].agent->pause();
        return world_.after(lasts, [this, p] {
          if (pods_[p].agent) pods_[p].agent->go_on();
        });
      case 14:
        say("killed" + pod_name + for_long);
        pods_[p].agent.reset();
        for (const auto& one : pods_[p].workloads) one->vanish();
        return world_.after(lasts, [this, p] { start(p); });
      default:
        if (dice.chance(500'000)) {
          say("a workload ends in" + pod_name);
          pods_[p].workloads[dice.below(pods_[p].workloads.size())]->exit();
        } else if (pods_[p].agent && pods_[p].agent->opened()) {
          say("resigns" + pod_name);
          pods_[p].agent->resign(dice.below(stage_.elections.size()),
                                 dice.between(core::duration{}, 3s));
        }
        return;
    }
  }

  void mend() {
    say("all is well again");
    for (std::size_t s = 0; s < modelled_etcd::most_servers; ++s) {
      servers_.start(s);
      servers_.thaw(s);
      servers_.join(s);
      servers_.lag(s, {});
      for (std::size_t p = 0; p < pods_.size(); ++p) {
        network_.heal(p, s);
        network_.slow(p, s, 2ms);
      }
    }
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      start(p);
      pods_[p].agent->go_on();
    }
  }

  /// What everybody knows first: who knows nothing starts nothing.
  void check_end() {
    for (const std::string& name : stage_.elections) {
      const auto e = static_cast<std::size_t>(&name - stage_.elections.data());
      auto truth = servers_.contenders(name + "/");
      if (truth.size() > 1) truth.resize(1);
      for (const pod& one : pods_) {
        const auto shown = one.agent->shown(e);
        if (shown && *shown == truth) continue;
        judge_.broke(rule::shows_what_is_not,
                     name + (shown ? ": another holder" : ": the watch does not work"));
      }
    }
    for (const std::string& name : stage_.elections) {
      if (judge_.running(name) == 1) continue;
      judge_.broke(rule::no_holder,
                   name + ": " + std::to_string(judge_.running(name)) + " workloads run");
    }
  }

  world world_;
  bool trace_;
  judge judge_;
  modelled_etcd servers_;
  modelled_network network_;
  stage stage_;
  std::vector<pod> pods_;
};

}  // namespace

tests::seed_outcome run_seed(std::uint64_t seed, bool trace) {
  return scenario(seed, trace).run();
}

}  // namespace tenure::shell
