#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/election.hpp"
#include "core/store_contact.hpp"
#include "core/vocabulary.hpp"
#include "wire/election.hpp"

namespace tenure::api {

// Types that an election_report shows unchanged.
using wire::gone_member;
using wire::health_report;
using wire::outage;
using wire::past_term;

/// Newest first.
using gone_list = std::vector<gone_member>;

/// Lowest version first.
using term_list = std::vector<past_term>;

/// How often an election has entered a state for a reason.
struct transition_count {
  core::phase to{};
  core::loss_reason why{};
  std::uint64_t count = 0;
};

/// One election as the election thread last saw it. Whether it is still valid is computed when an
/// answer is written, never before.
struct election_snapshot {
  std::string name;
  /// The index of the snapshot in which its shown state last changed; see change.hpp.
  std::uint64_t index = 0;
  std::uint32_t slots = 1;
  bool campaigns = true;
  bool owns_workload = true;  ///< false: the API clients are the workload
  core::election_view view;
  std::int64_t since_unix_ms = 0;  ///< `view.since` on the wall clock, for people
  /// The watch is open and has shown a state since then: `view.seen` may be confirmed.
  bool watched = false;
  /// When `view.seen` was last known to be true; `core::never`: nothing was seen yet. While the
  /// watch is open, the store's newest sign of life confirms it as well: see `known_at`.
  core::time_point seen_at = core::never;
  std::shared_ptr<const term_list> terms{};  ///< null: no terms yet
  std::shared_ptr<const gone_list> gone{};   ///< null: no gone members
  /// Since the start of the agent. In no order, without duplicates: some ten in a long life.
  std::vector<transition_count> transitions{};
};

/// The elections of a snapshot, in blocks. `share` copies none of them; an edit copies only the
/// block of its election, so the cost of a change does not grow with their number.
///
/// Not thread-safe; but many threads may read a table that is no longer edited, even while others
/// that share its blocks are edited.
class election_table {
 public:
  election_table() = default;
  election_table(election_table&&) noexcept = default;
  election_table& operator=(election_table&&) noexcept = default;

  /// Another table of the same elections.
  [[nodiscard]] election_table share();

  void push_back(election_snapshot one);
  void clear() { blocks_.clear(); }

  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  [[nodiscard]] std::size_t size() const;
  /// Precondition: `place` < size().
  [[nodiscard]] const election_snapshot& operator[](std::size_t place) const;
  [[nodiscard]] election_snapshot& edit(std::size_t place);

  /// The index of the election of this name; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

 private:
  struct block {
    std::shared_ptr<std::vector<election_snapshot>> elections;
    bool shared = false;
  };
  std::vector<block> blocks_;
};

/// The agent as the election thread last saw it. Immutable once published.
struct snapshot {
  /// Grows when anything shown of any election changes; see change.hpp.
  std::uint64_t index = 0;
  std::string
      agent{};  ///< names this run of the agent: indexes of different runs cannot be compared
  std::string identity;
  std::int64_t started_unix_ms = 0;  ///< when it began to watch
  std::string store;                 ///< kind
  std::string cluster_id;            ///< the store's own id
  core::store_contact contact{};     ///< how the store answers
  bool store_opened = false;
  bool stopping = false;  ///< the agent is stopping
  bool guard_alive = true;
  std::optional<health_report> health{};  ///< for all elections; nothing without health checks
  election_table elections;

  /// Another snapshot with the same contents; see `election_table::share`.
  [[nodiscard]] snapshot share();
};

/// Where the election thread puts snapshots and serving threads take them. Thread-safe; neither
/// side waits for the other for longer than a pointer copy.
class published {
 public:
  published() : current_(std::make_shared<const snapshot>()) {}

  void publish(std::shared_ptr<const snapshot> next) {
    // Swapped, so that the old one, if this was its last reference, is destroyed outside the lock.
    const std::lock_guard lock(mutex_);
    current_.swap(next);
    if (on_change_ && next->index != current_->index) on_change_();
  }
  /// Calls `call` when a snapshot with another index is published, on the publishing thread; it
  /// must be quick, and must not use this object. Empty: no call. When this returns, the previous
  /// `call` is not called any more.
  void on_change(std::function<void()> call) {
    const std::lock_guard lock(mutex_);
    on_change_ = std::move(call);
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
  // Not std::atomic<std::shared_ptr>: libstdc++ 12 unlocks it with relaxed order after a load, a
  // data race according to the standard and ThreadSanitizer, and perhaps a real one on arm64.
  mutable std::mutex mutex_;
  std::shared_ptr<const snapshot> current_;
  std::function<void()> on_change_;
  std::atomic<std::int64_t> last_beat_{0};
};

}  // namespace tenure::api
