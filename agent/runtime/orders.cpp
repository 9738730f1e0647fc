#include "runtime/orders.hpp"

#include <boost/asio/post.hpp>
#include <string>
#include <utility>

namespace tenure::runtime {
namespace {

api::control_result refused(std::string code, std::string message, std::string action) {
  return std::unexpected(api::control_refusal{
      .status = 503,
      .why = {
          .code = std::move(code), .message = std::move(message), .action = std::move(action)}});
}

api::control_result stopping() {
  return refused("stopping", "the agent was told to end", "ask another agent");
}

}  // namespace

void orders::give(core::election_index which, core::order what, api::control_handler done) {
  api::control_result why = stopping();
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && waiting_.size() < most_orders) {
      const std::size_t number = ++given_;
      waiting_.emplace(number, std::move(done));
      // Under the lock: the election thread is there until `close`.
      boost::asio::post(
          where_, [this, number, which, what = std::move(what)] { take(number, which, what); });
      return;
    }
    if (!closed_) {
      why = refused("too_many_orders", std::to_string(most_orders) + " orders wait already",
                    "order less often");
    }
  }
  done(std::move(why));
}

void orders::take(std::size_t number, core::election_index which, const core::order& what) {
  api::control_handler done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    done = std::move(found->second);
    waiting_.erase(found);
  }
  carry_out_(which, what, std::move(done));
}

void orders::close() {
  std::map<std::size_t, api::control_handler> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left = std::exchange(waiting_, {});
  }
  for (auto& [number, done] : left) done(stopping());
}

}  // namespace tenure::runtime
