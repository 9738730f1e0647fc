#include "cli/client/reply_codec.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/client/reply_reading_codec.hpp"
#include "cli/text/times.hpp"

namespace tenure::cli {
namespace {

using nlohmann::json;

/// What agents that do not say so yet mean, too.
bool true_unless_denied(const json& from, const char* name) {
  return member(from, name) != false;
}

bool flag_in(const json& from, const char* name) {
  return member(from, name) == true;
}

template <class Number>
std::optional<Number> number_in(const json& from, const char* name) {
  const json found = member(from, name);
  return found.is_number_integer() ? std::optional(found.get<Number>()) : std::nullopt;
}

seat seat_in(const json& from, const char* who) {
  return {.holder = text_in(from, who),
          .version = number_in<std::uint64_t>(from, "version").value_or(0)};
}

term_report term_in(const json& from) {
  return {.who = seat_in(from, "holder"),
          .from = text_in(from, "from"),
          .to = text_in(from, "to"),
          .ended = flag_in(from, "ended") || !member(from, "to").is_null(),
          .is_self = flag_in(from, "is_self"),
          .reason = text_in(from, "reason")};
}

std::optional<std::int64_t> milliseconds_between(const std::string& from, const std::string& to) {
  const auto begin = unix_ms_of(from);
  const auto end = unix_ms_of(to);
  return begin && end ? std::optional(std::max<std::int64_t>(*end - *begin, 0)) : std::nullopt;
}

std::optional<std::vector<member_report>> members_in(const json& from) {
  const json list = member(from, "members");
  if (!list.is_array()) return std::nullopt;
  std::vector<member_report> out;
  for (const json& one : list) {
    out.push_back({.identity = text_in(one, "identity"),
                   .state = text_in(one, "state"),
                   .is_self = flag_in(one, "is_self")});
  }
  return out;
}

std::string unhealthy_in(const json& from) {
  const json health = member(from, "health");
  if (text_in(health, "state") != "unhealthy") return {};
  const std::string why = text_in(health, "reason");
  return why.empty() ? "its health check failed" : why;
}

store_report store_in(const json& from) {
  const json store = member(from, "store");
  return {.kind = text_in(store, "kind"),
          .reachable = true_unless_denied(store, "reachable"),
          .last_answer_ms = number_in<std::int64_t>(store, "last_answer_ms"),
          .why = text_in(store, "why")};
}

std::optional<election_report> election_in(const json& from) {
  election_report out{.election = text_in(from, "election"),
                      .identity = text_in(from, "identity"),
                      .state = text_in(from, "state"),
                      .is_self = flag_in(from, "is_self")};
  if (out.election.empty() || out.state.empty()) return std::nullopt;
  if (member(from, "holder").is_string()) out.holder = seat_in(from, "holder");
  for (const json& one : member(from, "holders")) out.holders.push_back(seat_in(one, "identity"));
  out.holder_known = true_unless_denied(from, "holder_known");
  out.holder_age_ms = number_in<std::int64_t>(from, "holder_age_ms");
  out.slots = number_in<std::uint64_t>(from, "slots").value_or(1);
  out.expires_in_ms = number_in<std::int64_t>(from, "expires_in_ms");
  out.since_ms = milliseconds_between(text_in(from, "since"), text_in(from, "as_of"));
  out.paused = flag_in(from, "paused");
  out.aside_for_ms = number_in<std::int64_t>(from, "aside_for_ms");
  const json held_back = member(from, "not_campaigning");
  out.held_back = text_in(held_back, "reason");
  out.held_back_text = text_in(held_back, "text");
  out.members = members_in(from);
  if (const json last = member(from, "last_term"); last.is_object()) {
    out.last_term = term_in(last);
    out.last_term->ended = true;
  }
  out.unhealthy = unhealthy_in(from);
  out.store = store_in(from);
  return out;
}

/// Takes away what changes although nothing happens.
void keep_what_lasts(json& of) {
  for (const char* name : {"as_of", "expires_in_ms", "holder_age_ms", "index"}) of.erase(name);
  if (const auto store = of.find("store"); store != of.end() && store->is_object()) {
    store->erase("last_answer_ms");
  }
  if (const auto aside = of.find("aside_for_ms"); aside != of.end()) *aside = !aside->is_null();
  // Its text counts the seconds.
  if (const auto why = of.find("not_campaigning"); why != of.end() && why->is_object()) {
    why->erase("text");
  }
  const auto list = of.find("elections");
  if (list == of.end() || !list->is_array()) return;
  for (json& one : *list) {
    if (one.is_object()) keep_what_lasts(one);
  }
}

std::string text(const json& what) {
  return what.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

const seat* election_report::seat_of(const std::string& member) const {
  const auto found = std::ranges::find(holders, member, &seat::holder);
  return found == holders.end() ? nullptr : &*found;
}

bool is_object(const std::string& body) {
  return parsed_reply(body).is_object();
}

std::optional<std::string> error_in(const std::string& body) {
  const json error = member(parsed_reply(body), "error");
  const std::string message = text_in(error, "message");
  if (message.empty()) return std::nullopt;
  const std::string action = text_in(error, "action");
  return message + (action.empty() ? "" : "; " + action);
}

std::string error_message_in(const std::string& body) {
  return text_in(member(parsed_reply(body), "error"), "message");
}

std::string error_code_in(const std::string& body) {
  return text_in(member(parsed_reply(body), "error"), "code");
}

std::string error_json(std::string_view code, std::string_view message) {
  return text(json{{"error", {{"code", code}, {"message", message}}}});
}

std::optional<std::vector<election_report>> read_elections(const std::string& body) {
  const json answer = parsed_reply(body);
  const json list = member(answer, "elections");
  std::vector<election_report> out;
  if (list.is_array()) {
    for (const json& one : list) {
      auto report = election_in(one);
      if (!report) return std::nullopt;
      out.push_back(std::move(*report));
    }
    return out;
  }
  auto only = election_in(answer);
  if (!only) return std::nullopt;
  out.push_back(std::move(*only));
  return out;
}

std::vector<std::string> election_names(const std::string& list) {
  std::vector<std::string> out;
  const json answer = parsed_reply(list);
  for (const json& one : member(answer, "elections")) out.push_back(text_in(one, "election"));
  return out;
}

std::optional<history_report> read_history(const std::string& body) {
  const json answer = parsed_reply(body);
  const json terms = member(answer, "terms");
  if (!terms.is_array()) return std::nullopt;
  history_report out{.election = text_in(answer, "election"),
                     .complete_since = text_in(answer, "complete_since"),
                     .as_of = text_in(answer, "as_of"),
                     .terms = {},
                     .holder_known = true_unless_denied(answer, "holder_known")};
  for (const json& one : terms) out.terms.push_back(term_in(one));
  return out;
}

std::optional<std::uint64_t> index_in(const std::string& body) {
  return number_in<std::uint64_t>(parsed_reply(body), "index");
}

std::string lasting_part(const std::string& body) {
  json answer = parsed_reply(body);
  if (answer.is_object()) keep_what_lasts(answer);
  return text(answer);
}

std::optional<std::string> accepting_member(const std::string& body) {
  std::string by = text_in(parsed_reply(body), "by");
  return by.empty() ? std::nullopt : std::optional(std::move(by));
}

bool changed_nothing(const std::string& body) {
  return member(parsed_reply(body), "unchanged") == true;
}

std::string order_json(const std::string& to, const std::string& aside, const std::string& member) {
  json out = json::object();
  if (!member.empty()) out["member"] = member;
  if (!to.empty()) out["to"] = to;
  if (!aside.empty()) out["aside"] = aside;
  return text(out);
}

std::string agreement_json(std::uint32_t slots, bool accept_versions) {
  json out = json::object();
  if (slots > 0) out["slots"] = slots;
  if (accept_versions) out["accept_versions"] = true;
  return text(out);
}

}  // namespace tenure::cli
