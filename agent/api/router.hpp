#pragma once

#include <expected>
#include <string>
#include <vector>

#include "api/admission.hpp"
#include "api/call.hpp"
#include "api/snapshot.hpp"
#include "http/http_message.hpp"

/// Turns requests into calls. The checks always come in this order: is the client allowed here
/// (Host, Origin), does the path exist, is the method right, may this client make the call, does
/// the election exist, are the parameters and the body valid.
namespace tenure::api {

/// What the router needs besides the request.
struct routes {
  std::vector<std::string> hosts{};  ///< further host names to answer to
  control_access who{};              ///< who may give orders
  bool orders = false;               ///< orders are accepted
  bool metrics = false;              ///< there is a metrics page
};

/// A call, or the response to a request that is not a valid one.
using routed = std::expected<call, http::response>;

/// A request to the API listener. Reads the token file if the request is an order.
routed route(const http::request& asked, const snapshot& seen, const routes& with);

/// A request to the probe listener: `/livez`, `/readyz`, `/leader`, `/primary`, `/replica`,
/// `/metrics`. Probes also answer OPTIONS.
routed route_probe(const http::request& asked, const snapshot& seen, const routes& with);

}  // namespace tenure::api
