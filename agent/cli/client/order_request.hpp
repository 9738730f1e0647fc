#pragma once

#include <expected>
#include <string>

#include "cli/client/ask.hpp"
#include "cli/invocation.hpp"
#include "core/member_order.hpp"
#include "http/client/http_client.hpp"

/// What the commands that change something share.
namespace tenure::cli {

/// The POST of an order for an election, with the control token if one is given; or what is wrong
/// with its file. The token goes nowhere but into the request.
std::expected<http::client_request, std::string> order_request(const invocation& what,
                                                               const std::string& election,
                                                               const core::order& order);

/// Replaces the agent's advice, which is for authors of requests, by advice for the command line.
ask_failure with_advice(ask_failure why);

/// Prints what is wrong with the command line. Returns exit_bad_settings.
int complain(const invocation& what, const std::string& why);

/// Prints the text or the JSON, as requested. Returns exit_ok.
int print_done(const invocation& what, const std::string& text, const std::string& json);

}  // namespace tenure::cli
