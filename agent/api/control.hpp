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

/// Why an order is not carried out.
struct control_refusal {
  unsigned status = 409;
  wire::problem why;
};

inline control_refusal refusal(unsigned status, std::string code, std::string message,
                               std::string action) {
  return {status, {std::move(code), std::move(message), std::move(action)}};
}

/// The agent was told to end.
inline control_refusal refusal_at_the_end() {
  return refusal(503, "stopping", "the agent was told to end", "ask another agent");
}

/// The order has been begun; a `set` is done. Clients that watch the election see the result.
struct control_acceptance {
  std::string by;          ///< the member that obeys
  bool unchanged = false;  ///< of `set`: the election was so already
};

using control_result = std::expected<control_acceptance, control_refusal>;
using control_handler = std::move_only_function<void(control_result)>;

/// Gives an order to an election, by its place in the snapshot. Thread-safe; returns at once.
/// `done` is called once, on any thread, perhaps before this returns.
using controller = std::function<void(core::election_index, core::order, control_handler done)>;

}  // namespace tenure::api
