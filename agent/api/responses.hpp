#pragma once

#include <string>
#include <utility>

#include "http/http_message.hpp"
#include "wire/problem.hpp"

/// The responses that many answers share.
namespace tenure::api {

/// The JSON and a line break; never cached.
inline http::response json_response(unsigned status, std::string json) {
  return {.status = status,
          .body = std::move(json) + "\n",
          .headers = {{.name = "Cache-Control", .value = "no-store"}}};
}

inline http::response error_response(unsigned status, const wire::problem& what) {
  return json_response(status, wire::write(what));
}

/// 503: the agent has not started its elections yet.
inline http::response not_started_response() {
  return error_response(503, {.code = "not_started",
                              .message = "the agent has not started its elections yet",
                              .action = "ask again in a moment"});
}

}  // namespace tenure::api
