#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/boot_time.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/status_watch.hpp"
#include "cli/text/knowledge.hpp"
#include "cli/text/print.hpp"
#include "cli/text/status_view.hpp"
#include "cli/text/terminal.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"
#include "wire/problem.hpp"

namespace tenure::cli {
namespace {

/// The agents of `--api`, or the default ones.
std::expected<std::vector<settings::endpoint>, std::string> agents_of(const invocation& what) {
  std::vector<settings::endpoint> out;
  for (const std::string& url : what.values("--api")) {
    auto agent = agent_address(url);
    if (!agent) return std::unexpected(std::move(agent.error()));
    out.push_back(std::move(*agent));
  }
  return out.empty() ? agents_to_ask(std::nullopt, what.verb) : out;
}

/// An agent that was found need not have the requested election; a named one should.
bool is_of_no_concern(const invocation& what, const agent_answer& answer) {
  return what.values("--api").empty() && !answer &&
         wire::read_problem(answer.error().json).value_or(wire::problem()).code ==
             "unknown_election";
}

int show_once(const invocation& what, const std::vector<settings::endpoint>& agents,
              const std::string& path) {
  std::vector<agent_sight> all;
  std::vector<agent_sight> seen;
  int status = runtime::exit_ok;
  const std::vector<agent_answer> answers =
      ask_all(agents, {.method = "GET", .target = path},
              agents.size() > 1 ? local_reply_limit : reply_limit);
  const bool is_answered = std::ranges::any_of(
      answers, [](const agent_answer& one) { return one || one.error().silence.empty(); });
  const bool concerns_somebody = std::ranges::any_of(
      answers, [&](const agent_answer& one) { return !is_of_no_concern(what, one); });
  for (std::size_t i = 0; i < agents.size(); ++i) {
    agent_sight& one = all.emplace_back(agent_sight{.agent = agents[i]});
    take(one, answers[i], base::boot_now());
    if (concerns_somebody && is_of_no_concern(what, answers[i])) continue;
    seen.push_back(one);
    const bool is_silent = !*one.answer && !one.answer->error().silence.empty();
    if (is_silent && is_answered) {
      status = std::max(status, runtime::exit_cannot_tell);
    } else if (!*one.answer) {
      status = std::max(status, one.answer->error().status);
    }
    if (!doubt_text(one.elections).empty()) status = std::max(status, runtime::exit_cannot_tell);
  }
  if (what.output == output_form::json) {
    for (const agent_sight& one : seen) std::puts(json_of(one).c_str());
  } else {
    const status_page page = page_of(seen, base::boot_now());
    if (page.table.size() > 1) {
      for (const std::string& line : table_lines(page.table, wants_colour())) {
        std::puts(line.c_str());
      }
    }
    for (const cell& crash : page.crashes) std::puts(painted(crash, wants_colour()).c_str());
  }
  if (const std::string why = silence_text(all); !why.empty()) print_failure(what.verb, why);
  for (const agent_sight& one : seen) {
    if (!*one.answer && !one.answer->error().silence.empty()) continue;
    const std::string why = *one.answer ? doubt_text(one.elections) : one.answer->error().text;
    if (!why.empty()) print_failure(what.verb, why);
  }
  return status;
}

}  // namespace

int run_status(const invocation& what) {
  const auto agents = agents_of(what);
  if (!agents) {
    print_failure(what.verb, agents.error());
    return runtime::exit_bad_settings;
  }
  const std::string path = path_of(what.value("ELECTION"));
  if (!what.has("--watch")) return show_once(what, *agents, path);
  return watch_status({.agents = *agents, .path = path, .json = what.output == output_form::json});
}

}  // namespace tenure::cli
