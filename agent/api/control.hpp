#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "api/codec.hpp"
#include "api/snapshot.hpp"
#include "core/lease_group.hpp"
#include "core/member_order.hpp"
#include "http/http_message.hpp"

/// `POST /v1/elections/{name}/resign`, `/transfer`, `/pause`, `/resume`, `/set`.
namespace tenure::api {

/// Why an order is not carried out.
struct control_refusal {
  unsigned status = 409;
  problem why;
};

control_refusal refusal(unsigned status, std::string code, std::string message, std::string action);

/// 503: the agent was told to end.
control_refusal refusal_at_the_end();

/// It has been begun; of `set`: it is done. What comes of it is for those to see who watch the
/// election.
struct control_acceptance {
  std::string by;          ///< the member that obeys
  bool unchanged = false;  ///< of `set`: the election was so already
};

using control_result = std::expected<control_acceptance, control_refusal>;
using control_handler = std::move_only_function<void(control_result)>;

/// Gives an order to an election, by its place in the snapshot. Thread-safe; returns at once.
/// `done` is called once, on any thread, perhaps before this returns.
using controller = std::function<void(core::election_index, core::order, control_handler done)>;

/// Who may give orders, besides root and the agent's own user on its Unix socket.
struct control_access {
  std::string token_file{};  ///< empty: nobody, over TCP
};

/// An order that is in order, and who it is for.
struct control_request {
  core::election_index which{};
  core::order what;
};

/// True if this is a path of one of the five calls, whatever the election and the method.
bool is_control(const http::request& asked);

/// The order in the request, or the answer to give: not a POST, a stranger's, no or a wrong token,
/// no such election, or a body that is none. Reads the token file.
/// Precondition: `is_control`, and `admission` has not refused it.
std::expected<control_request, http::response> read_control(const http::request& asked,
                                                            const snapshot& seen,
                                                            const control_access& who);

/// 202 {"accepted":true,"election","action","by"}, or the refusal.
http::response control_response(const http::request& asked, const core::order& what,
                                const control_result& result);

}  // namespace tenure::api
