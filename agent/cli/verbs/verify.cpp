#include <cstdio>
#include <expected>
#include <string>
#include <utility>

#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/reply_codec.hpp"
#include "cli/client/verify_codec.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

std::unexpected<std::string> missing(const std::string& what) {
  return std::unexpected("tenure verify: " + what + ", e.g. tenure verify db --version 7\n");
}

/// What is not given comes from the environment that a workload has. Its version and identity
/// are one term of one election: none of them is mixed with what is given.
std::expected<verify_query, std::string> query_of(const invocation& given) {
  const auto own_election = variable("TENURE_ELECTION");
  verify_query out;
  out.election = given.value("ELECTION").value_or(own_election.value_or(""));
  if (out.election.empty()) {
    return missing("which election? give its name, or set TENURE_ELECTION");
  }
  const auto asked = given.value("--version");
  const bool own_term = !asked && own_election == out.election;
  const auto version = own_term ? variable("TENURE_VERSION") : asked;
  if (!version) {
    return missing("which version of \"" + out.election +
                   "\"? give --version; TENURE_VERSION is that of TENURE_ELECTION");
  }
  out.version = *version;
  out.holder = given.value("--holder");
  if (own_term && !out.holder) out.holder = variable("TENURE_IDENTITY");
  out.fresh = given.has("--fresh");
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

/// One question, and what its reply means.
struct verification {
  std::string body;
  verify_reading read;
};

std::expected<verification, http::client_error> ask_once(const http::endpoint& agent,
                                                         const verify_query& query) {
  auto reply = ask(agent, {.method = "GET", .target = verify_target(query)}, reply_limit);
  if (!reply) return std::unexpected(std::move(reply.error()));
  verify_reading read = read_verify_reply(query, reply->status, reply->body);
  return verification{.body = std::move(reply->body), .read = std::move(read)};
}

}  // namespace

int run_verify(const invocation& what) {
  auto query = query_of(what);
  if (!query) {
    std::fputs(query.error().c_str(), stderr);
    return runtime::exit_bad_settings;
  }
  const auto whom = agent_of(what, query->election);
  if (!whom) return report_failure(what, whom.error());
  const http::endpoint& agent = whom->agent;
  const bool json = what.output == output_form::json;
  auto seen = ask_once(agent, *query);
  // A version that the agent has not seen yet may be wrong, or newer than its news.
  if (seen && seen->read.store_may_tell) {
    query->fresh = true;
    seen = ask_once(agent, *query);
  }
  if (!seen) {
    const std::string why = "no agent has answered: " + seen.error().text;
    print_failure(what.verb, "cannot tell: " + why);
    if (json) print_json(error_json("no_reply", why));
    return runtime::exit_no_agent;
  }
  const verify_reading& read = seen->read;
  const bool verdict = read.is == verify_meaning::valid || read.is == verify_meaning::not_valid;
  if (!verdict) {
    print_failure(what.verb,
                  (read.is == verify_meaning::cannot_tell ? "cannot tell: " : "") + read.text);
  } else if (!json) {
    std::puts(read.text.c_str());
  }
  if (json) print_json(is_object(seen->body) ? seen->body : error_json("not_an_agent", read.text));
  return status_of(read.is);
}

}  // namespace tenure::cli
