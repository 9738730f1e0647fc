// What a step of the core costs. The goal: below a microsecond with any number of elections.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "core/lease_group.hpp"

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

/// A session whose elections are all active under their first term.
class busy_session {
 public:
  explicit busy_session(std::uint32_t elections) : when_(*resolve({})), subject_(when_) {
    for (std::uint32_t i = 0; i < elections; ++i) {
      election_settings one;
      one.identity = "bench";
      one.when = when_;
      subject_.add(one);
      gain(election_index{i});
    }
    out_.clear();
  }

  /// A full turn of the renewal path: due, sent, acknowledged for every election.
  void renew() {
    now_ += when_.renew;
    subject_.wake({now_}, out_);
    const attempt number = out_.renew->number;
    out_.clear();
    subject_.renewed({now_ + 1ms}, number, {.sent_at = now_, .ttl = when_.ttl}, out_);
    now_ += 1ms;
    benchmark::DoNotOptimize(out_.commands.data());
    out_.clear();
  }

  /// A timer that fired although nothing is due.
  void wake_for_nothing() {
    subject_.wake({now_}, out_);
    benchmark::DoNotOptimize(out_.commands.data());
  }

  /// An event for one election, which changes nothing: the watch shows what it has shown.
  void step_one() {
    subject_.step({now_}, election_index{0}, shown_, out_);
    benchmark::DoNotOptimize(out_.commands.data());
    out_.clear();
  }

 private:
  void gain(election_index which) {
    out_.clear();
    subject_.step({now_}, which, event::started{}, out_);
    subject_.step({now_}, which, event::observed{}, out_);
    event::granted grant;
    for (const addressed& order : out_.commands) {
      if (const auto* asked = std::get_if<command::acquire>(&order.what))
        grant.number = asked->number;
    }
    grant.version = core::version{1};
    grant.ttl = when_.ttl;
    grant.sent_at = now_;
    grant.released_cleanly = true;
    subject_.step({now_}, which, grant, out_);
    subject_.step({now_}, which, event::workload_started{core::version{1}}, out_);
  }

  timing when_;
  lease_group subject_;
  group_effects out_;
  time_point now_ = time_point(1'000s);
  election_event shown_ =
      event::observed{{.as_of = core::version{1}, .holders = {{"bench", core::version{1}}}}};
};

void renewal(benchmark::State& state) {
  busy_session session(static_cast<std::uint32_t>(state.range(0)));
  while (state.KeepRunning()) session.renew();
  state.counters["per_election"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(renewal)->Arg(1)->Arg(10'000);

void wake_for_nothing(benchmark::State& state) {
  busy_session session(static_cast<std::uint32_t>(state.range(0)));
  while (state.KeepRunning()) session.wake_for_nothing();
}
BENCHMARK(wake_for_nothing)->Arg(1)->Arg(10'000);

void step_of_one_election(benchmark::State& state) {
  busy_session session(static_cast<std::uint32_t>(state.range(0)));
  while (state.KeepRunning()) session.step_one();
}
BENCHMARK(step_of_one_election)->Arg(1)->Arg(10'000);

}  // namespace
}  // namespace tenure::core

BENCHMARK_MAIN();
