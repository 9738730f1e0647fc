#include "scenario.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ambushes.hpp"
#include "cast.hpp"
#include "consul/consul_troubles.hpp"
#include "core/check.hpp"
#include "etcd/etcd_troubles.hpp"
#include "guarded_pod.hpp"
#include "hooked_workload.hpp"
#include "kubernetes/kubernetes_troubles.hpp"
#include "member.hpp"
#include "reader.hpp"
#include "sqlite/host_faults.hpp"
#include "sqlite/sqlite_host.hpp"
#include "support/seeds/seed_program.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// For the cluster to elect, the leases to run out and somebody to campaign, several times over.
constexpr core::duration patience = 30s;
constexpr int patience_in_ttls = 4;
/// A watch may be so far behind.
constexpr int ttls_behind = 5;
constexpr core::duration slack = 5s;
/// Between two looks of the judge.
constexpr core::duration between_looks = 100ms;
constexpr core::duration operator_looks_every = 4s;
/// Parts of a world draw from dice of their own, so that none changes what the others draw.
constexpr std::uint64_t salt_of_ambushes = 0xa3b1'57ce'0d42'9f68;
constexpr std::uint64_t salt_of_peers = 0x7065657273;
constexpr std::uint64_t salt_of_kubelet = 0x6b75'6265'6c65'7473;
constexpr std::uint64_t salt_of_cast = 0x5e1d'903a'c7b6'24f1;
constexpr std::uint64_t salt_of_release = 0x72656c65'61736573;
constexpr std::uint64_t salt_of_kinds = 0x9c0f'27d1'86e3'b45a;
constexpr std::uint64_t salt_of_mode = 0x3d61'e8a4'0f97'c25b;
/// A world with more steps than this has an endless loop.
constexpr std::uint64_t most_events = 3'000'000;

/// Consul's leaders need up to 2.5 s to find out that they are replaced (decision 34).
core::timing draw_timing(rng& dice, kept_in store) {
  const int least_ttl_s = store == kept_in::consul ? 6 : 2;
  const auto valid = core::resolve({.ttl = std::chrono::seconds(dice.between(least_ttl_s, 12)),
                                    .drain = dice.between(core::duration{}, 3s)});
  TENURE_CHECK(valid.has_value());
  return *valid;
}

class scenario {
 public:
  scenario(std::uint64_t seed, bool trace, kept_in store)
      : world_(seed),
        trace_(trace),
        judge_(world_, trace),
        servers_(make_servers(store, seed)),
        network_(world_, *servers_),
        stage_{.in = world_,
               .servers = *servers_,
               .network = network_,
               .referee = judge_,
               .when = draw_timing(world_.dice, store),
               .elections = {},
               .store = store},
        kubelet_(world_, seed ^ salt_of_kubelet),
        cast_(stage_, seed ^ salt_of_cast),
        kinds_dice_(seed ^ salt_of_kinds),
        kinds_(faults_here(), kinds_dice_),
        kinds_of_guards_(guard_faults, kinds_dice_),
        kinds_of_files_(file_faults, kinds_dice_) {
    store == kept_in::sqlite ? share_file() : plan_troubles(~seed);
    stage_.guarded = world_.dice.chance(650'000);
    stage_.guard_socket = stage_.guarded && world_.dice.chance(500'000);
    if (stage_.guarded && !stage_.guard_socket) {
      rng dice(seed ^ salt_of_mode);
      stage_.found = dice.chance(300'000);
      stage_.found_may_run = dice.chance(400'000);
    }
    if (stage_.guarded)
      guard_faults_ppm_ = 100'000 * (1 + static_cast<std::uint32_t>(world_.dice.below(9)));
    // A guard owns one workload.
    const auto elections = stage_.guarded ? 1 : 1 + world_.dice.below(3);
    for (std::size_t e = 0; e < elections; ++e)
      stage_.elections.push_back("db" + std::to_string(e));
    stage_.slots = world_.dice.chance(250'000) ? 2 : 1;
    judge_.begin(stage_.slots, stage_.when.lock_delay * 99 / 100, stage_.when.ttl * 101 / 100,
                 stage_.longest_order(), stage_.guarded);
    judge_.is_in = [this](std::size_t p, const std::string& which, std::uint64_t version) {
      return pods_[p]->agent && pods_[p]->agent->is_in(which, version);
    };
    judge_.lives_by_mistake = [this](std::size_t p, std::uint64_t version) {
      const pod& one = *pods_[p];
      if (one.hooked) return one.hooked->lives_by_mistake(one.well_since());
      return !one.guarded || one.guarded->lives_by_mistake(version);
    };
    judge_.outlives_news = [this](std::size_t p, std::uint64_t version, world_time heard_at) {
      const pod& one = *pods_[p];
      if (one.guarded) return one.guarded->outlives_news(version, heard_at);
      if (one.hooked) return one.hooked->outlives_news(one.well_since(), heard_at);
      return heard_at + one.machine.clock.takes(stage_.when.grace) + 1ms < world_.now;
    };
    judge_.is_left_alone = [this](std::size_t p) {
      return pods_[p]->hooked && pods_[p]->hooked->is_left_alone_for(stage_.when.ttl * 101 / 100);
    };
    judge_.well_since = [this](std::size_t p) { return pods_[p]->well_since(); };
    judge_.news_from = [this](std::size_t p, world_time by) { return network_.news_from(p, by); };
    judge_.guard_hangs = [this](std::size_t p) {
      return pods_[p]->guarded && pods_[p]->guarded->guard_hangs();
    };
    peers_ = std::make_unique<modelled_peers>(world_, network_, judge_, seed ^ salt_of_peers,
                                              stage_.when.ttl);
    if (store == kept_in::etcd) stage_.peers = peers_.get();
    cast_.draw();
    // Identities are the names of pods, and what runs is in its guard's container.
    if (stage_.guard_socket && !cast_.has_twins() && kubelet_.is_asked()) {
      stage_.kubelet = &kubelet_;
    }
    const std::size_t pods = 2 + world_.dice.below(most_pods - 1);
    for (std::size_t p = 0; p < pods; ++p) {
      pods_.push_back(std::make_unique<pod>(pod_machine{
          .number = p, .clock = draw_clock(), .checks_health = world_.dice.chance(500'000)}));
      const pod_machine& on = pods_.back()->machine;
      cast_.give_part(pods_.back()->machine);
      judge_.takes_part(on.identity, on.slots);
      start_readers(p);
      if (stage_.guarded) guard(p);
      if (stage_.hooked) pods_[p]->hooked = std::make_unique<hooked_workload>(stage_, on);
      world_.after(world_.dice.between(core::duration{}, 3s), [this, p] { open(p); });
    }
    ambushes_ = std::make_unique<ambushes>(stage_, seed ^ salt_of_ambushes, pods, hands(),
                                           [this](const std::string& what) { say(what); });
    judge_.on_grant = [this](std::size_t p, const std::string& which) {
      ambushes_->granted(p, which);
      if (troubles_) troubles_->granted(which);
    };
    troubled_ = world_.dice.between(core::duration(20s), 90s);
    faults_ = world_.dice.between(std::int64_t{3}, 60);
  }

  /// What is drawn of this world before it begins.
  [[nodiscard]] std::vector<std::string> traits() const {
    std::vector<std::string> out;
    const auto add = [&](bool is_so, const char* word) {
      if (is_so) out.emplace_back(word);
    };
    add(stage_.guarded, "guarded");
    add(stage_.guarded && guard_faults_ppm_ >= 500'000, "weak_guards");
    add(stage_.guard_socket, "guard_socket");
    add(stage_.guarded && !stage_.guard_socket && !stage_.found, "own_guard");
    add(stage_.kubelet != nullptr, "kubelet");
    add(stage_.found, "signal_mode");
    add(stage_.found && stage_.found_may_run, "runs_on_standby");
    add(stage_.hooked, "hooked");
    add(!stage_.guarded && !stage_.hooked, "bare");
    add(stage_.elections.size() > 1, "several_elections");
    add(stage_.slots > 1, "several_slots");
    add(pods_.size() == 2, "two_pods");
    add(pods_.size() > 3, "many_pods");
    add(std::ranges::any_of(pods_, [](const auto& p) { return p->machine.checks_health; }),
        "health");
    add(cast_.has_twins(), "twins");
    add(cast_.disagrees(), "disagreement");
    add(faults_ * 1s > troubled_, "dense");
    ambushes_->tell(out);
    if (troubles_) troubles_->tell(out);
    kinds_.tell(out);
    if (stage_.guarded) kinds_of_guards_.tell(out);
    if (host_) kinds_of_files_.tell(out);
    return out;
  }

  tests::seed_outcome run() {
    const world_time quiet = world_.now + troubled_;
    for (std::int64_t i = 0; i < faults_; ++i) {
      world_.at(world_.now + world_.dice.between(core::duration(3s), quiet - world_.now),
                [this, quiet] { fault(quiet); });
    }
    if (troubles_) troubles_->plan(quiet);
    ambushes_->plan(quiet);
    if (stage_.peers != nullptr) peers_->plan_forgeries(quiet);
    const world_time began = world_.now;
    describe_cast();
    look();
    go_until(quiet);
    mend();
    go_until(quiet + patience + patience_in_ttls * stage_.when.ttl +
             (store_is_kubernetes() ? stage_.longest_order() : core::duration{}));
    if (judge_.broken() == rule::none) check_end();
    if (!host_) say(servers_->describe());
    say(std::to_string(judge_.terms_entered()) + " terms");
    return {.broken = judge_.broken_name(),
            .details = judge_.details(),
            .simulated = world_.now - began,
            .events = world_.events,
            .fingerprint = world_.events * 31 + servers_->revision() + world_.dice.bits()};
  }

 private:
  std::unique_ptr<modelled_cluster> make_servers(kept_in store, std::uint64_t seed) {
    if (store == kept_in::consul) return std::make_unique<modelled_consul>(world_, judge_);
    if (store == kept_in::kubernetes) return std::make_unique<modelled_kubernetes>(world_, judge_);
    const bool is_old = rng(seed ^ salt_of_release).chance(500'000);
    return std::make_unique<modelled_etcd>(world_, judge_,
                                           is_old ? etcd_release::of_3_4 : etcd_release::of_3_6);
  }

  void plan_troubles(std::uint64_t seed) {
    const auto tell = [this](const std::string& what) { say(what); };
    stage_.promised = [this](std::int64_t id) { return servers_->promised(id); };
    if (stage_.store == kept_in::consul) {
      network_.hears = [this](std::size_t p, const std::string& target, world_time asked_at,
                              const http::client_reply& said) {
        hears_of_session(p, target, asked_at, said);
      };
      troubles_ = std::make_unique<consul_troubles>(
          stage_, dynamic_cast<modelled_consul&>(*servers_), seed, tell);
    } else if (stage_.store == kept_in::kubernetes) {
      troubles_ = std::make_unique<kubernetes_troubles>(
          stage_, dynamic_cast<modelled_kubernetes&>(*servers_), seed, tell);
    } else {
      troubles_ = std::make_unique<etcd_troubles>(stage_, dynamic_cast<modelled_etcd&>(*servers_),
                                                  seed, tell);
    }
    troubles_->operator_comes = [this] { accept_versions(); };
    troubles_->restored = [this] { ambushes_->restored(); };
    troubles_->holder_resigns = [this](const std::string& which) {
      if (const auto pod = judge_.pod_in_line(which, 0)) resign(*pod, which);
    };
  }

  void hears_of_session(std::size_t p, const std::string& target, world_time asked_at,
                        const http::client_reply& said) {
    constexpr std::string_view renewal = "/v1/session/renew/";
    if (said.status != 404 || !target.starts_with(renewal) || !pods_[p]->agent) return;
    pods_[p]->agent->hears_that_session_is_gone(target.substr(renewal.size()), asked_at);
  }

  struct pod {
    explicit pod(pod_machine with) : machine(with) {}

    /// What a client of its agent hears.
    [[nodiscard]] std::optional<std::uint64_t> answer(std::size_t election) const {
      if (!agent || paused) return std::nullopt;
      const auto active = agent->answer(election);
      return active ? core::number(*active) : 0;
    }
    /// Since when its agent has got its time.
    [[nodiscard]] world_time well_since() const {
      if (!agent || paused) return sim::world_never;
      if (!guarded) return machine.looked_on_from;
      const world_time able = guarded->agent_able_since();
      return able == sim::world_never ? able : std::max(able, machine.looked_on_from);
    }

    pod_machine machine;
    [[nodiscard]] owned_workload owned() const {
      return {.guarded = guarded.get(), .hooked = hooked.get()};
    }

    std::unique_ptr<guarded_pod> guarded;     ///< null: nobody guards its workload
    std::unique_ptr<hooked_workload> hooked;  ///< null: no hooks tell it
    std::unique_ptr<member> agent;
    bool paused = false;
    std::map<std::size_t, world_time> was_right_at{};  ///< what it shows, by election
    std::vector<std::unique_ptr<reader>> readers;
    std::uint32_t incarnation = 0;
  };

  void look() {
    judge_.look();
    for (const auto& one : pods_) {
      if (!one->agent) continue;
      one->agent->judge_losses();
      if (one->guarded && one->agent->is_in_term() && !one->guarded->agent_has_guard()) {
        judge_.broke(rule::holds_without_guard, "pod " + std::to_string(one->machine.number));
      }
    }
    world_.after(between_looks, [this] { look(); });
  }

  void describe_cast() const {
    for (const auto& one : pods_) {
      const pod_machine& on = one->machine;
      say("pod " + std::to_string(on.number) + " is " + on.identity + ", " +
          std::to_string(on.slots) + " slots" +
          (on.has_odd_guard() ? ", with another clock in its guard's container" : ""));
    }
  }

  /// In steps, so that a broken rule ends it.
  void go_until(world_time end) {
    while (world_.now < end && judge_.broken() == rule::none) {
      world_.run_until(std::min(end, world_.now + 1s));
      if (world_.events > most_events) judge_.broke(rule::busy_loop, "too many events");
      for (std::size_t p = 0; p < pods_.size(); ++p) restart_if_ended(p);
      check_watches();
    }
  }

  void share_file() {
    host_ = std::make_unique<sqlite_host>(
        world_, judge_, [this](const std::string& election, std::uint64_t version) {
          return stage_.judged(number_of(election), core::version{version});
        });
    stage_.host = host_.get();
    stage_.promised = [this](std::int64_t id) { return host_->rows().promised(id); };
  }

  [[nodiscard]] std::size_t number_of(const std::string& election) const {
    return static_cast<std::size_t>(std::ranges::find(stage_.elections, election) -
                                    stage_.elections.begin());
  }

  machine_clock draw_clock() {
    if (host_) return host_->clock();
    const core::duration offset = world_.dice.between(core::duration(1h), 1000h);
    return {offset, world_.dice.between(-sim::most_ppm_off, sim::most_ppm_off)};
  }

  void start_readers(std::size_t p) {
    const bool reads = !stage_.guarded && !stage_.hooked;
    for (std::size_t e = 0; reads && e < stage_.elections.size(); ++e) {
      pods_[p]->readers.push_back(
          std::make_unique<reader>(stage_, pods_[p]->machine, e, [this, one = pods_[p].get(), e] {
            auto said = one->answer(e);
            if (said) said = stage_.judged(e, core::version{*said});
            return said;
          }));
    }
  }

  /// A member that stays was told of the largest version in the lease file.
  [[nodiscard]] bool somebody_knows() const {
    return std::ranges::any_of(pods_, [this](const auto& one) {
      return one->agent && one->agent->stays() && one->agent->newest() >= host_->rows().newest();
    });
  }

  /// The machine that all pods of a lease file are on.
  void reboot() {
    for (const auto& one : pods_) {
      one->agent.reset();
      one->readers.clear();
      if (one->hooked) one->hooked->restart();
      if (one->guarded) one->guarded->vanish(world_.dice.between(core::duration{}, 3s));
      judge_.all_end(one->machine.number);
    }
    host_->reboot();
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      pods_[p]->machine.clock = host_->clock();
      start_readers(p);
      if (pods_[p]->guarded) {
        pods_[p]->guarded->boots();
      } else {
        world_.after(world_.dice.between(core::duration{}, 3s), [this, p] { start(p); });
      }
    }
  }

  void guard(std::size_t p) {
    pod& one = *pods_[p];
    one.guarded = std::make_unique<guarded_pod>(
        stage_, one.machine,
        agent_hooks{.begins = [this, p] { start(p); },
                    .pause = [this, p](bool on) { pause(p, on); },
                    .told_to_end =
                        [this, p](int signo) {
                          if (pods_[p]->agent) pods_[p]->agent->terminate(signo);
                        },
                    .dies = [this, p] { pods_[p]->agent.reset(); },
                    .shows =
                        [this, p] {
                          const auto& agent = pods_[p]->agent;
                          return agent ? agent->shown() : std::nullopt;
                        }},
        trace_);
  }

  void open(std::size_t p) {
    if (pods_[p]->guarded) return pods_[p]->guarded->open();
    start(p);
  }

  /// Kills the agent; another one comes after `away`.
  void kill_agent(std::size_t p, core::duration away) {
    if (pods_[p]->guarded) return pods_[p]->guarded->kill_agent(away);
    pods_[p]->agent.reset();
    world_.after(away, [this, p] { start(p); });
  }

  void start(std::size_t p) {
    pod& one = *pods_[p];
    if (one.agent) return;
    one.machine.looked_on_from = world_.now;
    one.paused = false;
    one.agent =
        std::make_unique<member>(stage_, one.machine, ++one.incarnation, one.owned(), trace_);
  }

  /// As the kubelet does with a container.
  void restart_if_ended(std::size_t p) {
    if (pods_[p]->guarded || !pods_[p]->agent || !pods_[p]->agent->ended()) return;
    say("pod " + std::to_string(p) + " has ended");
    pods_[p]->agent.reset();
    world_.after(world_.dice.spread(10ms, 3s), [this, p] { start(p); });
  }

  /// An operator who reads what the logs say, and does it, from now on.
  void accept_versions() {
    for (const auto& one : pods_) {
      for (std::size_t e = 0; one->agent && !one->paused && e < stage_.elections.size(); ++e) {
        if (!one->agent->is_held_back_by_versions(e)) continue;
        if (!one->agent->has_said_how_to_accept()) {
          judge_.broke(rule::silent_about_versions, "pod " + std::to_string(one->machine.number));
        }
        say("an operator accepts the versions of " + stage_.elections[e]);
        one->agent->order(e, {.what = core::order_action::set, .accept_versions = true});
      }
    }
    world_.after(operator_looks_every, [this] { accept_versions(); });
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
    const std::size_t s = dice.below(modelled_cluster::most_servers);
    const core::duration lasts =
        std::min(dice.spread(20ms, 3 * stage_.when.ttl), core::duration(quiet - world_.now));
    const std::string which = stage_.elections[dice.below(stage_.elections.size())];
    const std::string pod_name = " pod " + std::to_string(p);
    const std::string server_name = " server " + std::to_string(s) +
                                    (static_cast<int>(s) == servers_->leader() ? " (leader)" : "");
    const std::string for_long =
        " for " + std::to_string(std::chrono::duration<double>(lasts).count()) + " s";
    if (host_ && dice.chance(500'000)) {
      if (!dice.chance(50'000)) {
        return say(strike(stage_, kinds_of_files_, lasts, somebody_knows()) + for_long);
      }
      say("the machine boots");
      return reboot();
    }
    if (dice.chance(guard_faults_ppm_)) {
      // Some of them end an agent.
      if (!host_ || host_->file_knows()) {
        pods_[p]->guarded->fault(kinds_of_guards_, lasts);
      }
      return;
    }
    switch (kinds_.draw(dice)) {
      case fault_kind::cut_from_server:
        say("cut off" + pod_name + " from" + server_name + for_long);
        network_.cut(p, s);
        return world_.after(lasts, [this, p, s] { network_.heal(p, s); });
      case fault_kind::cut_off:
        say("cut off" + pod_name + " from all servers" + for_long);
        for (std::size_t i = 0; i < modelled_cluster::most_servers; ++i) network_.cut(p, i);
        return world_.after(lasts, [this, p] {
          for (std::size_t i = 0; i < modelled_cluster::most_servers; ++i) network_.heal(p, i);
        });
      case fault_kind::cut_one_way: {
        const bool to_server = dice.chance(500'000);
        say("cut off" + pod_name + (to_server ? " to" : " from") + server_name + ", one way" +
            for_long);
        network_.cut(p, s, to_server ? direction::to_server : direction::to_agent);
        return world_.after(lasts, [this, p, s] { network_.heal(p, s); });
      }
      case fault_kind::dials_fail:
        say("no new connection of" + pod_name + for_long);
        network_.refuse_dials(p, true);
        if (dice.chance(500'000)) network_.close_idle(p);
        return world_.after(lasts, [this, p] { network_.refuse_dials(p, false); });
      case fault_kind::slow:
        say("slow" + pod_name + " to" + server_name + for_long);
        network_.slow(p, s, dice.spread(10ms, stage_.when.ttl));
        return world_.after(lasts, [this, p, s] { network_.slow(p, s, 2ms); });
      case fault_kind::server_killed:
        say("killed" + server_name + for_long);
        servers_->kill(s);
        return world_.after(lasts, [this, s] { servers_->start(s); });
      case fault_kind::leader_frozen:
        if (stage_.store == kept_in::consul && servers_->leader() >= 0) return freeze_leader(quiet);
        [[fallthrough]];
      case fault_kind::server_frozen:
        say("frozen" + server_name + for_long);
        servers_->freeze(s);
        return world_.after(lasts, [this, s] { servers_->thaw(s); });
      case fault_kind::server_alone:
        say("cut off" + server_name + " from the others" + for_long);
        servers_->cut_off(s);
        return world_.after(lasts, [this, s] { servers_->join(s); });
      case fault_kind::server_lags:
        say("lags" + server_name + for_long);
        servers_->lag(s, dice.spread(10ms, stage_.when.ttl));
        return world_.after(lasts, [this, s] { servers_->lag(s, {}); });
      case fault_kind::leader_replaced:
        say("another leader");
        return servers_->change_leader();
      case fault_kind::compacted:
        say("compacted");
        return servers_->compact();
      case fault_kind::key_deleted:
        // A client whose server is behind hears of it late.
        if (dice.chance(500'000)) {
          for (std::size_t i = 0; i < modelled_cluster::most_servers; ++i) {
            servers_->lag(i, dice.spread(10ms, 2 * stage_.when.ttl));
          }
          world_.after(lasts, [this] {
            for (std::size_t i = 0; i < modelled_cluster::most_servers; ++i) servers_->lag(i, {});
          });
          say("all servers but the leader lag" + for_long);
        }
        say("an operator deletes a key of " + which);
        if (dice.chance(500'000)) {
          servers_->delete_one(which);
        } else {
          servers_->revoke_one(which);
        }
        return;
      case fault_kind::agent_paused:
        say("paused" + pod_name + for_long);
        pause_agent(p, true);
        return world_.after(lasts, [this, p] { pause_agent(p, false); });
      case fault_kind::pod_killed:
        say("killed" + pod_name + for_long);
        if (pods_[p]->guarded) return pods_[p]->guarded->vanish(lasts);
        if (pods_[p]->hooked) pods_[p]->hooked->restart();
        return kill_agent(p, lasts);
      case fault_kind::agent_killed:
        say("killed the agent alone of" + pod_name + for_long);
        return kill_agent(p, lasts);
      case fault_kind::agent_terminated:
        if (host_ && !host_->file_knows()) return;
        say("SIGTERM to the agent of" + pod_name);
        if (pods_[p]->agent) pods_[p]->agent->terminate(SIGTERM);
        return;
      case fault_kind::sick:
        say("sick is" + pod_name);
        pods_[p]->machine.sick_since = world_.now;
        return world_.at(world_.now + dice.between(lasts, quiet - world_.now),
                         [this, p] { pods_[p]->machine.sick_since.reset(); });
      case fault_kind::workload_ends:
        if (pods_[p]->hooked) {
          say("deaf is the workload of" + pod_name + for_long);
          return pods_[p]->hooked->go_deaf(lasts);
        }
        if (!pods_[p]->guarded) return;
        say("a workload ends in" + pod_name);
        return pods_[p]->guarded->end_workload();
      case fault_kind::clock_set:
        say("the wall clock is set in" + pod_name);
        pods_[p]->machine.wall_off += dice.between(core::duration(-10min), 10min);
        return;
      case fault_kind::asleep:
        say("asleep is the machine of" + pod_name + for_long);
        return suspend(p, lasts);
      case fault_kind::order:
        return order(p);
    }
  }

  [[nodiscard]] std::vector<named_kind<fault_kind>> faults_here() const {
    std::vector<named_kind<fault_kind>> out;
    const auto add = [&](std::span<const named_kind<fault_kind>> more, bool is_here) {
      if (is_here) out.insert(out.end(), more.begin(), more.end());
    };
    add(faults_of_servers, stage_.store != kept_in::sqlite);
    add(faults_of_pods, true);
    return out;
  }

  /// Nothing on the machine of this pod runs, and CLOCK_BOOTTIME goes on.
  void suspend(std::size_t sleeper, core::duration lasts) {
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      // All pods of a lease file are on one machine.
      if (p != sleeper && !host_) continue;
      world_.after(lasts, [this, p, lasts, from = world_.now] {
        pod_machine& on = pods_[p]->machine;
        // Else something that began on it, or went on, has woken it.
        if (on.looked_on_from <= from) on.asleep += lasts;
      });
      if (pods_[p]->guarded) {
        pods_[p]->guarded->stand_still(lasts);
        continue;
      }
      pause(p, true);
      world_.after(lasts, [this, p] { pause(p, false); });
    }
  }

  /// For longer than a TTL: what waits for it is answered when it goes on, by a leader of the past.
  void freeze_leader(world_time quiet) {
    const auto s = static_cast<std::size_t>(servers_->leader());
    const core::duration lasts = std::min(world_.dice.between(stage_.when.ttl, 3 * stage_.when.ttl),
                                          core::duration(quiet - world_.now));
    say("frozen server " + std::to_string(s) + " (leader) for longer than a ttl");
    servers_->freeze(s);
    world_.after(lasts, [this, s] { servers_->thaw(s); });
  }

  void pause_agent(std::size_t p, bool on) {
    pods_[p]->guarded ? pods_[p]->guarded->pause_agent(on) : pause(p, on);
  }

  void pause(std::size_t p, bool on) {
    pods_[p]->paused = on;
    // Nothing was checked meanwhile.
    pods_[p]->machine.looked_on_from = world_.now;
    if (!pods_[p]->agent) return;
    on ? pods_[p]->agent->pause() : pods_[p]->agent->go_on();
  }

  /// A person asks the agent of pod `p`, for its own member or for another one.
  void order(std::size_t p) {
    // Of twins nobody could say who is meant.
    if (!pods_[p]->agent || cast_.has_twins()) return;
    rng& dice = world_.dice;
    using action = core::order_action;
    const std::size_t other = dice.below(pods_.size());
    constexpr std::array all{action::resign, action::resign, action::transfer, action::pause,
                             action::resume};
    core::order what{.what = all[dice.below(all.size())]};
    // What others are told goes through the store, where an ambush waits.
    if (dice.chance(ambushes_->doubts() ? 750'000 : 250'000)) {
      what.member = identity_of(dice.below(pods_.size()));
    }
    if (what.what == action::transfer) what.heir = identity_of(other);
    if (what.what == action::resign) what.aside = dice.between(core::duration{}, 5s);
    say("order to pod " + std::to_string(p) + ": " + std::string(core::name(what.what)) + " " +
        what.member + " " + what.heir);
    const std::size_t e = dice.below(stage_.elections.size());
    // A stopped agent takes no order.
    if (!pods_[p]->paused) pods_[p]->agent->order(e, what);
    ambushes_->ordered();
  }

  void resign(std::size_t p, const std::string& which) {
    // Of twins nobody could say who is meant; a stopped agent takes no order.
    if (!pods_[p]->agent || pods_[p]->paused || cast_.has_twins()) return;
    say("pod " + std::to_string(p) + " is asked to give " + which + " up");
    pods_[p]->agent->order(number_of(which), {.what = core::order_action::resign});
  }

  hands_on_pods hands() {
    return {.resign = [this](std::size_t p, const std::string& which) { resign(p, which); },
            .kill_agent = [this](std::size_t p) { kill_agent(p, 1ms); },
            .freeze_guard =
                [this](std::size_t p, core::duration lasts) {
                  if (pods_[p]->guarded) pods_[p]->guarded->freeze_guard(lasts);
                }};
  }

  void mend() {
    say("all is well again");
    if (host_) host_->healed();
    if (troubles_) troubles_->mend();
    ambushes_->mend();
    for (std::size_t p = 0; p < pods_.size(); ++p) network_.refuse_dials(p, false);
    for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
      servers_->start(s);
      servers_->thaw(s);
      servers_->join(s);
      servers_->lag(s, {});
      for (std::size_t p = 0; p < pods_.size(); ++p) {
        network_.heal(p, s);
        network_.slow(p, s, 2ms);
      }
    }
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      pods_[p]->machine.sick_since.reset();
      if (pods_[p]->guarded) {
        pods_[p]->guarded->mend();
      } else {
        start(p);
        pause(p, false);
      }
      if (pods_[p]->hooked) pods_[p]->hooked->mend();
    }
    // Orders that were given before may still be on their way.
    world_.after(stage_.longest_order() + 1s, [this] { resume_all(); });
  }

  void resume_all() {
    for (const auto& one : pods_) {
      for (std::size_t e = 0; one->agent && e < stage_.elections.size(); ++e) {
        one->agent->order(e, {.what = core::order_action::resume, .member = one->machine.identity});
      }
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> holders_of(std::size_t election) const {
    if (host_) return host_->rows().holders(stage_.elections[election]);
    auto out = servers_->contenders(stage_.elections[election]);
    const std::size_t slots = judge_.slots_of(stage_.elections[election]);
    if (out.size() > slots) out.resize(slots);
    return out;
  }

  [[nodiscard]] bool store_is_kubernetes() const { return stage_.store == kept_in::kubernetes; }

  /// Members that do not agree on the number of slots may show the first holder alone.
  [[nodiscard]] bool is_true(std::size_t election, const pod_machine& on,
                             const std::vector<std::uint64_t>& shown,
                             const std::vector<std::uint64_t>& truth) const {
    if (store_is_kubernetes()) {
      return dynamic_cast<const modelled_kubernetes&>(*servers_).may_show(
          stage_.elections[election], on.identity, shown, on.looked_on_from);
    }
    if (judge_.is_told_by_first(stage_.elections[election], shown)) return true;
    if (!cast_.disagrees() || shown.empty() || truth.empty()) return shown == truth;
    return shown.front() == truth.front();
  }

  static std::string listed_versions(const std::vector<std::uint64_t>& all) {
    std::string out = "[";
    for (const std::uint64_t one : all) out += (out.size() > 1 ? " " : "") + std::to_string(one);
    return out + "]";
  }

  /// A watch that works may be behind, as servers lag and connections are slow; one that is behind
  /// for longer than all of that together has lost something, or does not work.
  void check_watches() {
    const core::duration bound = ttls_behind * stage_.when.ttl + slack;
    for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
      const auto truth = holders_of(e);
      const world_time changed_at = host_ ? host_->rows().changed_at(stage_.elections[e])
                                          : judge_.changed_at(stage_.elections[e]);
      for (const auto& one : pods_) {
        if (!one->agent || one->paused) continue;
        const auto& shown = one->agent->shown(e);
        const bool is_right = !shown || is_true(e, one->machine, *shown, truth);
        // Where holders run out for those who hear nothing, silence makes a wrong state.
        if (is_right && store_is_kubernetes()) one->was_right_at[e] = world_.now;
        const world_time from =
            std::max({changed_at, one->machine.looked_on_from, one->was_right_at[e]});
        if (is_right || world_.now - from <= bound) continue;
        judge_.broke(rule::shows_what_is_not,
                     stage_.elections[e] + ": pod " + std::to_string(one->machine.number) +
                         " shows another holder for too long: " + listed_versions(*shown) +
                         " instead of " + listed_versions(truth));
      }
    }
  }

  /// Checks first what the agents know: without knowledge an agent starts nothing.
  void check_end() {
    for (const std::string& name : stage_.elections) {
      const auto e = static_cast<std::size_t>(&name - stage_.elections.data());
      const auto truth = holders_of(e);
      for (const auto& one : pods_) {
        const auto shown = one->agent ? one->agent->shown(e) : std::nullopt;
        if (shown && is_true(e, one->machine, *shown, truth)) continue;
        judge_.broke(rule::shows_what_is_not, name + ": pod " +
                                                  std::to_string(one->machine.number) +
                                                  (shown        ? " shows another holder"
                                                   : one->agent ? " has no watch that works"
                                                                : " has no agent"));
      }
    }
    for (const std::string& name : stage_.elections) {
      const std::size_t agreed = judge_.agreed_slots(name);
      const std::size_t running = judge_.running(name);
      const std::size_t able = std::min(agreed, able_to_hold(agreed));
      // One that held before another number was agreed on goes on to hold; and so do twins that
      // have got a slot each before the store showed one to the other.
      const bool may_be_more = cast_.disagrees() || cast_.has_twins();
      if (running == able) continue;
      // Where an operator has made the number unreadable, each goes by its own until nobody holds.
      if (cast_.disagrees() && running > 0 && running < able) continue;
      if (may_be_more && running > able && running <= judge_.slots_of(name)) continue;
      judge_.broke(rule::no_holder,
                   name + ": " + std::to_string(judge_.running(name)) + " workloads run");
    }
    if (cast_.has_twins()) check_twins();
  }

  /// Those that may hold an election with so many slots, where all is well. A run that may not
  /// keeps its twin from it.
  [[nodiscard]] std::size_t able_to_hold(std::size_t slots) const {
    std::set<std::string> able;
    std::set<std::string> blocked;
    for (const auto& one : pods_) {
      const pod_machine& on = one->machine;
      (on.slots == slots && !on.has_odd_guard() ? able : blocked).insert(on.identity);
    }
    std::erase_if(able, [&](const std::string& one) { return blocked.contains(one); });
    return able.size();
  }

  /// Of two runs with one identity, both of which the store shows, one is told of the other.
  void check_twins() {
    const member* const first = pods_[0]->agent.get();
    const member* const second = pods_[1]->agent.get();
    if (first == nullptr || second == nullptr) return;
    if (!first->announces() || !second->announces()) return;
    for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
      if (first->is_told_of_twin(e) || second->is_told_of_twin(e)) continue;
      const auto listed =
          host_ ? std::nullopt : servers_->listed(stage_.elections[e], pods_[0]->machine.identity);
      if (listed && *listed < 2) continue;
      judge_.broke(rule::twin_unnoticed, stage_.elections[e]);
    }
  }

  world world_;
  bool trace_;
  std::uint32_t guard_faults_ppm_ = 0;
  core::duration troubled_{};  ///< from its beginning until all is well again
  std::int64_t faults_ = 0;
  judge judge_;
  std::unique_ptr<modelled_cluster> servers_;
  modelled_network network_;
  std::unique_ptr<modelled_peers> peers_;
  std::unique_ptr<sqlite_host> host_;  ///< null: there is none
  stage stage_;
  std::unique_ptr<store_troubles> troubles_;  ///< null: the store is SQLite
  modelled_kubelet kubelet_;
  cast cast_;
  rng kinds_dice_;
  swarm<fault_kind> kinds_;
  swarm<guard_fault> kinds_of_guards_;
  swarm<file_fault> kinds_of_files_;
  std::unique_ptr<ambushes> ambushes_;
  std::vector<std::unique_ptr<pod>> pods_;
};

}  // namespace

int run_worlds(kept_in store, const char* name, const char* replay_command, int argc, char** argv) {
  const auto run = [store](std::uint64_t seed, bool trace) {
    return scenario(seed, trace, store).run();
  };
  return tests::run_seed_program(
      {.name = name,
       .replay_command = replay_command,
       .usual_seeds = 10'000,
       .run = [run](std::uint64_t seed) { return run(seed, false); },
       .replay = [run](std::uint64_t seed, std::size_t) { return run(seed, true); },
       .traits = [store](std::uint64_t seed) { return scenario(seed, false, store).traits(); }},
      argc, argv);
}

}  // namespace tenure::shell
