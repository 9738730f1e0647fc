#include "world.hpp"

#include <vector>

#include "faults.hpp"
#include "network.hpp"
#include "pod.hpp"
#include "stage.hpp"
#include "store.hpp"

namespace tenure::sim {
namespace {

/// Of all pods together.
constexpr std::uint32_t most_events_per_second = 100'000;

class world {
 public:
  world(const mix& m, rng& dice, trace* tracer)
      : stage_(m, dice, tracer),
        network_(stage_),
        store_(m.family == store_family::record ? make_record_store(stage_, network_)
                                                : make_expiring_store(stage_, network_)),
        pods_(make_pods()),
        faults_(stage_, network_, *store_, pods_) {
    stage_.after(m.faulty, {.what = happening::quiet_begins});
    stage_.after(m.faulty + m.quiet, {.what = happening::run_ends});
  }

  outcome run() {
    outcome result;
    while (!over_ && stage_.judge.broken() == rule::none) {
      const entry e = stage_.events.take();
      stage_.now = e.at;
      ++result.events;
      count(e.at);
      mix_in(result.fingerprint, e);
      happen(e);
    }
    result.simulated = stage_.now.time_since_epoch();
    result.broken = stage_.judge.broken();
    result.details = stage_.judge.details();
    return result;
  }

 private:
  std::vector<pod> make_pods() {
    std::vector<pod> pods;
    for (std::uint8_t p = 0; p < stage_.drawn.pods; ++p) pods.emplace_back(stage_, network_, p);
    return pods;
  }

  /// Counts the steps of all agents, to find loops in which several take part.
  void count(world_time at) {
    if (at - second_ >= std::chrono::seconds(1)) {
      second_ = at;
      in_second_ = 0;
    }
    if (++in_second_ > most_events_per_second) {
      stage_.judge.violated(rule::busy_loop, at, 0, 0);
    }
  }

  static void mix_in(std::uint64_t& fingerprint, const entry& e) {
    constexpr std::uint64_t fnv_prime = 0x100000001b3;
    fingerprint ^= static_cast<std::uint64_t>(e.at.time_since_epoch().count());
    fingerprint *= fnv_prime;
    fingerprint ^= static_cast<std::uint64_t>(e.what) << 8U | e.pod;
    fingerprint *= fnv_prime;
  }

  void happen(const entry& e) {
    switch (e.what) {
      case happening::store_receives:
        deliver(stage_.letters.take(e.arg));
        break;
      case happening::store_expires:
        store_->expire();
        break;
      case happening::stream_checked:
        network_.stream_checked(e);
        break;
      case happening::fault_begins:
        faults_.begin(e);
        break;
      case happening::fault_ends:
        faults_.end(e);
        break;
      case happening::quiet_begins:
        faults_.stop();
        break;
      case happening::run_ends:
        check_recovered();
        break;
      default:
        pods_[e.pod].handle(e, *store_);
        break;
    }
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      if (pods_[p].take_tempting()) faults_.ambush(p);
    }
  }

  void deliver(const message& m) {
    if (network_.reaches_store(m)) {
      store_->receive(m);
    } else {
      network_.refuse(m);
    }
  }

  /// Nothing has gone wrong for a long time: every slot has a holder, and every agent told to end
  /// has ended.
  void check_recovered() {
    over_ = true;
    stage_.judge.ends(stage_.now);
    std::size_t able = 0;
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      if (pods_[p].ending()) stage_.judge.violated(rule::did_not_end, stage_.now, p, 0);
      if (pods_[p].should_hold()) ++able;
    }
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
      std::size_t holders = 0;
      for (const pod& p : pods_) {
        if (p.holds(e)) ++holders;
      }
      const bool handed_over = stage_.judge.makes_way(stage_.now, e);
      if (holders < stage_.drawn.slots[e] && holders < able && !handed_over) {
        stage_.judge.violated(rule::no_holder, stage_.now, 0, e);
      }
    }
  }

  stage stage_;
  network network_;
  std::unique_ptr<store> store_;
  std::vector<pod> pods_;
  faults faults_;
  bool over_ = false;
  world_time second_{};
  std::uint32_t in_second_ = 0;
};

}  // namespace

outcome run_seed(std::uint64_t seed, trace* tracer) {
  rng dice(seed);
  const mix drawn = draw_mix(dice);
  return world(drawn, dice, tracer).run();
}

std::string describe_seed(std::uint64_t seed) {
  rng dice(seed);
  return describe(draw_mix(dice));
}

}  // namespace tenure::sim
