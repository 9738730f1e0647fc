#include "api/metrics_answer.hpp"

#include "api/codec.hpp"

namespace tenure::api {

bool asks_for_metrics(const http::request& asked) {
  return asked.target.segments.size() == 1 && asked.target.segments.front() == "metrics";
}

http::response answer_metrics(const http::request& asked, const page_writer& page) {
  if (asked.method != "GET" && asked.method != "HEAD") {
    http::response out =
        error_response(405, {.code = "method_not_allowed",
                             .message = asked.method + " is not possible on /metrics",
                             .action = "use one of: GET, HEAD"});
    out.headers.push_back({.name = "Allow", .value = "GET, HEAD"});
    return out;
  }
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = page()};
}

}  // namespace tenure::api
