#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/text/knowledge.hpp"
#include "cli/text/print.hpp"
#include "cli/text/terminal.hpp"
#include "cli/text/times.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"

namespace tenure::cli {
namespace {

constexpr const char* nothing = "-";

std::string moment_or_nothing(std::int64_t unix_ms) {
  return unix_ms == 0 ? nothing : moment(unix_ms);
}

/// False for a term that may have ended since the agent last heard of it.
bool end_is_known(const wire::past_term& term, const wire::history_report& in) {
  return term.ended || term.is_self || in.holder_known;
}

std::string lasted(const wire::past_term& term, const wire::history_report& in) {
  const std::int64_t to = term.ended ? term.to_unix_ms : in.as_of_unix_ms.value_or(0);
  return term.from_unix_ms != 0 && to != 0 ? span(to - term.from_unix_ms) : nothing;
}

std::string reason(const wire::past_term& term) {
  if (!term.reason.empty()) return term.reason;
  return term.ended ? "unknown" : nothing;
}

/// How long no member was active after the term, or has not been until now.
std::string outage(const wire::past_term& term, const wire::history_report& in) {
  if (!term.outage_after) return nothing;
  if (term.outage_after->lasted_ms) return wire::length_text(*term.outage_after);
  if (!in.holder_known || !in.as_of_unix_ms) return "not known";
  return wire::length_text(*term.outage_after, *in.as_of_unix_ms) + " until now";
}

cell end_cell(const wire::past_term& term, const wire::history_report& in) {
  if (term.ended) return {.text = moment_or_nothing(term.to_unix_ms)};
  if (end_is_known(term, in)) return {.text = "runs", .colour = tint::good};
  return {.text = "not known", .colour = tint::warning};
}

table_row row_of(const wire::past_term& term, const wire::history_report& in) {
  return {{.text = text(term.who.version)},
          {.text = term.who.identity},
          {.text = moment_or_nothing(term.from_unix_ms)},
          end_cell(term, in),
          {.text = end_is_known(term, in) ? lasted(term, in) : nothing},
          {.text = reason(term)},
          {.text = outage(term, in)}};
}

void print(const wire::history_report& what) {
  std::vector<table_row> rows{{{.text = "VERSION"},
                               {.text = "HOLDER"},
                               {.text = "FROM"},
                               {.text = "TO"},
                               {.text = "LASTED"},
                               {.text = "REASON"},
                               {.text = "OUTAGE AFTER"}}};
  for (const wire::past_term& term : what.terms) rows.push_back(row_of(term, what));
  const bool colour = wants_colour();
  for (const std::string& line : table_lines(rows, colour)) std::puts(line.c_str());
  const cell since{
      .text = "as seen since " + moment_or_nothing(what.complete_since_unix_ms.value_or(0)),
      .colour = tint::faint};
  std::puts(painted(since, colour).c_str());
}

}  // namespace

int run_history(const invocation& what) {
  const auto limit = what.value("--limit");
  if (limit) {
    constexpr std::uint32_t most = 1'000'000;
    const auto number = config::parse_integer(*limit, 1, most);
    if (!number) {
      print_failure(what.verb, wrong_value("--limit", number.error()));
      return runtime::exit_bad_settings;
    }
  }
  const auto which = election_address_of(what);
  if (!which) return report_failure(what, which.error());
  const std::string target =
      path_of(which->election) + "/history" + (limit ? "?limit=" + *limit : "");
  const agent_answer answer = ask_agent(which->agent, {.method = "GET", .target = target});
  if (!answer) return report_failure(what, answer.error());
  const auto history = wire::read_history(*answer);
  if (!history) return report_failure(what, not_an_agent(which->agent));
  if (what.output == output_form::json) {
    print_json(*answer);
  } else {
    print(*history);
  }
  return runtime::exit_ok;
}

}  // namespace tenure::cli
