// Several agents, an API server and a network between them that delays, loses and reorders: what is
// named is looked at after each request that the API server carries out.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "kube/traffic_switch.hpp"

namespace tenure::kube::test {
namespace {

using kind = traffic_wish::kind;

/// An object in the API server.
struct stored {
  std::string names{};  ///< the pod that it names
  std::uint64_t version = 0;
  std::uint64_t resource_version = 1;
  bool is_listed = true;
};

struct agent {
  std::string pod;
  traffic_switch decides;
  std::uint64_t term = 0;  ///< the newest one of ours
  bool is_frozen = false;
};

/// A request on its way, or its reply on the way back.
struct message {
  std::size_t from = 0;
  std::uint64_t life = 0;  ///< of the agent that has sent it
  traffic_request what{};
  std::optional<traffic_reply> reply{};  ///< nothing: not carried out yet
};

/// One seed is one run.
class world {
 public:
  world(std::uint64_t seed, bool in_slices, std::size_t slices) : draw_(seed) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string pod = "db-" + std::to_string(i);
      places_.push_back({.pod = pod, .slices = {}});
      if (!in_slices) objects_[pod] = {.is_listed = chance(2)};
    }
    for (std::size_t i = 0; in_slices && i < slices; ++i) {
      const std::string slice = "slice-" + std::to_string(i);
      objects_[slice] = {};
      for (traffic_places& one : places_) one.slices.push_back(slice);
    }
    for (const traffic_places& one : places_) {
      agents_.push_back({.pod = one.pod, .decides = traffic_switch(one)});
      lives_.push_back(0);
    }
    for (std::size_t i = 0; i < agents_.size(); ++i) step(i);
  }

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      now_ += std::chrono::milliseconds(pick(200));
      turn();
    }
  }

  /// Everything arrives from now on.
  void calm_down() {
    for (agent& one : agents_) one.is_frozen = false;
    is_calm_ = true;
    for (int i = 0; i < 3000; ++i) {
      now_ += std::chrono::milliseconds(100);
      for (std::size_t a = 0; a < agents_.size(); ++a) step(a);
      while (!messages_.empty()) deliver(pick(messages_.size()));
    }
  }

  void expect_the_active_pod_alone_is_named() const {
    for (const auto& [name, one] : objects_) {
      const bool shows = places_.front().in_slices() || name == holder_pod();
      EXPECT_EQ(one.names, shows && runs_ ? holder_pod() : "") << name << trace_;
    }
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return draw_() % below; }
  bool chance(std::uint64_t one_in) { return pick(one_in) == 0; }

  [[nodiscard]] std::string holder_pod() const {
    return holder_ ? agents_[*holder_].pod : std::string();
  }
  void note(const std::string& what) { trace_ += "\n  " + what; }

  void turn() {
    const std::uint64_t what = pick(100);
    if (what < 70 && !messages_.empty()) return deliver(pick(messages_.size()));
    if (what < 80) return step(pick(agents_.size()));
    if (what < 83) return move_lease();
    if (what < 88) return start_workload();
    if (what < 91) return freeze(pick(agents_.size()));
    if (what < 93) return restart(pick(agents_.size()));
    if (what < 95) return meddle();
    for (std::size_t a = 0; a < agents_.size(); ++a) step(a);
  }

  /// The term ends, whether its holder notices or not; another one begins.
  void move_lease() {
    const std::optional<std::size_t> before = holder_;
    runs_ = false;
    holder_ = std::nullopt;
    if (before) step(*before);
    if (chance(3)) return note("nobody holds");
    holder_ = pick(agents_.size());
    agents_[*holder_].term = ++terms_;
    note(holder_pod() + " holds, version " + std::to_string(terms_));
    step(*holder_);
  }

  void start_workload() {
    if (!holder_ || agents_[*holder_].is_frozen) return;
    runs_ = true;
    step(*holder_);
  }

  void freeze(std::size_t which) {
    agents_[which].is_frozen = !agents_[which].is_frozen;
    note(agents_[which].pod + (agents_[which].is_frozen ? " freezes" : " thaws"));
    step(which);
  }

  /// The agent is killed; what it has sent is still on its way.
  void restart(std::size_t which) {
    if (holder_ == which) return;
    note(agents_[which].pod + " is started again");
    agents_[which].decides = traffic_switch(places_[which]);
    agents_[which].is_frozen = false;
    ++lives_[which];
    if (chance(2)) agents_[which].term = 0;
    step(which);
  }

  /// Somebody else writes: the kubelet something else, or an operator takes the name away.
  void meddle() {
    auto at = objects_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(pick(objects_.size())));
    ++at->second.resource_version;
    if (!chance(4)) return;
    note("an operator empties " + at->first);
    at->second.names.clear();
  }

  [[nodiscard]] traffic_wish wish_of(std::size_t which) const {
    const core::version term{agents_[which].term};
    if (holder_ != which) return {.what = kind::standby, .version = term};
    return {.what = runs_ ? kind::active : kind::gaining, .version = term};
  }

  void step(std::size_t which) {
    step(which, [this, which](const core::moment& at, traffic_effects& out) {
      agents_[which].decides.woke(at, out);
    });
  }
  template <class Input>
  void step(std::size_t which, Input input) {
    agent& one = agents_[which];
    if (one.is_frozen) return;
    const core::moment at{.now = now_, .entropy = draw_()};
    traffic_effects out;
    one.decides.want(wish_of(which), out);
    input(at, out);
    for (traffic_request& what : out.requests) {
      messages_.push_back({.from = which, .life = lives_[which], .what = std::move(what)});
    }
  }

  void deliver(std::size_t at) {
    message& one = messages_[at];
    if (!one.reply) return arrive(at);
    if (agents_[one.from].is_frozen) return;
    message what = std::move(one);
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(at));
    if (what.life != lives_[what.from]) return;
    step(what.from, [this, &what](const core::moment& now, traffic_effects& out) {
      agents_[what.from].decides.replied(now, what.what.number, std::move(*what.reply), out);
    });
  }

  /// At the API server: now, never, or long after its sender has given it up.
  void arrive(std::size_t at) {
    if (is_calm_ || !chance(10)) {
      messages_[at].reply = carry_out(messages_[at]);
      return;
    }
    if (chance(2)) {
      message late = messages_[at];
      late.life = nobody;
      messages_.push_back(std::move(late));
    }
    messages_[at].reply = std::unexpected(api_failure{.why = "timeout"});
  }

  [[nodiscard]] marked_object shown(const std::string& name, const std::string& to) const {
    const stored& one = objects_.at(name);
    return {.name = name,
            .uid = "uid",
            .resource_version = std::to_string(one.resource_version),
            .who = one.names.empty() ? named::nobody
                   : one.names == to ? named::us
                                     : named::other,
            .version = core::version{one.version},
            .is_complete = one.is_listed,
            .is_listed = one.is_listed};
  }

  traffic_reply carry_out(const message& of) {
    const std::string& pod = agents_[of.from].pod;
    std::vector<marked_object> out;
    if (of.what.what == traffic_request::kind::list) {
      for (const auto& [name, one] : objects_) {
        if (one.is_listed) out.push_back(shown(name, pod));
      }
      return out;
    }
    if (of.what.what == traffic_request::kind::write) {
      stored& one = objects_.at(of.what.object);
      if (std::to_string(one.resource_version) != of.what.seen.resource_version) {
        return std::unexpected(api_failure{.what = api_refusal::conflict});
      }
      write(of, pod, one);
    }
    out.push_back(shown(of.what.object, pod));
    return out;
  }

  void write(const message& of, const std::string& pod, stored& one) {
    const std::string names = of.what.names_us ? pod : "";
    const std::uint64_t version = core::number(of.what.version);
    EXPECT_GE(version, one.version) << "a version went back" << trace_;
    const bool is_same = one.names == names && one.version == version && one.is_listed;
    if (!is_same) ++one.resource_version;
    one.names = names;
    one.version = version;
    one.is_listed = true;
    note(pod + " writes " + of.what.object + ": " + (names.empty() ? "nobody" : names) + " " +
         std::to_string(version));
    expect_one_at_most();
  }

  void expect_one_at_most() const {
    std::set<std::string> named;
    for (const auto& [name, one] : objects_) {
      if (!one.names.empty()) named.insert(one.names);
    }
    EXPECT_LE(named.size(), 1U) << "two pods are named" << trace_;
  }

  static constexpr std::uint64_t nobody = ~std::uint64_t{0};

  std::mt19937_64 draw_;
  std::vector<traffic_places> places_;
  std::map<std::string, stored> objects_;
  std::vector<agent> agents_;
  std::vector<std::uint64_t> lives_;
  std::vector<message> messages_;
  std::optional<std::size_t> holder_;
  std::uint64_t terms_ = 0;
  bool runs_ = false;
  bool is_calm_ = false;
  core::time_point now_{};
  std::string trace_;
};

struct setting {
  const char* name;
  bool in_slices;
  std::size_t slices;
};

class TrafficRaces : public ::testing::TestWithParam<setting> {};

INSTANTIATE_TEST_SUITE_P(All, TrafficRaces,
                         ::testing::Values(setting{"Pods", false, 0}, setting{"OneSlice", true, 1},
                                           setting{"TwoSlices", true, 2}),
                         [](const auto& info) { return info.param.name; });

TEST_P(TrafficRaces, NeverAreTwoNamedAndInTheEndTheActiveOneIs) {
  constexpr std::uint64_t seeds = 300;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    world one(seed, GetParam().in_slices, GetParam().slices);
    one.run(1500);
    one.calm_down();
    one.expect_the_active_pod_alone_is_named();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::kube::test
