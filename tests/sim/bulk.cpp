#include "bulk.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

namespace tenure::sim {
namespace {

constexpr std::uint64_t no_seed = std::numeric_limits<std::uint64_t>::max();

thread_local std::uint64_t current_seed = no_seed;

/// A check of core that fails ends the process; say first which seed did it.
void print_seed_and_die(int /*signal*/) {
  std::fprintf(stderr, "sim: core aborted in seed %llu\nreplay: ./dev sim --seed %llu\n",
               static_cast<unsigned long long>(current_seed),
               static_cast<unsigned long long>(current_seed));
  std::_Exit(EXIT_FAILURE);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One thread's share.
struct worker {
  bulk_result done;

  void run(std::atomic<std::uint64_t>& next, std::uint64_t end,
           std::atomic<std::uint64_t>& first_failure) {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      const std::uint64_t seed = next.fetch_add(1);
      if (seed >= end || seed > first_failure.load()) break;
      current_seed = seed;
      const outcome o = run_seed(seed, nullptr);
      ++done.seeds;
      done.events += o.events;
      done.simulated_hours += std::chrono::duration<double>(o.simulated).count() / 3600.0;
      done.fingerprint ^= o.fingerprint * (2 * seed + 1);
      if (o.broken == rule::none) continue;
      std::uint64_t before = first_failure.load();
      while (seed < before && !first_failure.compare_exchange_weak(before, seed)) {
      }
      if (!done.failed) {
        done.failed = seed;
        done.broken = o.broken;
        done.details = o.details;
      }
    }
    done.busy_seconds = seconds_since(start);
  }
};

}  // namespace

bulk_result run_bulk(const bulk_request& asked) {
  std::signal(SIGABRT, print_seed_and_die);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next = asked.from;
  std::atomic<std::uint64_t> first_failure = no_seed;
  std::vector<worker> workers(asked.jobs);
  {
    std::vector<std::jthread> threads;
    for (worker& w : workers) {
      threads.emplace_back([&] { w.run(next, asked.from + asked.seeds, first_failure); });
    }
  }
  bulk_result all;
  for (const worker& w : workers) {
    all.seeds += w.done.seeds;
    all.events += w.done.events;
    all.simulated_hours += w.done.simulated_hours;
    all.busy_seconds += w.done.busy_seconds;
    all.fingerprint ^= w.done.fingerprint;
    if (w.done.failed && (!all.failed || *w.done.failed < *all.failed)) {
      all.failed = w.done.failed;
      all.broken = w.done.broken;
      all.details = w.done.details;
    }
  }
  all.wall_seconds = seconds_since(start);
  return all;
}

}  // namespace tenure::sim
