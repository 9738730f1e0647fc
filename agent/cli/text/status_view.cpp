#include "cli/text/status_view.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "base/list_text.hpp"
#include "cli/text/knowledge.hpp"
#include "cli/text/print.hpp"
#include "cli/text/times.hpp"
#include "settings/endpoint.hpp"
#include "wire/problem.hpp"

namespace tenure::cli {
namespace {

constexpr const char* nothing = "-";

std::string state_text(const wire::election_report& e, std::int64_t age_ms) {
  std::string out = state_word(e);
  if (e.paused) return out + ", paused";
  if (e.aside_for_ms && *e.aside_for_ms > age_ms) {
    return out + ", aside " + span(*e.aside_for_ms - age_ms);
  }
  // Health has words of its own, with and without a campaign.
  const auto& why = e.not_campaigning;
  if (!why || why->reason == "unhealthy" || why->text.empty()) return out;
  return out + ": " + why->text;
}

cell state_cell(const wire::election_report& e, std::int64_t age_ms) {
  tint colour = tint::none;
  if (e.is_self) colour = tint::good;
  if (e.not_campaigning || e.paused || e.aside_for_ms || e.state == "pending" ||
      e.state == "draining") {
    colour = tint::warning;
  }
  const std::string unhealthy = unhealthy_text(e);
  if (!unhealthy.empty()) colour = tint::bad;
  std::string text = state_text(e, age_ms);
  if (!unhealthy.empty()) text += ", unhealthy: " + unhealthy;
  return {.text = std::move(text), .colour = colour};
}

/// Each holder and its version; several holders with several slots.
std::pair<cell, cell> holder_cells(const wire::election_report& e) {
  if (e.holders.empty() && !e.holder_known) {
    return {{.text = "not known", .colour = tint::warning}, {.text = nothing}};
  }
  if (e.holders.empty()) return {{.text = "nobody", .colour = tint::bad}, {.text = nothing}};
  std::vector<std::string> names;
  std::vector<std::string> versions;
  for (const core::holder& s : e.holders) {
    names.push_back(e.slots > 1 ? s.identity + " (slot " + std::to_string(s.slot) + ")"
                                : s.identity);
    versions.push_back(text(s.version));
  }
  return {{.text = base::listed(names)}, {.text = base::listed(versions)}};
}

cell left_cell(const wire::election_report& e, std::int64_t age_ms) {
  if (!e.expires_in_ms) return {.text = nothing, .colour = tint::faint};
  return {.text = remainder(std::max<std::int64_t>(*e.expires_in_ms - age_ms, 0))};
}

cell next_cell(const wire::election_report& e) {
  if (e.next.empty()) return {.text = nothing, .colour = tint::faint};
  return {.text = e.next};
}

cell members_cell(const wire::election_report& e) {
  if (!e.members) return {.text = nothing, .colour = tint::faint};
  std::vector<std::string> names;
  for (const wire::member_report& m : *e.members) names.push_back(m.identity);
  return {.text = names.empty() ? "none" : base::listed(names)};
}

/// `age_ms`: of the answer; nothing: without what changes with time alone.
std::string last_term_text(const wire::election_report& e, std::optional<std::int64_t> age_ms) {
  if (!e.last_term) return nothing;
  const wire::past_term& t = *e.last_term;
  std::string out = t.who.identity + " " + text(t.who.version) + ": " +
                    (t.reason.empty() ? "reason unknown" : t.reason);
  // An orderly hand-over takes milliseconds.
  constexpr std::int64_t shortest_ms = 1000;
  const auto& after = t.outage_after;
  if (!after || (after->lasted_ms && *after->lasted_ms < shortest_ms)) return out;
  if (after->lasted_ms) return out + ", then an outage of " + wire::length_text(*after);
  if (!e.holder_known || !e.as_of_unix_ms || !age_ms) return out;
  return out + ", an outage of " + wire::length_text(*after, *e.as_of_unix_ms + *age_ms) +
         " so far";
}

/// The holders that have vanished before their leases ended.
std::vector<std::string> vanished(const wire::election_report& e) {
  std::vector<std::string> names;
  for (const wire::member_report& m : e.members.value_or(std::vector<wire::member_report>())) {
    if (m.state == "vanished") names.push_back(m.identity);
  }
  return names;
}

/// "db: a has vanished; its lease ends in 4.0s, then b comes next"; empty: every holder is there.
std::string vanished_text(const wire::election_report& e, std::int64_t age_ms) {
  const std::vector<std::string> names = vanished(e);
  if (names.empty()) return {};
  const bool one = names.size() == 1;
  std::string out =
      e.election + ": " + base::listed(names) + (one ? " has" : " have") + " vanished; ";
  out += one ? "its lease ends" : "their leases end";
  if (one && e.expires_in_ms) {
    out += " in " + remainder(std::max<std::int64_t>(*e.expires_in_ms - age_ms, 0));
  } else {
    out += " soon";
  }
  return out + (e.next.empty() ? "" : ", then " + e.next + " comes next");
}

table_row row_of(const wire::election_report& e, std::int64_t age_ms) {
  auto [holder, version] = holder_cells(e);
  const auto since = since_ms(e);
  if (!e.holder_known && !e.holders.empty()) {
    holder.text += ", " + as_of_text(e, age_ms);
    holder.colour = tint::warning;
  }
  return {{.text = e.election},
          {.text = e.identity},
          state_cell(e, age_ms),
          std::move(holder),
          std::move(version),
          left_cell(e, age_ms),
          {.text = since ? span(*since + age_ms) : nothing},
          next_cell(e),
          members_cell(e),
          {.text = last_term_text(e, age_ms), .colour = tint::faint}};
}

/// A value in a line, quoted if it contains blanks.
std::string quoted(const std::string& value) {
  if (value.find_first_of(" =\"") == std::string::npos && !value.empty()) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string line_of(const wire::election_report& e) {
  auto [holder, version] = holder_cells(e);
  std::string out = "election=" + quoted(e.election) + " agent=" + quoted(e.identity) +
                    " state=" + state_word(e) +
                    " holder=" + quoted(e.holders.empty() ? "" : holder.text) +
                    " version=" + quoted(e.holders.empty() ? "" : version.text);
  if (!e.holder_known) out += " holder_known=false";
  if (!e.store.reachable) out += " store=unreachable";
  if (!e.next.empty()) out += " next=" + quoted(e.next);
  if (e.members) out += " members=" + quoted(members_cell(e).text);
  if (e.paused) out += " paused=true";
  if (e.aside_for_ms) out += " aside=true";
  if (const auto& why = e.not_campaigning) out += " not_campaigning=" + why->reason;
  if (const std::string why = unhealthy_text(e); !why.empty()) out += " unhealthy=" + quoted(why);
  if (const auto who = vanished(e); !who.empty()) out += " vanished=" + quoted(base::listed(who));
  if (e.last_term) out += " last_term=" + quoted(last_term_text(e, std::nullopt));
  return out;
}

/// What is wrong with an agent's store, which all of its elections share.
std::string trouble_of(const std::vector<wire::election_report>& all, std::int64_t age_ms) {
  return all.empty() ? "" : store_trouble(all.front().store, age_ms);
}

/// The process id in the name of a local agent's socket, ".../21511.sock"; empty without one.
std::string pid_of(const settings::endpoint& agent) {
  const std::filesystem::path path(agent.socket_path);
  const std::string name = path.stem().string();
  if (path.extension() != ".sock") return {};
  // If that name was in use, "-" and a random word follow.
  const std::string pid = name.substr(0, name.find('-'));
  return std::ranges::all_of(pid, [](char c) { return c >= '0' && c <= '9'; }) ? pid : "";
}

const std::string* silence_of(const agent_sight& one) {
  if (!one.answer || *one.answer || one.answer->error().silence.empty()) return nullptr;
  return &one.answer->error().silence;
}

/// Why an agent has nothing to show. Precondition: it has nothing.
std::string failure_text(const agent_sight& one) {
  const std::string* const silence = silence_of(one);
  return silence != nullptr ? "this agent has not answered: " + *silence : one.answer->error().text;
}

}  // namespace

void take(agent_sight& of, agent_answer answer, core::time_point now) {
  if (answer) {
    if (auto elections = wire::read_elections(*answer)) {
      of.elections = std::move(*elections);
      of.at = now;
    } else {
      answer = std::unexpected(not_an_agent(of.agent));
    }
  }
  if (!answer) of.elections.clear();
  of.answer = std::move(answer);
}

status_page page_of(const std::vector<agent_sight>& seen, core::time_point now) {
  status_page out;
  out.table.push_back({{.text = "ELECTION"},
                       {.text = "AGENT"},
                       {.text = "STATE"},
                       {.text = "HOLDER"},
                       {.text = "VERSION"},
                       {.text = "LEFT"},
                       {.text = "SINCE"},
                       {.text = "NEXT"},
                       {.text = "MEMBERS"},
                       {.text = "LAST TERM"}});
  std::set<std::string> told;
  for (const agent_sight& one : seen) {
    const auto age = std::chrono::floor<std::chrono::milliseconds>(now - one.at).count();
    for (const wire::election_report& e : one.elections) {
      out.table.push_back(row_of(e, age));
      // All agents of an election see the same crash.
      const std::string crash = vanished_text(e, age);
      if (!crash.empty() && told.insert(e.election).second) {
        out.crashes.push_back({.text = crash, .colour = tint::bad});
      }
    }
    const std::string where = settings::text(one.agent) + ": ";
    if (one.answer && !*one.answer) {
      out.failures.push_back({.text = where + failure_text(one), .colour = tint::bad});
    } else if (const std::string why = trouble_of(one.elections, age); !why.empty()) {
      out.failures.push_back({.text = where + why, .colour = tint::warning});
    }
  }
  return out;
}

std::string silence_text(const std::vector<agent_sight>& seen) {
  std::size_t silent = 0;
  std::string who;
  for (const agent_sight& one : seen) {
    const std::string* const silence = silence_of(one);
    if (silence == nullptr) continue;
    const std::string pid = pid_of(one.agent);
    who += (silent++ == 0 ? "" : "; ") + (pid.empty() ? "" : "pid " + pid + ": ") + *silence;
  }
  if (silent == 0) return {};
  if (seen.size() == 1) return "no agent has answered: " + who;
  const std::string of = " of " + std::to_string(seen.size()) + " agents ";
  if (silent == seen.size()) return "none" + of + "has answered: " + who;
  if (silent == 1) return "one" + of + "has not answered: " + who;
  return std::to_string(silent) + of + "have not answered: " + who;
}

core::duration shown_for(const agent_sight& seen) {
  using std::chrono::milliseconds;
  constexpr milliseconds shortest{200};
  constexpr milliseconds longest{3000};
  // A lease is renewed after a third of it, or a little earlier.
  constexpr int answers_per_lease = 4;
  milliseconds out = longest;
  for (const wire::election_report& e : seen.elections) {
    if (e.expires_in_ms) out = std::min(out, milliseconds(*e.expires_in_ms) / answers_per_lease);
  }
  return std::max(out, shortest);
}

std::vector<std::string> lines_of(const agent_sight& seen) {
  if (!seen.answer) return {};
  if (!*seen.answer) {
    return {"api=" + quoted(settings::text(seen.agent)) + " error=" + quoted(failure_text(seen))};
  }
  std::vector<std::string> out;
  for (const wire::election_report& e : seen.elections) out.push_back(line_of(e));
  return out;
}

std::string json_of(const agent_sight& seen) {
  if (!seen.answer) return {};
  if (silence_of(seen) != nullptr)
    return wire::write(wire::problem{.code = "no_reply", .message = failure_text(seen)});
  return json_line(*seen.answer ? **seen.answer : seen.answer->error().json);
}

}  // namespace tenure::cli
