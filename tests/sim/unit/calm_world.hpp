#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "stage.hpp"

namespace tenure::sim {

/// A mix in which nothing goes wrong by itself: ttl 15 s, every message takes a millisecond.
inline mix calm_mix(store_family family) {
  using namespace std::chrono_literals;
  mix m;
  m.family = family;
  m.pods = 2;
  m.slots.fill(1);
  m.owns_workload.fill(true);
  m.when = *core::resolve({});
  m.delay_least = m.delay_most = 1ms;
  m.break_noticed_most = 1ms;
  m.socket_delay_most = 1ms;
  m.late_most = 10s;
  return m;
}

/// A stage on which a test is the only actor.
struct calm_world {
  mix drawn;
  rng dice{1};
  stage at;

  explicit calm_world(mix m) : drawn(m), at(drawn, dice, nullptr) {
    at.identities = {{.name = "a", .pod = 0}, {.name = "b", .pod = 1}};
  }
  calm_world(const calm_world&) = delete;
  calm_world& operator=(const calm_world&) = delete;

  /// The next event of the agenda that is due by `until`, at whose time it then is.
  std::optional<entry> next(world_time until = world_never) {
    if (at.events.empty()) return std::nullopt;
    const entry e = at.events.take();
    if (e.at > until) {
      at.events.add(e);
      return std::nullopt;
    }
    at.now = e.at;
    return e;
  }

  /// Everything that reaches agents, in order, until nothing is under way.
  std::vector<message> answers() {
    std::vector<message> all;
    while (const auto e = next(at.now + std::chrono::seconds(1))) {
      if (e->what == happening::agent_receives) all.push_back(at.letters.take(e->arg));
    }
    return all;
  }
};

}  // namespace tenure::sim
