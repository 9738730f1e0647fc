#pragma once

#include <expected>
#include <string>

#include "http/client/client_message.hpp"
#include "settings/endpoint.hpp"

namespace tenure::http {

/// A request as sent over the connection. The error says which part of it cannot be sent, without
/// repeating it, e.g. a token that was read from a file together with its line break.
std::expected<std::string, std::string> request_text(const client_request& what,
                                                     const settings::endpoint& where);

/// "POST /v3/kv/txn at http://10.0.0.1:2379", for errors: without the query, which may hold a
/// token.
std::string summary(const client_request& what, const settings::endpoint& where);

}  // namespace tenure::http
