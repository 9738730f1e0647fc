#include <chrono>
#include <nlohmann/json.hpp>

#include "base/duration_text.hpp"
#include "wire/election.hpp"
#include "wire/json_codec.hpp"

namespace tenure::wire {

using nlohmann::json;

static void describe(maybe_const<member_report> auto& of, auto& with) {
  with("identity", of.identity);
  with("is_self", of.is_self);
  with("state", of.state);
  with("ready", of.ready);
  with("priority", of.priority);
  with.time("ready_since", of.ready_since_unix_ms);
}

static void describe(maybe_const<gone_member> auto& of, auto& with) {
  with("identity", of.identity);
  with.time("last_seen", of.last_seen_unix_ms);
}

static void describe(maybe_const<health_report> auto& of, auto& with) {
  with("state", of.state);
  with.or_null("reason", of.reason);
  with.time("since", of.since_unix_ms);
}

static void describe(maybe_const<obstacle> auto& of, auto& with) {
  with("reason", of.reason);
  with("text", of.text);
}

static void describe(maybe_const<store_report> auto& of, auto& with) {
  with.or_null("kind", of.kind);
  with("reachable", of.reachable);
  with("last_answer_ms", of.last_answer_ms);
  with.or_null("why", of.why);
}

static void describe(maybe_const<outage> auto& of, auto& with) {
  with.time("from", of.from_unix_ms);
  with("lasted_ms", of.lasted_ms);
  with("at_most", of.at_most);
}

static void describe(maybe_const<past_term> auto& of, auto& with) {
  with.holder(of.who);
  with("is_self", of.is_self);
  with.time("from", of.from_unix_ms);
  with.time("to", of.to_unix_ms);
  with("ended", of.ended);
  with.or_null("reason", of.reason);
  with("outage_after", of.outage_after);
}

static void describe(maybe_const<election_report> auto& of, auto& with) {
  with("election", of.election);
  with("identity", of.identity);
  with("agent", of.agent);
  with("index", of.index);
  with("state", of.state);
  with("is_self", of.is_self);
  with.holder(of.holder);
  with("holders", of.holders);
  with("holder_known", of.holder_known);
  with("holder_age_ms", of.holder_age_ms);
  with("sequencer", of.sequencer);
  with("expires_in_ms", of.expires_in_ms);
  with.time("since", of.since_unix_ms);
  with.time("as_of", of.as_of_unix_ms);
  with.or_null("last_loss", of.last_loss);
  with("last_term", of.last_term);
  with("slots", of.slots);
  with.slot(of.holder);
  with.or_null("next", of.next);
  with("in_line", of.in_line);
  with("members", of.members);
  with("gone", of.gone);
  with("paused", of.paused);
  with("aside_for_ms", of.aside_for_ms);
  with("not_campaigning", of.not_campaigning);
  with("workload_running", of.workload_running);
  with.if_any("health", of.health);
  with("store", of.store);
  with.or_null("cluster_id", of.cluster_id);
}

static void describe(maybe_const<history_report> auto& of, auto& with) {
  with("election", of.election);
  with("identity", of.identity);
  with("agent", of.agent);
  with.time("complete_since", of.complete_since_unix_ms);
  with("terms", of.terms);
  with("holder_known", of.holder_known);
  with("store", of.store);
  with.time("as_of", of.as_of_unix_ms);
}

static void describe(maybe_const<term_question> auto& of, auto& with) {
  with.version(of.version);
  with("holder", of.holder);
  with("sequencer", of.sequencer);
}

static void describe(maybe_const<verification> auto& of, auto& with) {
  with("valid", of.valid);
  with.if_any("reason", of.reason);
  with.if_any("message", of.message);
  with.if_any("action", of.action);
  with("election", of.election);
  with("asked", of.asked);
  with.holder(of.holder);
  with("holders", of.holders);
  with("source", of.source);
  with.time("as_of", of.as_of_unix_ms);
  with("age_ms", of.age_ms);
  with("expires_in_ms", of.expires_in_ms);
  with("identity", of.identity);
  with("store", of.store);
  with.or_null("cluster_id", of.cluster_id);
}

static void describe(maybe_const<older_status> auto& of, auto& with) {
  with("name", of.name);
  with("leader", of.name);
  with("is_leader", of.is_leader);
  with("node", of.node);
  with.time("last_update", of.as_of_unix_ms);
  with.time("timestamp", of.as_of_unix_ms);
  with("election", of.election);
  with("version", of.version);
}

namespace {

template <class Document>
std::string written(const Document& what) {
  // Room for nearly all of them: a text that grows is copied again and again.
  constexpr std::size_t usual_bytes = 2048;
  std::string out;
  out.reserve(usual_bytes);
  append(out, what);
  return out;
}

/// Agents report either that a term has ended, or when.
void complete(past_term& one) {
  one.ended = one.ended || one.to_unix_ms != 0;
}

/// Nothing if `from` is not an election of an agent.
std::optional<election_report> election_in(const json& from) {
  election_report out;
  if (!read(from, out) || out.election.empty() || out.state.empty()) return std::nullopt;
  if (out.last_term) out.last_term->ended = true;
  if (out.not_campaigning == obstacle()) out.not_campaigning.reset();
  return out;
}

/// Removes the members that change with time alone.
void keep_what_lasts(json& of) {
  for (const char* name : {"as_of", "expires_in_ms", "holder_age_ms", "index"}) of.erase(name);
  if (const auto store = of.find("store"); store != of.end() && store->is_object()) {
    store->erase("last_answer_ms");
  }
  if (const auto aside = of.find("aside_for_ms"); aside != of.end()) *aside = !aside->is_null();
  // Its text contains a number of seconds.
  if (const auto why = of.find("not_campaigning"); why != of.end() && why->is_object()) {
    why->erase("text");
  }
  const auto list = of.find("elections");
  if (list == of.end() || !list->is_array()) return;
  for (json& one : *list) {
    if (one.is_object()) keep_what_lasts(one);
  }
}

}  // namespace

std::string length_text(const outage& what) {
  return length_text(what, what.from_unix_ms);
}

std::string length_text(const outage& what, std::int64_t unix_ms) {
  const std::chrono::milliseconds lasted(what.lasted_ms.value_or(unix_ms - what.from_unix_ms));
  return (what.at_most ? "at most " : "") + std::string(base::spoken(lasted).view());
}

std::string write(const election_report& what) {
  return written(what);
}

std::string write_list(std::size_t count, const std::function<election_report(std::size_t)>& at,
                       std::string_view agent, std::uint64_t index, std::int64_t as_of_unix_ms) {
  std::string out = R"({"elections":[)";
  for (std::size_t i = 0; i < count; ++i) append(out += i > 0 ? "," : "", at(i));
  append(out += R"(],"agent":)", agent);
  append(out += R"(,"index":)", index);
  append_time(out += R"(,"as_of":)", as_of_unix_ms);
  return out + "}";
}

std::optional<std::vector<election_report>> read_elections(std::string_view body) {
  const json answer = parsed(body);
  const auto list = elements(member(answer, "elections"));
  std::vector<election_report> out;
  for (const json* const one : list.value_or(std::vector{&answer})) {
    auto report = election_in(*one);
    if (!report) return std::nullopt;
    out.push_back(std::move(*report));
  }
  return out;
}

std::optional<std::uint64_t> index_in(std::string_view body) {
  std::optional<std::uint64_t> out;
  read(member(parsed(body), "index"), out);
  return out;
}

std::string lasting_part(std::string_view body) {
  json answer = parsed(body);
  if (answer.is_object()) keep_what_lasts(answer);
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string write(const history_report& what) {
  return written(what);
}

std::optional<history_report> read_history(std::string_view body) {
  const json answer = parsed(body);
  history_report out;
  if (!member(answer, "terms").is_array() || !read(answer, out)) return std::nullopt;
  for (past_term& one : out.terms) complete(one);
  return out;
}

std::string write(const verification& what) {
  return written(what);
}

std::optional<verification> read_verification(std::string_view body) {
  const nlohmann::json answer = parsed(body);
  verification out;
  const bool is_clear = member(answer, "valid").is_boolean() && read(answer, out);
  const bool is_about_a_term = out.asked.version != core::no_version || out.asked.sequencer;
  return is_clear && is_about_a_term ? std::optional(std::move(out)) : std::nullopt;
}

std::string write(const older_status& what) {
  return written(what);
}

}  // namespace tenure::wire
