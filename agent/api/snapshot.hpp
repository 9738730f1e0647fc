#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/election.hpp"
#include "core/vocabulary.hpp"

namespace tenure::api {

/// One election as the election thread last saw it. Whether it is still valid is computed when
/// an answer is written, never before.
struct election_snapshot {
  std::string name;
  std::uint32_t slots = 1;
  bool campaigns = true;
  bool owns_workload = true;  ///< false: the readers of our answers are the workload
  core::election_view view;
  std::int64_t since_unix_ms = 0;  ///< `view.since` on the wall clock, for people
  /// The watch is up and has shown a state since it was opened: `view.seen` may be vouched for.
  bool watched = false;
  core::time_point seen_at = core::never;  ///< when the watch last showed something
};

/// The agent as the election thread last saw it. Immutable once published.
struct snapshot {
  std::uint64_t index = 0;  ///< grows with every publication
  std::string identity;
  std::string store;       ///< kind
  std::string cluster_id;  ///< of the store
  bool store_opened = false;
  bool stopping = false;  ///< the agent was told to end
  bool guard_alive = true;
  std::vector<election_snapshot> elections;
};

/// Where the election thread leaves snapshots and serving threads take them. Thread-safe, and
/// neither side ever waits for the other for longer than a pointer copy.
class board {
 public:
  board() : current_(std::make_shared<const snapshot>()) {}

  void publish(std::shared_ptr<const snapshot> next) {
    // Swapped, so that the old one, if it was the last reference, ends outside the lock.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
  }
  [[nodiscard]] std::shared_ptr<const snapshot> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  /// The election loop has turned: for `/livez`. The first beat comes before anybody can ask.
  void beat(core::time_point now) {
    last_beat_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }
  [[nodiscard]] core::time_point last_beat() const {
    return core::time_point(core::duration(last_beat_.load(std::memory_order_relaxed)));
  }

 private:
  // Not std::atomic<std::shared_ptr>: libstdc++ 12 unlocks it with relaxed order after a load,
  // which is a data race by the standard and for ThreadSanitizer, and may be one on arm64.
  mutable std::mutex mutex_;
  std::shared_ptr<const snapshot> current_;
  std::atomic<std::int64_t> last_beat_{0};
};

}  // namespace tenure::api
