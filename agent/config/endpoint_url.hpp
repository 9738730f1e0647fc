#pragma once

#include <string>
#include <string_view>

#include "config/values.hpp"

namespace tenure::config {

/// What other settings depend on of an endpoint that is a URL.
struct endpoint_url {
  bool tls = false;
  std::string host;  ///< without brackets
};

/// Reads "https://[::1]:2379/prefix". The mistake reads on after "endpoint", quotes the URL and
/// never repeats a user, a password or a query. What only the store can judge is left to it.
parsed<endpoint_url> parse_endpoint_url(std::string_view text);

/// True if there is a user, and maybe a password, in front of the host.
bool has_user(std::string_view endpoint);

/// `endpoint` in quotes for a message, without what may be a secret in it.
std::string quote_endpoint(std::string_view endpoint);

/// True if what is sent to `host` stays on this machine.
bool is_loopback_host(std::string_view host);

}  // namespace tenure::config
