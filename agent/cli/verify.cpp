#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "cli/ask.hpp"
#include "cli/verbs.hpp"
#include "cli/verify_codec.hpp"
#include "net/endpoint.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

constexpr const char* default_api = "http://127.0.0.1:4040";
constexpr std::uint16_t default_port = 4040;
/// More than an agent takes for any answer.
constexpr core::duration reply_limit = std::chrono::seconds(10);

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

std::unexpected<std::string> missing(const std::string& what) {
  return std::unexpected("tenure verify: " + what + ", e.g. tenure verify db --version 7\n");
}

/// What is not given comes from the environment that a workload has. Its version and identity
/// are one term of one election: none of them is mixed with what is given.
std::expected<verify_query, std::string> query_of(const verify_arguments& given) {
  const auto own_election = variable("TENURE_ELECTION");
  verify_query out;
  out.election = given.election.value_or(own_election.value_or(""));
  if (out.election.empty()) {
    return missing("which election? give its name, or set TENURE_ELECTION");
  }
  const bool own_term = !given.version && own_election == out.election;
  const auto version = own_term ? variable("TENURE_VERSION") : given.version;
  if (!version) {
    return missing("which version of \"" + out.election +
                   "\"? give --version; TENURE_VERSION is that of TENURE_ELECTION");
  }
  out.version = *version;
  out.holder = given.holder;
  if (own_term && !out.holder) out.holder = variable("TENURE_IDENTITY");
  out.fresh = given.fresh;
  return out;
}

int status_of(verify_meaning what) {
  switch (what) {
    case verify_meaning::valid:
      return runtime::exit_ok;
    case verify_meaning::not_valid:
      return runtime::exit_failed;
    case verify_meaning::bad_question:
      return runtime::exit_bad_settings;
    case verify_meaning::cannot_tell:
      break;
  }
  return runtime::exit_cannot_tell;
}

}  // namespace

int run_verify(const invocation& what) {
  const auto query = query_of(what.verify);
  if (!query) {
    std::fputs(query.error().c_str(), stderr);
    return runtime::exit_bad_settings;
  }
  const std::string url = what.verify.api.value_or(variable("TENURE_API").value_or(default_api));
  const auto agent = net::parse_endpoint(url, default_port);
  if (!agent) {
    std::fprintf(stderr, "tenure verify: --api: %s\n", agent.error().c_str());
    return runtime::exit_bad_settings;
  }
  const bool json = what.output == output_form::json;
  const auto reply = ask(*agent, {.method = "GET", .target = verify_target(*query)}, reply_limit);
  if (!reply) {
    const std::string why = "no agent has answered: " + reply.error().text;
    std::fprintf(stderr, "tenure verify: cannot tell: %s\n", why.c_str());
    if (json) std::puts(unreachable_json(why).c_str());
    return runtime::exit_no_agent;
  }
  const verify_reading read = read_verify_reply(*query, reply->status, reply->body);
  const bool verdict = read.is == verify_meaning::valid || read.is == verify_meaning::not_valid;
  if (!verdict) {
    std::fprintf(stderr, "tenure verify: %s%s\n",
                 read.is == verify_meaning::cannot_tell ? "cannot tell: " : "", read.text.c_str());
  } else if (!json) {
    std::puts(read.text.c_str());
  }
  if (json) std::fputs(reply->body.c_str(), stdout);
  return status_of(read.is);
}

}  // namespace tenure::cli
