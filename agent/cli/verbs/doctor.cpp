#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/list_text.hpp"
#include "base/printable_text.hpp"
#include "cli/client/json_codec.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/text/knowledge.hpp"
#include "cli/verbs.hpp"
#include "cli/version.hpp"
#include "runtime/doctor.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

using runtime::finding;
using runtime::verdict;

void add_settings(const config::configuration& s, std::vector<finding>& out) {
  for (const config::problem& one : s.warnings) {
    const std::string where = one.where.empty() ? "" : one.where + ": ";
    out.push_back({.check = "settings",
                   .result = verdict::warn,
                   .text = where + one.what,
                   .action = one.suggestion});
  }
  if (!out.empty()) return;
  const std::size_t count = s.elections.size();
  out.push_back({.check = "settings",
                 .text = "store " + s.store + ", " +
                         (count == 1 ? "election " + s.elections.front().name
                                     : std::to_string(count) + " elections")});
}

// --- agents ------------------------------------------------------------------------------------

/// Where an agent with these settings, or one of this user, answers.
std::vector<settings::endpoint> agents_here(const config::configuration& s) {
  auto out = local_agents().value_or(std::vector<settings::endpoint>());
  const auto add = [&out](const std::string& url) {
    auto one = settings::parse_local_endpoint(url, 0);
    if (one && std::ranges::find(out, *one) == out.end()) out.push_back(std::move(*one));
  };
  if (!s.socket.empty()) add("unix:" + s.socket);
  // Its socket is the same agent.
  if (out.empty() && s.listen.at && s.listen.at->port != 0) add("http://" + text(s.listen));
  return out;
}

/// The version in a page of metrics; empty if there is none.
std::string version_of(const settings::endpoint& agent) {
  const auto page = ask(agent, {.method = "GET", .target = "/metrics"}, local_reply_limit);
  if (!page) return {};
  std::string_view rest = page->body;
  for (const std::string_view mark : {"\ntenure_build_info{", "version=\""}) {
    const auto at = rest.find(mark);
    if (at == std::string_view::npos) return {};
    rest.remove_prefix(at + mark.size());
  }
  return std::string(rest.substr(0, rest.find('"')));
}

void add_election(const wire::election_report& says, std::vector<finding>& out) {
  finding one{.check = "agent",
              .text = says.identity + " is " + state_word(says) + " in " + says.election};
  if (!says.store.reachable) {
    one.result = verdict::bad;
    one.text += ", and does not reach its store: " + says.store.why;
  } else if (says.not_campaigning) {
    one.result = verdict::warn;
    one.text += ", and does not campaign: " + says.not_campaigning->text;
  } else {
    one.text += ", and reaches its store";
  }
  out.push_back(std::move(one));
}

void add_version(const settings::endpoint& agent, const std::string& identity,
                 std::vector<finding>& out) {
  const std::string theirs = version_of(agent);
  const std::string ours = facts_of_build().version;
  finding one{.check = "version", .text = identity + " runs tenure " + theirs + ", as this one"};
  if (theirs.empty()) {
    one.result = verdict::skip;
    one.text = identity + " does not tell its version";
  } else if (theirs != ours) {
    one.result = verdict::warn;
    one.text = identity + " runs tenure " + theirs + ", and this is " + ours;
    one.action = "run the doctor of that version, or start the agent again with this one";
  }
  out.push_back(std::move(one));
}

void add_agents(const config::configuration& s, std::vector<finding>& out) {
  const auto agents = agents_here(s);
  const auto answers =
      ask_all(agents, {.method = "GET", .target = path_of(std::nullopt)}, local_reply_limit);
  const std::size_t before = out.size();
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto elections = answers[i] ? wire::read_elections(*answers[i]) : std::nullopt;
    if (!elections) continue;
    std::string identity;
    for (const wire::election_report& one : *elections) {
      const auto ours = std::ranges::find(s.elections, one.election, &settings::election::name);
      if (ours == s.elections.end()) continue;
      identity = one.identity;
      add_election(one, out);
    }
    if (!identity.empty()) add_version(agents[i], identity, out);
  }
  if (out.size() > before) return;
  out.push_back({.check = "agent",
                 .result = verdict::skip,
                 .text = agents.empty()
                             ? "none of this user is found here"
                             : "none with these elections answers at " +
                                   base::listed(agents, [](const settings::endpoint& one) {
                                     return settings::text(one);
                                   })});
}

void print_line(const finding& one) {
  const std::string text = one.text + (one.action.empty() ? "" : "; " + one.action);
  std::printf("%-4s  %-9s  %s\n", std::string(runtime::word(one.result)).c_str(), one.check.c_str(),
              base::printable(text).c_str());
}

}  // namespace

int run_doctor(const invocation& what) {
  const auto settings = load_settings(what);
  if (!settings) return settings.error();
  std::vector<finding> all;
  add_settings(*settings, all);
  add_agents(*settings, all);
  for (finding& one : runtime::examine(*settings)) all.push_back(std::move(one));
  if (what.output == output_form::json) {
    std::puts(findings_json(all).c_str());
  } else {
    std::ranges::for_each(all, print_line);
  }
  const bool works =
      std::ranges::none_of(all, [](const finding& one) { return one.result == verdict::bad; });
  return works ? runtime::exit_ok : runtime::exit_failed;
}

}  // namespace tenure::cli
