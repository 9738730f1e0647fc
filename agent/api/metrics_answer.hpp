#pragma once

#include <functional>
#include <string>

#include "http/http_message.hpp"

/// `GET /metrics`, on both listeners. What is on the page is for others to say: this room knows
/// nothing of metrics.
namespace tenure::api {

/// Makes the page, in Prometheus' text format. Called on the serving thread.
using page_writer = std::function<std::string()>;

/// True for `/metrics`, whatever the method.
bool asks_for_metrics(const http::request& asked);

/// The page; 405 for another method than GET and HEAD.
http::response answer_metrics(const http::request& asked, const page_writer& page);

}  // namespace tenure::api
