#pragma once

#include <string>
#include <string_view>

#include "settings/endpoint.hpp"

namespace tenure::http {

/// A URL on this machine, as `config` accepts it, in the parts that a request needs.
struct local_url {
  settings::endpoint server;
  std::string target;  ///< path and query
};

/// Precondition: `config` has accepted it.
local_url take_apart(const std::string& url);

/// "GET http://127.0.0.1:8080/healthz", for the log: without the query, which may be a secret.
std::string subject_of(std::string_view method, const local_url& of);

}  // namespace tenure::http
