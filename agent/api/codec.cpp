#include "api/codec.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string_view>
#include <utility>

#include "api/change.hpp"
#include "api/election_pages.hpp"
#include "api/obstacle.hpp"
#include "base/printable_text.hpp"
#include "base/time_text.hpp"
#include "core/check.hpp"

namespace tenure::api {
namespace {

using json = nlohmann::ordered_json;

std::string text(const json& body) {
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

http::response to_response(unsigned status, std::string body) {
  return {.status = status,
          .body = std::move(body) + "\n",
          .headers = {{.name = "Cache-Control", .value = "no-store"}}};
}

http::response to_response(unsigned status, const json& body) {
  return to_response(status, text(body));
}

void add_etag(http::response& to, const snapshot& seen, std::uint64_t index) {
  to.headers.push_back({.name = "ETag", .value = "W/\"" + version_id(seen.agent, index) + "\""});
}

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

std::int64_t whole_ms(core::duration d) {
  return std::chrono::floor<std::chrono::milliseconds>(d).count();
}

json time_or_null(const std::optional<std::int64_t>& unix_ms) {
  return unix_ms ? json(rfc3339(*unix_ms)) : json(nullptr);
}

json text_or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

json reason_or_null(core::loss_reason why) {
  return why == core::loss_reason::none ? json(nullptr) : json(core::name(why));
}

json holders_json(const std::vector<core::holder>& holders) {
  json out = json::array();
  for (const core::holder& h : holders) {
    out.push_back({{"identity", h.identity}, {"version", core::number(h.term)}});
  }
  return out;
}

json term_json(const past_term& one) {
  const auto time = [](std::int64_t unix_ms) {
    return unix_ms == 0 ? json(nullptr) : json(rfc3339(unix_ms));
  };
  return {{"holder", one.who.identity},
          {"version", core::number(one.who.term)},
          {"version_text", std::to_string(core::number(one.who.term))},
          {"is_self", one.is_self},
          {"from", time(one.from_unix_ms)},
          {"to", time(one.to_unix_ms)},
          {"ended", one.ended},
          {"reason", text_or_null(one.reason)}};
}

json last_term_json(const election_snapshot& election) {
  if (!election.terms) return nullptr;
  const auto ended =
      std::ranges::find(election.terms->rbegin(), election.terms->rend(), true, &past_term::ended);
  return ended == election.terms->rend() ? json(nullptr) : term_json(*ended);
}

/// Who takes part: those that the store shows, and who holds, whether it is shown there or not.
json members_json(const election_snapshot& election, const standing& is, const snapshot& seen) {
  if (!election.view.seen || !election.view.seen->members) return nullptr;
  json out = json::array();
  std::vector<std::string> named;
  const auto add = [&](const std::string& who, std::string_view state) {
    if (std::ranges::find(named, who) != named.end()) return;
    named.push_back(who);
    out.push_back({{"identity", who}, {"is_self", who == seen.identity}, {"state", state}});
  };
  for (const core::holder& h : is.holders) {
    const std::string_view others = is.holders_known ? "active" : "unknown";
    add(h.identity, h.ours ? core::name(is.phase) : others);
  }
  for (const std::string& one : *election.view.seen->members) {
    const bool ours_and_busy =
        one == seen.identity && is.phase != core::phase::candidate && election.campaigns;
    const bool known = is.holders_known || one == seen.identity;
    add(one, ours_and_busy ? core::name(is.phase) : known ? "standby" : "unknown");
  }
  return out;
}

std::optional<std::int64_t> aside_for_ms(const election_snapshot& election, const instant& at) {
  const core::time_point until = election.view.aside_until;
  if (until <= at.now || until == core::never) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(until - at.now).count();
}

json health_json(const core::health_finding& what) {
  return {{"state", core::name(what.state)},
          {"reason", text_or_null(what.reason)},
          {"since", rfc3339(what.since_unix_ms)}};
}

json obstacle_json(const std::optional<obstacle>& what) {
  return what ? json{{"reason", what->reason}, {"text", what->text}} : json(nullptr);
}

/// Those that are not among the members any more.
json gone_json(const election_snapshot& election) {
  json out = json::array();
  if (!election.gone) return out;
  for (const gone_member& one : *election.gone) {
    out.push_back({{"identity", one.identity}, {"last_seen", rfc3339(one.last_seen_unix_ms)}});
  }
  return out;
}

void append_number(std::string& to, const std::optional<std::int64_t>& number) {
  to.append(number ? std::to_string(*number) : "null");
}

/// By hand, since each answer about an election has it and nlohmann's objects took half of the time
/// that such an answer takes.
void append_store(std::string& to, const snapshot& seen, const instant& at) {
  const auto silence = seen.contact.silence(at.now);
  const std::string why = seen.contact.why(at.now);
  to.append(R"({"kind":)").append(text(text_or_null(seen.store)));
  to.append(R"(,"reachable":)").append(seen.contact.reachable(at.now) ? "true" : "false");
  to.append(R"(,"last_answer_ms":)");
  append_number(to, silence ? std::optional(whole_ms(*silence)) : std::nullopt);
  to.append(R"(,"why":)").append(why.empty() ? "null" : text(json(why))).append("}");
}

json store_json(const snapshot& seen, const instant& at) {
  std::string out;
  append_store(out, seen, at);
  return json::parse(out);
}

/// What stands in the form by itself; null where `open_parts` has a place for it.
json election_json(const election_snapshot& election, const snapshot& seen, const instant& at) {
  const standing is = standing_of(election, seen, at);
  json out;
  out["election"] = election.name;
  out["identity"] = seen.identity;
  out["agent"] = seen.agent;
  out["index"] = index_of(election, seen, at.now);
  out["state"] = core::name(is.phase);
  out["is_self"] = is.is_self;
  out["holder"] = is.holder ? json(is.holder->identity) : json(nullptr);
  out["version"] = is.holder ? json(core::number(is.holder->term)) : json(nullptr);
  out["version_text"] =
      is.holder ? json(std::to_string(core::number(is.holder->term))) : json(nullptr);
  out["holders"] = holders_json(is.holders);
  out["holder_known"] = nullptr;
  out["holder_age_ms"] = nullptr;
  out["sequencer"] = or_null(is.sequencer);
  out["expires_in_ms"] = nullptr;
  out["since"] = time_or_null(is.since_unix_ms);
  out["as_of"] = nullptr;
  out["last_loss"] = reason_or_null(election.view.last_loss);
  out["last_term"] = last_term_json(election);
  out["slots"] = election.slots;
  out["members"] = members_json(election, is, seen);
  out["gone"] = gone_json(election);
  out["paused"] = election.view.paused;
  out["aside_for_ms"] = nullptr;
  out["not_campaigning"] = nullptr;
  out["workload_running"] =
      election.owns_workload ? json(election.view.workload_running) : json(nullptr);
  if (seen.health) out["health"] = health_json(*seen.health);
  out["store"] = nullptr;
  out["cluster_id"] = text_or_null(seen.cluster_id);
  return out;
}

using part = election_form::part;

/// The members whose value follows from time alone.
constexpr std::array<std::pair<std::string_view, part>, 7> open_parts{
    {{"holder_known", part::holder_known},
     {"holder_age_ms", part::holder_age_ms},
     {"expires_in_ms", part::expires_in_ms},
     {"aside_for_ms", part::aside_for_ms},
     {"not_campaigning", part::not_campaigning},
     {"as_of", part::as_of},
     {"store", part::store}}};

void fill_in(std::string& to, part what, const election_snapshot& election, const snapshot& seen,
             const instant& at) {
  switch (what) {
    case part::holder_known:
      to.append(holders_known(election, seen.contact, at.now) ? "true" : "false");
      return;
    case part::holder_age_ms: {
      const auto age = holders_age(election, seen.contact, at.now);
      return append_number(to, age ? std::optional(whole_ms(*age)) : std::nullopt);
    }
    case part::expires_in_ms:
      return append_number(to, expires_in_ms(election, at));
    case part::aside_for_ms:
      return append_number(to, aside_for_ms(election, at));
    case part::not_campaigning: {
      const auto obstacle = obstacle_of(election, seen, at);
      to.append(obstacle ? text(obstacle_json(obstacle)) : "null");
      return;
    }
    case part::as_of:
      to.append("\"").append(rfc3339(at.unix_ms)).append("\"");
      return;
    case part::store:
      return append_store(to, seen, at);
  }
}

std::string election_text(const election_snapshot& election, const snapshot& seen,
                          const instant& at) {
  return filled(form_of(election, seen, at), election, seen, at);
}

std::string_view name(evidence what) {
  switch (what) {
    case evidence::lease:
      return "lease";
    case evidence::cache:
      return "cache";
    case evidence::store:
      return "store";
  }
  return "";
}

std::string_view name(ruling what) {
  switch (what) {
    case ruling::valid:
      return "valid";
    case ruling::superseded:
      return "superseded";
    case ruling::not_held:
      return "not_held";
    case ruling::not_granted:
      return "not_granted";
    case ruling::other_holder:
      return "other_holder";
    case ruling::ending:
      return "ending";
    case ruling::unwatched:
    case ruling::behind:
    case ruling::expired:
      break;
  }
  TENURE_CHECK(is_certain(what));
  return "";
}

/// Why a term is not in force, in words.
std::string refusal_text(const term_question& asked, const verdict& what,
                         const election_snapshot& election, const core::holder* shown) {
  const std::string version = "version " + std::to_string(core::number(asked.term));
  const std::string of = " of election \"" + election.name + "\"";
  const std::string now = shown == nullptr
                              ? "; nobody holds it now"
                              : "; " + shown->identity + " holds it now, under version " +
                                    std::to_string(core::number(shown->term));
  switch (what.is) {
    case ruling::not_granted:
      return version + of + " has not been granted by this store" + now;
    case ruling::other_holder:
      return version + of + " is not held by " + asked.holder.value_or("") + now;
    case ruling::ending:
      return version + of + " is being given up, and nobody may act under it any more" + now;
    default:
      return version + of + " is over" + now;
  }
}

}  // namespace

std::string rfc3339(std::int64_t unix_ms) {
  return std::string(base::time_text(unix_ms).date_and_time());
}

election_form form_of(const election_snapshot& election, const snapshot& seen, const instant& at) {
  const json members = election_json(election, seen, at);
  election_form out;
  char before = '{';
  for (const auto& member : members.items()) {
    out.text += before;
    out.text.append(text(member.key())) += ':';
    const auto open = std::ranges::find(open_parts, std::string_view(member.key()),
                                        [](const auto& one) { return one.first; });
    if (open != open_parts.end()) {
      out.open.push_back({.at = out.text.size(), .what = open->second});
    } else {
      out.text += text(member.value());
    }
    before = ',';
  }
  out.text += '}';
  return out;
}

std::string filled(const election_form& form, const election_snapshot& election,
                   const snapshot& seen, const instant& at) {
  constexpr std::size_t room_for_each = 32;
  std::string out;
  out.reserve(form.text.size() + form.open.size() * room_for_each);
  std::size_t done = 0;
  for (const election_form::place& open : form.open) {
    out.append(form.text, done, open.at - done);
    done = open.at;
    fill_in(out, open.what, election, seen, at);
  }
  return out.append(form.text, done);
}

http::response error_response(unsigned status, const problem& what) {
  return to_response(status, {{"error",
                               {{"code", what.code},
                                {"message", base::printable(what.message)},
                                {"action", base::printable(what.action)}}}});
}

http::response ok_response() {
  return to_response(200, {{"status", "ok"}});
}

std::string version_id(const std::string& agent, std::uint64_t index) {
  return agent + "-" + std::to_string(index);
}

http::response not_modified_response(const snapshot& seen, std::uint64_t index) {
  http::response out{.status = 304, .headers = {{.name = "Cache-Control", .value = "no-store"}}};
  add_etag(out, seen, index);
  return out;
}

http::response election_response(const election_form& form, const election_snapshot& election,
                                 const snapshot& seen, const instant& at) {
  http::response out = to_response(200, filled(form, election, seen, at));
  add_etag(out, seen, index_of(election, seen, at.now));
  return out;
}

std::string election_event(const election_snapshot& election, const snapshot& seen,
                           const instant& at) {
  return "id: " + version_id(seen.agent, index_of(election, seen, at.now)) +
         "\nevent: election\ndata: " + election_text(election, seen, at) + "\n\n";
}

http::response elections_response(election_pages& pages, const snapshot& seen, const instant& at) {
  // One after the other: the tree of ten thousand would be many times as large as their text.
  std::string list;
  for (std::size_t i = 0; i < seen.elections.size(); ++i) {
    if (i > 0) list += ',';
    list += filled(pages.of(seen, i, at), seen.elections[i], seen, at);
  }
  const std::uint64_t index = index_of(seen, at.now);
  http::response out = to_response(
      200, R"({"elections":[)" + list + R"(],"agent":)" + text(seen.agent) + R"(,"index":)" +
               std::to_string(index) + R"(,"as_of":)" + text(rfc3339(at.unix_ms)) + "}");
  add_etag(out, seen, index);
  return out;
}

http::response history_response(const election_snapshot& election, const snapshot& seen,
                                const instant& at, std::size_t limit) {
  json terms = json::array();
  if (election.terms) {
    for (const past_term& one : *election.terms | std::views::reverse) {
      if (terms.size() == limit) break;
      terms.push_back(term_json(one));
    }
  }
  json out;
  out["election"] = election.name;
  out["identity"] = seen.identity;
  out["agent"] = seen.agent;
  out["complete_since"] = rfc3339(seen.started_unix_ms);
  out["terms"] = std::move(terms);
  out["holder_known"] = holders_known(election, seen.contact, at.now);
  out["store"] = store_json(seen, at);
  out["as_of"] = rfc3339(at.unix_ms);
  return to_response(200, out);
}

namespace {

json older_json(const election_snapshot& election, const snapshot& seen, const instant& at) {
  const standing is = standing_of(election, seen, at);
  const bool ours_but_idle = is.holder && is.holder->identity == seen.identity && !is.is_self;
  const std::string name = is.holder && !ours_but_idle ? is.holder->identity : "";
  json out;
  out["name"] = name;
  out["leader"] = name;
  out["is_leader"] = is.is_self;
  out["node"] = seen.identity;
  out["last_update"] = rfc3339(at.unix_ms);
  out["timestamp"] = rfc3339(at.unix_ms);
  out["election"] = election.name;
  out["version"] = name.empty() ? json(nullptr) : json(core::number(is.holder->term));
  return out;
}

}  // namespace

http::response older_response(const election_snapshot& election, const snapshot& seen,
                              const instant& at) {
  return to_response(200, older_json(election, seen, at));
}

std::string older_event(const election_snapshot& election, const snapshot& seen,
                        const instant& at) {
  return "id: " + version_id(seen.agent, index_of(election, seen, at.now)) +
         "\ndata: " + text(older_json(election, seen, at)) + "\n\n";
}

http::response verdict_response(const term_question& asked, const verdict& what,
                                const election_snapshot& election, const snapshot& seen,
                                const instant& at) {
  const bool valid = what.is == ruling::valid;
  const auto in_question = std::ranges::find(what.holders, asked.term, &core::holder::term);
  const core::holder* shown = in_question != what.holders.end() ? &*in_question
                              : what.holders.empty()            ? nullptr
                                                                : &what.holders.front();
  const std::int64_t age = whole_ms(what.age);
  json out;
  out["valid"] = valid;
  if (!valid) {
    out["reason"] = name(what.is);
    out["message"] = refusal_text(asked, what, election, shown);
    out["action"] = "refuse what is stamped with it";
  }
  out["election"] = election.name;
  out["asked"] = {{"version", core::number(asked.term)},
                  {"version_text", std::to_string(core::number(asked.term))},
                  {"holder", or_null(asked.holder)}};
  out["holder"] = shown != nullptr ? json(shown->identity) : json(nullptr);
  out["version"] = shown != nullptr ? json(core::number(shown->term)) : json(nullptr);
  out["version_text"] =
      shown != nullptr ? json(std::to_string(core::number(shown->term))) : json(nullptr);
  out["holders"] = holders_json(what.holders);
  out["source"] = name(what.from);
  out["as_of"] = rfc3339(at.unix_ms - age);
  out["age_ms"] = age;
  out["expires_in_ms"] = or_null(what.expires_in_ms);
  out["identity"] = seen.identity;
  out["store"] = store_json(seen, at);
  out["cluster_id"] = text_or_null(seen.cluster_id);
  return to_response(valid ? 200 : 409, out);
}

}  // namespace tenure::api
