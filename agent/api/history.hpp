#pragma once

#include "api/snapshot.hpp"
#include "api/standing.hpp"
#include "http/http_message.hpp"

/// `GET /v1/elections/{name}/history[?limit=N]`: the terms that this agent has seen.
namespace tenure::api {

http::response answer_history(const http::request& asked, const election_snapshot& election,
                              const snapshot& seen, const instant& at);

}  // namespace tenure::api
