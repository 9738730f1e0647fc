#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "api/fresh_read.hpp"
#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Reads of the store for API clients.
///
/// Questions come from the serving thread and wait in a bounded inbox. The election thread takes
/// them from there, one read at a time, so that no flood of them delays a renewal. Questions about
/// the same election share one read, which begins after all of them have arrived.
class fresh_reads {
 public:
  /// The most unanswered questions; another one is refused. Well below a listener's connections, so
  /// that they cannot lock out other calls.
  static constexpr std::size_t most_questions = 16;
  /// How long a question may wait, including its read.
  static constexpr core::duration question_limit = std::chrono::seconds(4);
  /// How long a read may take. Two must fit into a question's time: the one under way when it
  /// arrives, and its own.
  static constexpr core::duration read_limit = std::chrono::seconds(2);

  /// `on`: the loop of the election thread. It outlives this object.
  explicit fresh_reads(base::event_loop& on) : loop_(on) {}
  fresh_reads(const fresh_reads&) = delete;
  fresh_reads& operator=(const fresh_reads&) = delete;

  /// `api::fresh_reader`. Thread-safe.
  void ask(core::election_index which, api::fresh_handler done);

  /// From now on, reads from this store, once it is open. Call on the election thread, like
  /// `close`.
  void begin(stores::store& from) { store_ = &from; }

  /// Answers all waiting and later questions that the agent is stopping. Call before the store is
  /// closed, and before the server waits for its answers.
  void close();

 private:
  struct question {
    core::election_index which;
    core::time_point until{};
    api::fresh_handler done;
  };
  using questions = std::deque<question>;

  void next();
  questions take();
  void came(core::time_point asked_at, stores::read_outcome what);
  void answer(questions all, const api::fresh_result& with);

  base::event_loop& loop_;

  // Used on the election thread:
  stores::store* store_ = nullptr;
  questions being_read_;  ///< not empty: a read is under way

  std::mutex mutex_;  ///< guards the members below
  questions waiting_;
  std::size_t unanswered_ = 0;
  bool closed_ = false;
};

}  // namespace tenure::runtime
