#include "support/seeds/seed_runs.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::tests {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t no_seed = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::seconds progress_interval{10};
constexpr std::uint64_t most_passed_over = 100'000;

thread_local std::uint64_t current_seed = no_seed;
const char* replay_command = "";

std::atomic<bool> end_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "it is set by a signal handler");

/// A check that fails ends the process; say first which seed did it.
void print_seed_and_die(int /*signal*/) {
  std::fprintf(stderr, "aborted in seed %llu\nreplay: %s --seed %llu\n",
               static_cast<unsigned long long>(current_seed), replay_command,
               static_cast<unsigned long long>(current_seed));
  std::_Exit(EXIT_FAILURE);
}

void ask_for_end(int /*signal*/) {
  end_asked = true;
}

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// What the threads share.
struct work {
  const seed_request& asked;
  const std::function<seed_outcome(std::uint64_t)>& run;
  std::mutex taking;
  std::uint64_t next;
  std::uint64_t taken = 0;
  std::atomic<std::uint64_t> first_failure = no_seed;
  std::atomic<std::uint64_t> done = 0;
  std::mutex mutex;
  std::condition_variable ended;
  unsigned running;

  work(const seed_request& what, const std::function<seed_outcome(std::uint64_t)>& by)
      : asked(what), run(by), next(what.from), running(what.jobs) {}

  /// The next one to run; nothing: there is none.
  std::optional<std::uint64_t> take() {
    // One thread at a time, so that the same seeds are taken each time.
    const std::lock_guard lock(taking);
    if (taken == asked.seeds) return std::nullopt;
    for (std::uint64_t i = 0; i < most_passed_over && !end_asked; ++i) {
      const std::uint64_t seed = next++;
      if (seed > first_failure.load()) break;
      if (asked.takes && !asked.takes(seed)) continue;
      ++taken;
      return seed;
    }
    return std::nullopt;
  }
  void failed(std::uint64_t seed) {
    std::uint64_t before = first_failure.load();
    while (seed < before && !first_failure.compare_exchange_weak(before, seed)) {
    }
  }
  void one_ended() {
    const std::lock_guard lock(mutex);
    if (--running == 0) ended.notify_all();
  }
};

/// One thread's share.
seed_results run_share(work& all) {
  seed_results done;
  const auto start = clock::now();
  while (const auto seed = all.take()) {
    current_seed = *seed;
    seed_outcome one = all.run(*seed);
    ++all.done;
    ++done.seeds;
    done.events += one.events;
    done.simulated_hours += std::chrono::duration<double>(one.simulated).count() / 3600.0;
    done.fingerprint ^= one.fingerprint * (2 * *seed + 1);
    if (one.broken.empty()) continue;
    if (all.asked.ends_at && !all.asked.ends_at(one.broken)) {
      done.others[one.broken].push_back(*seed);
      continue;
    }
    all.failed(*seed);
    if (!done.failed) {
      done.failed = seed;
      done.broken = std::move(one.broken);
      done.details = std::move(one.details);
    }
  }
  done.busy_seconds = seconds_since(start);
  all.one_ended();
  return done;
}

void report_progress(work& all, std::uint64_t of, clock::time_point start) {
  std::unique_lock lock(all.mutex);
  while (!all.ended.wait_for(lock, progress_interval, [&] { return all.running == 0; })) {
    std::fprintf(stderr, "%llu of %llu seeds in %.0f s\n",
                 static_cast<unsigned long long>(all.done.load()),
                 static_cast<unsigned long long>(of), seconds_since(start));
  }
}

void add(seed_results& sum, const seed_results& share) {
  sum.seeds += share.seeds;
  sum.events += share.events;
  sum.simulated_hours += share.simulated_hours;
  sum.busy_seconds += share.busy_seconds;
  sum.fingerprint ^= share.fingerprint;
  for (const auto& [rule, seeds] : share.others) {
    sum.others[rule].insert(sum.others[rule].end(), seeds.begin(), seeds.end());
  }
  if (share.failed && (!sum.failed || *share.failed < *sum.failed)) {
    sum.failed = share.failed;
    sum.broken = share.broken;
    sum.details = share.details;
  }
}

}  // namespace

seed_results run_seeds(const seed_request& asked,
                       const std::function<seed_outcome(std::uint64_t)>& run, const char* replay) {
  replay_command = replay;
  std::signal(SIGABRT, print_seed_and_die);
  std::signal(SIGINT, ask_for_end);
  std::signal(SIGTERM, ask_for_end);
  const auto start = clock::now();
  work all(asked, run);
  std::vector<seed_results> shares(asked.jobs);
  {
    std::vector<std::jthread> threads;
    for (seed_results& share : shares) {
      threads.emplace_back([&share, &all] { share = run_share(all); });
    }
    report_progress(all, asked.seeds, start);
  }
  seed_results sum;
  for (const seed_results& share : shares) add(sum, share);
  sum.interrupted = end_asked && !sum.failed && sum.seeds < asked.seeds;
  sum.wall_seconds = seconds_since(start);
  return sum;
}

}  // namespace tenure::tests
