#pragma once

#include <algorithm>
#include <expected>
#include <functional>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// One request for something that all of its callers can use, each of which waits until its own
/// deadline. Who comes while it is under way joins it; if it fails, those that have joined make
/// another one together, as their time may not be over.
///
/// Used on its loop only. No handler is called after `close`.
template <class Result>
class joined_request {
 public:
  using outcome = std::expected<Result, unknown>;
  using outcome_handler = handler<outcome>;

  /// `begin` sends the request, with this deadline, and calls `answer` later, once.
  joined_request(base::event_loop& on, std::function<void(core::time_point)> begin)
      : loop_(on), begin_(std::move(begin)), late_(on) {}

  void join(core::time_point deadline, outcome_handler done) {
    waiting_.push_back({.deadline = deadline, .done = std::move(done), .joined = is_under_way_});
    is_under_way_ ? wait_for_first() : begin();
  }

  void answer(const outcome& what) {
    is_under_way_ = false;
    std::vector<waiting> told = take_out([&](const waiting& one) { return what || !one.joined; });
    waiting_.empty() ? late_.cancel() : begin();
    for (waiting& one : told) one.done(what);
  }

  void close() {
    late_.cancel();
    waiting_.clear();
  }

 private:
  struct waiting {
    core::time_point deadline{};
    outcome_handler done;
    bool joined = false;  ///< a request that was under way
  };

  void begin() {
    is_under_way_ = true;
    for (waiting& one : waiting_) one.joined = false;
    until_ = std::ranges::max_element(waiting_, {}, &waiting::deadline)->deadline;
    wait_for_first();
    begin_(until_);
  }

  /// The request itself is answered by its own deadline, and with a better reason.
  void wait_for_first() {
    const auto first = std::ranges::min_element(waiting_, {}, &waiting::deadline);
    if (first == waiting_.end() || first->deadline >= until_) return late_.cancel();
    late_.at(first->deadline, [this] { tell_late(); });
  }

  void tell_late() {
    const core::time_point now = loop_.now();
    std::vector<waiting> told = take_out([&](const waiting& one) { return one.deadline <= now; });
    wait_for_first();
    for (waiting& one : told) {
      one.done(std::unexpected(unknown{"no answer came in time to what others had asked for"}));
    }
  }

  template <class Which>
  std::vector<waiting> take_out(Which which) {
    std::vector<waiting> out;
    std::vector<waiting> rest;
    for (waiting& one : waiting_) (which(one) ? out : rest).push_back(std::move(one));
    waiting_ = std::move(rest);
    return out;
  }

  base::event_loop& loop_;
  std::function<void(core::time_point)> begin_;
  std::vector<waiting> waiting_;
  bool is_under_way_ = false;
  core::time_point until_{};  ///< the request's own deadline
  base::timer late_;
};

}  // namespace tenure::stores
