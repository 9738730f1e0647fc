#include "api/responses.hpp"

#include <utility>

namespace tenure::api {

net::response json_response(unsigned status, std::string json) {
  return {.status = status,
          .body = std::move(json) + "\n",
          .headers = {{.name = "Cache-Control", .value = "no-store"}}};
}

net::response error_response(unsigned status, const wire::problem& what) {
  return json_response(status, wire::write(what));
}

net::response ok_response() {
  return json_response(200, std::string(wire::good_health));
}

net::response not_started_response() {
  return error_response(503, {.code = "not_started",
                              .message = "the agent has not begun its elections yet",
                              .action = "ask again in a moment"});
}

}  // namespace tenure::api
