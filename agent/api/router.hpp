#pragma once

#include <expected>
#include <string>
#include <vector>

#include "api/admission.hpp"
#include "api/call.hpp"
#include "api/snapshot.hpp"
#include "http/http_message.hpp"

/// From requests to calls. The order of the checks is the same for all of them: is the client at
/// the right place (Host, Origin), does the path exist, is the method right, may this client make
/// the call, does the election exist, are the parameters and the body valid.
namespace tenure::api {

/// What a router knows besides the request.
struct routes {
  std::vector<std::string> hosts{};  ///< further names that Host may have
  control_access who{};              ///< may give orders
  bool orders = false;               ///< orders are taken
  bool metrics = false;              ///< there is a page of metrics
};

/// A call, or the response to a request that is not a valid one.
using routed = std::expected<call, http::response>;

/// A request to the API listener. Reads the token file if the request is an order.
routed route(const http::request& asked, const snapshot& seen, const routes& with);

/// A request to the probe listener: `/livez`, `/readyz`, `/leader`, `/primary`, `/replica`,
/// `/metrics`. A probe may also be asked for by OPTIONS.
routed route_probe(const http::request& asked, const snapshot& seen, const routes& with);

}  // namespace tenure::api
