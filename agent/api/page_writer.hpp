#pragma once

#include <functional>
#include <string>

namespace tenure::api {

/// Makes the page of `GET /metrics`, in Prometheus' text format. Called on the serving thread.
using page_writer = std::function<std::string()>;

}  // namespace tenure::api
