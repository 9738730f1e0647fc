#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "api/verify.hpp"
#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Reads of the store that somebody outside has asked for.
///
/// Questions come from the serving thread and wait in a bounded inbox; the election thread takes
/// them from there, one read at a time, so that no flood of them is ever in the way of a renewal.
/// Those that wait for the same election share one read, which is begun after all of them have
/// come.
class fresh_reads {
 public:
  /// Questions without an answer; one more is refused. Well below the connections of a listener,
  /// so that they cannot lock out other calls.
  static constexpr std::size_t most_questions = 16;
  /// How long a question may wait, its read included.
  static constexpr core::duration question_limit = std::chrono::seconds(4);
  /// How long one read may take. Two must fit into a question's time: one that is under way when
  /// it comes, and its own.
  static constexpr core::duration read_limit = std::chrono::seconds(2);

  /// `on`: of the election thread. It outlives this.
  explicit fresh_reads(base::event_loop& on) : loop_(on) {}
  fresh_reads(const fresh_reads&) = delete;
  fresh_reads& operator=(const fresh_reads&) = delete;

  /// `api::fresh_reader`. Thread-safe.
  void ask(core::election_index which, api::fresh_handler done);

  /// Reads from this store from now on, once it is open. On the election thread, as is `close`.
  void begin(stores::store& from) { store_ = &from; }

  /// Answers whoever waits that the agent ends, and everybody after them. Before the store is
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

  // The election thread's.
  stores::store* store_ = nullptr;
  questions being_read_;  ///< not empty: a read is under way

  std::mutex mutex_;  ///< for all below
  questions waiting_;
  std::size_t unanswered_ = 0;
  bool closed_ = false;
};

}  // namespace tenure::runtime
