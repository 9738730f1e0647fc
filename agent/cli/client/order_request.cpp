#include "cli/client/order_request.hpp"

#include <cstdio>
#include <utility>

#include "api/token.hpp"
#include "cli/client/reply_codec.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {

std::expected<http::client_request, std::string> order_request(const invocation& what,
                                                               const std::string& election,
                                                               std::string body) {
  http::client_request out{
      .method = "POST", .target = path_of(election) + "/" + what.verb, .body = std::move(body)};
  auto file = what.value("--token-file");
  if (!file) file = variable("TENURE_CONTROL_TOKEN_FILE");
  if (!file) return out;
  const auto token = api::read_token(*file);
  if (!token) return std::unexpected(token.error() + "; name a file that this user may read");
  out.headers.push_back({.name = "Authorization", .value = "Bearer " + *token});
  return out;
}

ask_failure with_advice(ask_failure why) {
  const std::string code = error_code_in(why.json);
  const std::string what = error_message_in(why.json);
  if (code == "token_missing") {
    why.text =
        "the agent needs its control token; give --token-file FILE, or --api unix:PATH if "
        "it has a Unix socket";
  } else if (code == "control_off") {
    why.text = what +
               "; give --api unix:PATH as the agent's user if it has a Unix socket, or start it "
               "with --control-token-file FILE and give --token-file FILE here";
  } else if (code == "unknown_election") {
    why.text = what + "; tenure status lists those that it has";
  } else if (code == "store_unknown") {
    why.text = what + "; see tenure status, and repeat the command if nothing has changed";
  }
  return why;
}

int complain(const invocation& what, const std::string& why) {
  print_failure(what.verb, why);
  return runtime::exit_bad_settings;
}

int print_done(const invocation& what, const std::string& text, const std::string& json) {
  if (what.output == output_form::json) {
    print_json(json);
  } else {
    std::puts(text.c_str());
  }
  return runtime::exit_ok;
}

}  // namespace tenure::cli
