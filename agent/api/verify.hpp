#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/codec.hpp"
#include "api/snapshot.hpp"
#include "api/standing.hpp"
#include "api/verdict.hpp"
#include "core/lease_group.hpp"
#include "http/http_message.hpp"

/// `GET /v1/elections/{name}/verify?version=N[&holder=H][&fresh=1]`: 200 valid, 409 not valid, 503
/// cannot tell.
namespace tenure::api {

/// What became of a read; the problem says why there is nothing to judge by.
using fresh_result = std::expected<fresh_view, problem>;
using fresh_handler = std::move_only_function<void(fresh_result)>;

/// Has the store read one election, by its place in the snapshot. Thread-safe; returns at once. The
/// read is begun after the call. `done` is called once, on any thread, perhaps before this returns.
using fresh_reader = std::function<void(core::election_index, fresh_handler done)>;

/// The answer from what the agent knows. One that asks for a fresh read is told that this agent
/// makes none: those are for `answer_fresh`.
http::response answer_verify(const http::request& asked, const election_snapshot& election,
                             const snapshot& seen, const instant& at);

/// The election to read for this request, if it is one that wants a fresh read and is in order.
/// Everything else, errors included, is for `answer`.
std::optional<core::election_index> needs_fresh_read(const http::request& asked,
                                                     const snapshot& seen,
                                                     const std::vector<std::string>& hosts);

/// The answer from a read. Precondition: `needs_fresh_read` has named this election.
http::response answer_fresh(const http::request& asked, core::election_index which,
                            const snapshot& seen, const instant& at, const fresh_result& read);

}  // namespace tenure::api
