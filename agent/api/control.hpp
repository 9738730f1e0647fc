#pragma once

#include <expected>
#include <functional>
#include <string>
#include <utility>

#include "core/lease_group.hpp"
#include "core/member_order.hpp"
#include "wire/problem.hpp"

/// Orders on their way to the election thread: `POST /v1/elections/{name}/resign`, `/transfer`,
/// `/pause`, `/resume`, `/set`.
namespace tenure::api {

/// Why an order is refused.
struct control_refusal {
  unsigned status = 409;
  wire::problem why;
};

inline control_refusal refusal(unsigned status, std::string code, std::string message,
                               std::string action) {
  return {status, {std::move(code), std::move(message), std::move(action)}};
}

/// The refusal while the agent is stopping.
inline control_refusal refusal_at_the_end() {
  return refusal(503, "stopping", "the agent is stopping", "ask another agent");
}

/// The order has begun; a `set` is complete. Clients that watch the election see the result.
struct control_acceptance {
  std::string by;  ///< the member that carries it out
};

using control_result = std::expected<control_acceptance, control_refusal>;
using control_handler = std::move_only_function<void(control_result)>;

/// Gives an order to an election, by its index in the snapshot. Thread-safe; returns at once. Calls
/// `done` once, on any thread, perhaps before it returns.
using controller = std::function<void(core::election_index, core::order, control_handler done)>;

}  // namespace tenure::api
