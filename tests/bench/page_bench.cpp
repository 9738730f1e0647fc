// What it costs a worker to ask whether it still may write.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>

#include "base/boot_time.hpp"
#include "guard/worker_page.hpp"

namespace {

using namespace tenure;

void show_valid(guard::worker_page& page) {
  page.show({.state = TENURE_ACTIVE,
             .version = core::version{7},
             .stop_at = base::boot_now() + std::chrono::hours(1)});
}

/// As a workload does: by the page that it has mapped.
const tenure_page* opened(guard::worker_page& page) {
  if (!page.make()) std::abort();
  ::putenv(page.variable());
  return tenure_open();
}

void ask_valid(benchmark::State& state) {
  guard::worker_page page;
  const tenure_page* seen = opened(page);
  show_valid(page);
  int valid = 1;
  while (state.KeepRunning()) valid &= tenure_valid(seen);
  if (valid != 1) state.SkipWithError("the page says no");
}
BENCHMARK(ask_valid)->Name("tenure_valid");

/// What of it is the clock.
void read_clock(benchmark::State& state) {
  while (state.KeepRunning()) benchmark::DoNotOptimize(tenure_now());
}
BENCHMARK(read_clock)->Name("tenure_now, a part of it");

void show(benchmark::State& state) {
  guard::worker_page page;
  if (!page.make()) std::abort();
  while (state.KeepRunning()) show_valid(page);
}
BENCHMARK(show)->Name("the agent's side, clock included");

}  // namespace

BENCHMARK_MAIN();
