#include "runtime/orders.hpp"

#include <string>
#include <utility>

namespace tenure::runtime {
void orders::give(core::election_index which, core::order what, api::control_handler done) {
  api::control_refusal why = api::refusal_at_the_end();
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && waiting_.size() < most_orders) {
      const std::size_t number = ++given_;
      waiting_.emplace(number, std::move(done));
      // Under the lock: the election thread exists until `close`.
      loop_.post([this, number, which, what = std::move(what)] { take(number, which, what); });
      return;
    }
    if (!closed_) {
      why =
          api::refusal(503, "too_many_orders", std::to_string(most_orders) + " orders wait already",
                       "send orders less often");
    }
  }
  done(std::unexpected(std::move(why)));
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
  for (auto& [number, done] : left) done(std::unexpected(api::refusal_at_the_end()));
}

}  // namespace tenure::runtime
