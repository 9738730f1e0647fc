#include "runtime/fresh_reads.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

namespace tenure::runtime {
namespace {

api::fresh_result refused(std::string code, std::string message, std::string action) {
  return std::unexpected(wire::problem{
      .code = std::move(code), .message = std::move(message), .action = std::move(action)});
}

api::fresh_result stopping() {
  return refused("stopping", "the agent is stopping", "ask another agent");
}

}  // namespace

void fresh_reads::ask(core::election_index which, api::fresh_handler done) {
  api::fresh_result why = stopping();
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && unanswered_ < most_questions) {
      ++unanswered_;
      waiting_.push_back(
          {.which = which, .until = loop_.now() + question_limit, .done = std::move(done)});
      // Under the lock: the election thread exists until `close`.
      loop_.post([this] { next(); });
      return;
    }
    if (!closed_) {
      why = refused("too_many_reads",
                    std::to_string(most_questions) + " questions wait for the store already",
                    "ask less often, or without fresh=1");
    }
  }
  done(std::move(why));
}

void fresh_reads::close() {
  questions left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left = std::exchange(waiting_, {});
  }
  store_ = nullptr;
  std::ranges::move(being_read_, std::back_inserter(left));
  being_read_.clear();
  for (question& one : left) one.done(stopping());
}

/// Takes the oldest question and all others about its election. Answers those that have waited too
/// long instead.
fresh_reads::questions fresh_reads::take() {
  const core::time_point now = loop_.now();
  questions late;
  questions out;
  {
    const std::lock_guard lock(mutex_);
    questions rest;
    for (question& one : waiting_) {
      const bool same = out.empty() || one.which == out.front().which;
      questions& to = one.until <= now ? late : same ? out : rest;
      to.push_back(std::move(one));
    }
    waiting_ = std::move(rest);
  }
  answer(std::move(late), refused("too_late", "the store has been busy with earlier reads",
                                  "ask again in a moment, or without fresh=1"));
  return out;
}

void fresh_reads::answer(questions all, const api::fresh_result& with) {
  {
    const std::lock_guard lock(mutex_);
    unanswered_ -= all.size();
  }
  for (question& one : all) one.done(with);
}

/// Begins the next read, unless one is under way.
void fresh_reads::next() {
  if (!being_read_.empty()) return;
  questions all = take();
  if (all.empty()) return;
  if (store_ == nullptr) {
    return answer(std::move(all), refused("store_not_opened", "the store has not been opened yet",
                                          "ask again in a moment"));
  }
  being_read_ = std::move(all);
  const core::time_point asked_at = loop_.now();
  store_->read(being_read_.front().which, asked_at + read_limit,
               [this, asked_at](stores::read_outcome what) { came(asked_at, std::move(what)); });
}

void fresh_reads::came(core::time_point asked_at, stores::read_outcome what) {
  api::fresh_result with;
  if (auto* seen = std::get_if<core::observation>(&what)) {
    with = api::fresh_view{.seen = std::move(*seen), .asked_at = asked_at};
  } else {
    with = refused("store_unknown",
                   "the store could not be read: " + std::get<stores::unknown>(what).why,
                   "ask again in a moment; without fresh=1 the answer comes from the watch");
  }
  answer(std::exchange(being_read_, {}), with);
  next();
}

}  // namespace tenure::runtime
