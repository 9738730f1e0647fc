#include <nlohmann/json.hpp>

#include "base/base64.hpp"
#include "core/check.hpp"
#include "stores/consul/codec.hpp"
#include "stores/json_codec.hpp"

namespace tenure::stores::consul {
namespace {

using nlohmann::ordered_json;

/// Renewals say the TTL in the words of the request. Whole milliseconds, and no more than `d`: a
/// deadline counts from what Consul has confirmed.
std::string milliseconds(core::duration d) {
  return std::to_string(std::chrono::floor<std::chrono::milliseconds>(d).count()) + "ms";
}

ordered_json verb(const char* name, const std::string& key) {
  return {{"Verb", name}, {"Key", key}};
}

ordered_json with_value(ordered_json out, const auto& of) {
  out["Value"] = base::to_base64(of.value);
  out["Flags"] = of.flags;
  return out;
}

ordered_json with_session(ordered_json out, const auto& of) {
  out["Session"] = of.session;
  return out;
}

ordered_json with_index(ordered_json out, std::uint64_t index) {
  out["Index"] = index;
  return out;
}

ordered_json to_json(const check_session& what) {
  return with_session(verb("check-session", what.key), what);
}
ordered_json to_json(const check_index& what) {
  return with_index(verb("check-index", what.key), what.index);
}
ordered_json to_json(const check_absent& what) {
  return verb("check-not-exists", what.key);
}
ordered_json to_json(const lock& what) {
  return with_session(with_value(verb("lock", what.key), what), what);
}
ordered_json to_json(const unlock& what) {
  return with_session(with_value(verb("unlock", what.key), what), what);
}
ordered_json to_json(const write& what) {
  if (!what.index) return with_value(verb("set", what.key), what);
  return with_index(with_value(verb("cas", what.key), what), *what.index);
}
ordered_json to_json(const erase& what) {
  return with_index(verb("delete-cas", what.key), what.index);
}
ordered_json to_json(const fetch& what) {
  return verb("get", what.key);
}

}  // namespace

std::string session_request(const session_wish& what) {
  ordered_json out{{"Name", what.name},
                   {"LockDelay", milliseconds(what.lock_delay)},
                   {"Behavior", what.then == behavior::remove ? "delete" : "release"},
                   {"NodeChecks", what.node_checks}};
  if (what.ttl) out["TTL"] = milliseconds(*what.ttl);
  if (!what.service_checks.empty()) {
    ordered_json& checks = out["ServiceChecks"] = ordered_json::array();
    for (const std::string& id : what.service_checks) checks.push_back({{"ID", id}});
  }
  return written(out);
}

std::string transaction_request(std::span<const operation> all, const tenancy& in) {
  TENURE_CHECK(all.size() <= most_operations);
  ordered_json out = ordered_json::array();
  for (const operation& one : all) {
    ordered_json kv = std::visit([](const auto& what) { return to_json(what); }, one);
    if (!in.name_space.empty()) kv["Namespace"] = in.name_space;
    if (!in.partition.empty()) kv["Partition"] = in.partition;
    out.push_back({{"KV", std::move(kv)}});
  }
  return written(out);
}

}  // namespace tenure::stores::consul
