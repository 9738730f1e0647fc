#include "bulk.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace tenure::sim {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t no_seed = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::seconds progress_interval{10};

thread_local std::uint64_t current_seed = no_seed;

std::atomic<bool> end_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free, "it is set by a signal handler");

/// A check of core that fails ends the process; say first which seed did it.
void print_seed_and_die(int /*signal*/) {
  std::fprintf(stderr, "sim: core aborted in seed %llu\nreplay: ./dev sim --seed %llu\n",
               static_cast<unsigned long long>(current_seed),
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
  std::uint64_t end;
  std::atomic<std::uint64_t> next;
  std::atomic<std::uint64_t> first_failure = no_seed;
  std::atomic<std::uint64_t> done = 0;
  std::mutex mutex;
  std::condition_variable ended;
  unsigned running;

  explicit work(const bulk_request& asked)
      : end(asked.from + asked.seeds), next(asked.from), running(asked.jobs) {}

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
bulk_result run_share(work& all) {
  bulk_result done;
  const auto start = clock::now();
  while (!end_asked) {
    const std::uint64_t seed = all.next.fetch_add(1);
    if (seed >= all.end || seed > all.first_failure.load()) break;
    current_seed = seed;
    const outcome o = run_seed(seed, nullptr);
    ++all.done;
    ++done.seeds;
    done.events += o.events;
    done.simulated_hours += std::chrono::duration<double>(o.simulated).count() / 3600.0;
    done.fingerprint ^= o.fingerprint * (2 * seed + 1);
    if (o.broken == rule::none) continue;
    all.failed(seed);
    if (!done.failed) {
      done.failed = seed;
      done.broken = o.broken;
      done.details = o.details;
    }
  }
  done.busy_seconds = seconds_since(start);
  all.one_ended();
  return done;
}

void report_progress(work& all, const bulk_request& asked, clock::time_point start) {
  std::unique_lock lock(all.mutex);
  while (!all.ended.wait_for(lock, progress_interval, [&] { return all.running == 0; })) {
    if (asked.progress) asked.progress(all.done, seconds_since(start));
  }
}

void add(bulk_result& sum, const bulk_result& share) {
  sum.seeds += share.seeds;
  sum.events += share.events;
  sum.simulated_hours += share.simulated_hours;
  sum.busy_seconds += share.busy_seconds;
  sum.fingerprint ^= share.fingerprint;
  if (share.failed && (!sum.failed || *share.failed < *sum.failed)) {
    sum.failed = share.failed;
    sum.broken = share.broken;
    sum.details = share.details;
  }
}

}  // namespace

bulk_result run_bulk(const bulk_request& asked) {
  std::signal(SIGABRT, print_seed_and_die);
  std::signal(SIGINT, ask_for_end);
  std::signal(SIGTERM, ask_for_end);
  const auto start = clock::now();
  work all(asked);
  std::vector<bulk_result> shares(asked.jobs);
  {
    std::vector<std::jthread> threads;
    for (bulk_result& share : shares) {
      threads.emplace_back([&share, &all] { share = run_share(all); });
    }
    report_progress(all, asked, start);
  }
  bulk_result sum;
  for (const bulk_result& share : shares) add(sum, share);
  sum.interrupted = end_asked && !sum.failed && sum.seeds < asked.seeds;
  sum.wall_seconds = seconds_since(start);
  return sum;
}

}  // namespace tenure::sim
