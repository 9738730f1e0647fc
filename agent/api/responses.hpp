#pragma once

#include <string>

#include "net/http_message.hpp"
#include "wire/problem.hpp"

/// The parts of a response that many answers share.
namespace tenure::api {

/// The JSON and a line break, never to be cached.
net::response json_response(unsigned status, std::string json);

net::response error_response(unsigned status, const wire::problem& what);

/// {"status":"ok"}, the answer of a probe.
net::response ok_response();

/// 503: the agent has no elections yet.
net::response not_started_response();

}  // namespace tenure::api
