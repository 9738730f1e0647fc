#pragma once

#include <expected>

#include "core/clock.hpp"
#include "net/client_message.hpp"
#include "net/endpoint.hpp"

namespace tenure::cli {

/// Sends one request and waits for the reply. The error says what failed, against which server.
std::expected<net::client_reply, net::client_error> ask(const net::endpoint& server,
                                                        net::client_request what,
                                                        core::duration patience);

}  // namespace tenure::cli
