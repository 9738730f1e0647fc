#include <cstdio>
#include <expected>
#include <string>
#include <utility>

#include "base/percent_text.hpp"
#include "base/printable_text.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/text/knowledge.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"
#include "wire/problem.hpp"

namespace tenure::cli {
namespace {

std::unexpected<std::string> missing(const std::string& what) {
  return std::unexpected("tenure verify: " + what + ", e.g. tenure verify db --version 7\n");
}

/// The term in question, and how to ask.
struct verify_query {
  std::string election;
  std::string version;                   ///< as given; the agent checks it. Empty: any
  std::optional<std::string> holder;     ///< nothing: any holder
  std::optional<std::string> sequencer;  ///< nothing: any
  bool fresh = false;                    ///< ask for a read of the store
};

/// What a reply means for a caller that wants a yes or a no.
struct verify_reading {
  int status = runtime::exit_cannot_tell;  ///< the exit status
  std::string text;                        ///< one line for a person
  bool store_may_tell =
      false;  ///< the agent cannot tell from what it has seen, but a read of the store might
  std::string body{};  ///< the reply's body
};

/// Values that are not given come from a workload's environment. Its version and identity belong to
/// one term of one election, so neither is combined with given values.
std::expected<verify_query, std::string> query_of(const invocation& given) {
  const auto own_election = own_election_name();
  verify_query out;
  out.election = given.value("ELECTION").value_or(own_election.value_or(""));
  if (out.election.empty()) {
    return missing("which election? give its name, or set TENURE_ELECTION to one name");
  }
  const auto asked = given.value("--version");
  out.sequencer = given.value("--sequencer");
  const bool own_term = !asked && !out.sequencer && own_election == out.election;
  const auto version = own_term ? variable("TENURE_VERSION") : asked;
  if (!version && !out.sequencer) {
    return missing("which version of \"" + out.election +
                   "\"? give --version or --sequencer; TENURE_VERSION is that of TENURE_ELECTION");
  }
  out.version = version.value_or("");
  out.holder = given.value("--holder");
  if (own_term && !out.holder) out.holder = variable("TENURE_IDENTITY");
  out.fresh = given.has("--fresh");
  return out;
}

/// Path and query, percent-encoded.
std::string target_of(const verify_query& what) {
  std::string out = path_of(what.election) + "/verify";
  auto add = [&, joint = '?'](std::string_view name, const std::string& value) mutable {
    out.append(1, std::exchange(joint, '&')).append(name).append("=");
    out += base::percent_encoded(value);
  };
  // An empty version is the agent's to refuse, unless there is something else to ask about.
  if (!what.version.empty() || !what.sequencer) add("version", what.version);
  if (what.sequencer) add("sequencer", *what.sequencer);
  if (what.holder) add("holder", *what.holder);
  if (what.fresh) add("fresh", "1");
  return out;
}

/// True if the verdict answers our question. Its text is printable already.
bool answers(const wire::verification& said, const verify_query& asked) {
  const std::string version =
      said.asked.version == core::no_version ? "" : text(said.asked.version);
  return said.election == base::printable(asked.election) && version == asked.version &&
         said.asked.holder.value_or("") == base::printable(asked.holder.value_or("")) &&
         said.asked.sequencer.value_or("") == base::printable(asked.sequencer.value_or(""));
}

std::string basis(const wire::verification& said) {
  if (said.source == "lease") return "by its own lease";
  const std::string from = said.source == "store" ? "by the store" : "by the watch of its agent";
  return from + (said.age_ms ? ", " + std::to_string(*said.age_ms) + " ms ago" : "");
}

verify_reading reading_of(const wire::verification& said) {
  if (!said.valid) {
    return {.status = runtime::exit_failed,
            .text = "not valid (" + said.reason + "): " + said.message};
  }
  const core::holder holder = said.holder.value_or(core::holder());
  return {.status = runtime::exit_ok,
          .text = "valid: " + holder.identity + " holds election \"" + said.election +
                  "\" under version " + text(holder.version) + " (" + basis(said) + ")"};
}

verify_reading reading_of(const wire::problem& said, const verify_query& asked, unsigned status) {
  const bool ours_to_mend = status >= 400 && status < 500;
  // The agent's advice is for authors of requests.
  const std::string advice = said.code == "bad_query"
                                 ? "e.g. tenure verify " + asked.election + " --version 7"
                                 : said.action;
  const std::string text = said.message + "; " + advice;
  if (ours_to_mend) return {.status = runtime::exit_bad_settings, .text = text};
  return {.text = text,
          .store_may_tell =
              !asked.fresh && (said.code == "cache_behind" || said.code == "watch_broken" ||
                               said.code == "lease_may_be_over")};
}

/// A reply that is not from an agent, or not about this very question, is neither a yes nor a no: a
/// proxy may answer 200 to anything.
verify_reading reading_of(const http::client_reply& reply, const verify_query& asked) {
  const auto said = wire::read_verification(reply.body);
  if (said && reply.status == (said->valid ? 200U : 409U) && answers(*said, asked)) {
    return reading_of(*said);
  }
  if (const auto problem = wire::read_problem(reply.body)) {
    return reading_of(*problem, asked, reply.status);
  }
  return {.text = "the reply (status " + std::to_string(reply.status) +
                  ") is not an agent's answer to this question; is --api the address of an "
                  "agent?"};
}

std::expected<verify_reading, http::client_error> ask_once(const settings::endpoint& agent,
                                                           const verify_query& query) {
  auto reply = ask(agent, {.method = "GET", .target = target_of(query)}, reply_limit);
  if (!reply) return std::unexpected(std::move(reply.error()));
  verify_reading out = reading_of(*reply, query);
  out.body = std::move(reply->body);
  return out;
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
  const settings::endpoint& agent = whom->agent;
  const bool json = what.output == output_form::json;
  auto seen = ask_once(agent, *query);
  // A version that the agent has not seen yet may be wrong, or newer than its news.
  if (seen && seen->store_may_tell) {
    query->fresh = true;
    seen = ask_once(agent, *query);
  }
  if (!seen) {
    const std::string why = "no agent has answered: " + seen.error().text;
    print_failure(what.verb, "cannot tell: " + why);
    if (json) print_json(wire::write(wire::problem{"no_reply", why}));
    return runtime::exit_no_agent;
  }
  if (seen->status == runtime::exit_cannot_tell) {
    print_failure(what.verb, "cannot tell: " + seen->text);
  } else if (seen->status == runtime::exit_bad_settings) {
    print_failure(what.verb, seen->text);
  } else if (!json) {
    std::puts(seen->text.c_str());
  }
  if (json) {
    print_json(wire::is_object(seen->body)
                   ? seen->body
                   : wire::write(wire::problem{"not_an_agent", seen->text}));
  }
  return seen->status;
}

}  // namespace tenure::cli
