#pragma once

#include <expected>
#include <string>

#include "core/clock.hpp"
#include "net/client_message.hpp"

namespace tenure::cli {

/// Sends one request to an http(s) URL without a path ("http://127.0.0.1:4040") and waits for the
/// reply. The error says what failed, against which server.
std::expected<net::client_reply, net::client_error> ask(const std::string& url,
                                                        net::client_request what,
                                                        core::duration patience);

}  // namespace tenure::cli
