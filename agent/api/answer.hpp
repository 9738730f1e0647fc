#pragma once

#include "api/call.hpp"
#include "api/control.hpp"
#include "api/fresh_read.hpp"
#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/http_message.hpp"

/// Turns calls into responses, without sockets, clocks or state.
namespace tenure::api {

/// Proof that the election loop turns.
struct heartbeat {
  core::time_point last_beat;
  core::duration bound{};  ///< a beat older than this means that the loop hangs
};

/// Answers from what the agent knows. For a fresh verification, answers that this agent makes no
/// fresh reads.
http::response answer(const read_call& what, const snapshot& seen, const heartbeat& alive,
                      const instant& at);

/// Answers a probe only.
http::response answer(const calls::probe& what, const snapshot& seen, const heartbeat& alive,
                      const instant& at);

/// Answers a fresh verification from the result of a read of the store.
http::response answer_fresh(const calls::verify& what, const snapshot& seen, const instant& at,
                            const fresh_result& read);

/// 202, or the refusal of an order.
http::response answer_order(const calls::order& what, const snapshot& seen,
                            const control_result& result);

/// The index in the answer to a status call.
std::uint64_t index_of(const calls::status& what, const snapshot& seen, core::time_point now);

}  // namespace tenure::api
