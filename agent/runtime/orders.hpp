#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "api/control.hpp"
#include "base/event_loop.hpp"

namespace tenure::runtime {

/// Orders from serving threads to the election thread. Each is answered once.
class orders {
 public:
  /// Answers through `done` once, at once or later.
  using carrier = std::function<void(core::election_index, core::order, api::control_handler done)>;

  /// `carry_out` is called on `on`, the loop of the election thread.
  orders(base::event_loop& on, carrier carry_out) : loop_(on), carry_out_(std::move(carry_out)) {}

  /// Thread-safe; returns at once.
  void give(core::election_index which, core::order what, api::control_handler done);

  /// Answers waiting and later orders that the agent is stopping. Call on the election thread.
  void close();

  /// The most orders waiting at a time. Well below a listener's connections, which are not closed
  /// for others while their order is carried out.
  static constexpr std::size_t most_orders = 16;

 private:
  void take(std::size_t number, core::election_index which, const core::order& what);

  base::event_loop& loop_;
  carrier carry_out_;
  std::mutex mutex_;
  bool closed_ = false;
  std::size_t given_ = 0;
  std::map<std::size_t, api::control_handler> waiting_;
};

}  // namespace tenure::runtime
