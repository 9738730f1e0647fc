#include "api/codec.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::api {
namespace {

using json = nlohmann::ordered_json;

net::response to_response(unsigned status, const json& body) {
  return {.status = status,
          .body = body.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
          .headers = {{.name = "Cache-Control", .value = "no-store"}}};
}

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
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

json election_json(const election_snapshot& election, const snapshot& seen, const instant& at) {
  const standing is = standing_of(election, seen.identity, at);
  json out;
  out["election"] = election.name;
  out["identity"] = seen.identity;
  out["state"] = core::name(is.phase);
  out["is_self"] = is.is_self;
  out["holder"] = is.holder ? json(is.holder->identity) : json(nullptr);
  out["version"] = is.holder ? json(core::number(is.holder->term)) : json(nullptr);
  out["version_text"] =
      is.holder ? json(std::to_string(core::number(is.holder->term))) : json(nullptr);
  out["holders"] = holders_json(is.holders);
  out["sequencer"] = or_null(is.sequencer);
  out["expires_in_ms"] = or_null(is.expires_in_ms);
  out["since"] = time_or_null(is.since_unix_ms);
  out["as_of"] = rfc3339(at.unix_ms);
  out["last_loss"] = reason_or_null(election.view.last_loss);
  out["slots"] = election.slots;
  out["workload_running"] =
      election.owns_workload ? json(election.view.workload_running) : json(nullptr);
  out["store"] = text_or_null(seen.store);
  out["cluster_id"] = text_or_null(seen.cluster_id);
  return out;
}

}  // namespace

std::string rfc3339(std::int64_t unix_ms) {
  std::int64_t ms = unix_ms % 1000;
  if (ms < 0) ms += 1000;
  const std::time_t seconds = (unix_ms - ms) / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> date{};
  const std::size_t size = std::strftime(date.data(), date.size(), "%Y-%m-%dT%T", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(ms));
  return std::string(date.data(), size) + fraction.data();
}

net::response error_response(unsigned status, const problem& what) {
  return to_response(
      status,
      {{"error", {{"code", what.code}, {"message", what.message}, {"action", what.action}}}});
}

net::response ok_response() {
  return to_response(200, {{"status", "ok"}});
}

net::response election_response(const election_snapshot& election, const snapshot& seen,
                                const instant& at) {
  return to_response(200, election_json(election, seen, at));
}

net::response elections_response(const snapshot& seen, const instant& at) {
  json list = json::array();
  for (const election_snapshot& one : seen.elections) list.push_back(election_json(one, seen, at));
  return to_response(200, {{"elections", std::move(list)}, {"as_of", rfc3339(at.unix_ms)}});
}

net::response older_response(const election_snapshot& election, const snapshot& seen,
                             const instant& at) {
  const standing is = standing_of(election, seen.identity, at);
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
  return to_response(200, out);
}

}  // namespace tenure::api
