#pragma once

#include <expected>
#include <string>

#include "cli/client/ask.hpp"
#include "cli/invocation.hpp"
#include "http/client/http_client.hpp"

/// What the commands that change something have in common.
namespace tenure::cli {

/// POST of `body` for an election, with the control token where one is given; or what is wrong with
/// its file. The token goes nowhere but into the request.
std::expected<http::client_request, std::string> order_request(const invocation& what,
                                                               const std::string& election,
                                                               std::string body);

/// The agent's advice is for whoever writes requests; this is for whoever types commands.
ask_failure with_advice(ask_failure why);

/// Says what is wrong with the command line. Returns exit_bad_settings.
int complain(const invocation& what, const std::string& why);

/// Prints one or the other, as the command was asked for. Returns exit_ok.
int print_done(const invocation& what, const std::string& text, const std::string& json);

}  // namespace tenure::cli
