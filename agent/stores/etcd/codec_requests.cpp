#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.hpp"
#include "core/check.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/json_codec.hpp"

namespace tenure::stores::etcd {
namespace {

using nlohmann::ordered_json;

/// Many parsers read JSON numbers as doubles, so the gateway writes and reads 64 bits as strings.
template <class Integer>
ordered_json number(Integer value) {
  return std::to_string(value);
}

ordered_json to_json(const compare& condition) {
  static constexpr std::array relations{"EQUAL", "GREATER", "LESS", "NOT_EQUAL"};
  ordered_json out{{"key", base::to_base64(condition.key)},
                   {"result", relations.at(static_cast<std::size_t>(condition.is))}};
  if (!condition.end.empty()) out["range_end"] = base::to_base64(condition.end);
  switch (condition.what) {
    case compare::field::create_revision:
      out["target"] = "CREATE";
      out["create_revision"] = number(condition.number);
      break;
    case compare::field::mod_revision:
      out["target"] = "MOD";
      out["mod_revision"] = number(condition.number);
      break;
    case compare::field::lease:
      out["target"] = "LEASE";
      out["lease"] = number(condition.number);
      break;
    case compare::field::value:
      out["target"] = "VALUE";
      out["value"] = base::to_base64(condition.value);
      break;
  }
  return out;
}

ordered_json to_json(const put& what) {
  ordered_json out{{"key", base::to_base64(what.key)}, {"value", base::to_base64(what.value)}};
  if (what.lease != 0) out["lease"] = number(what.lease);
  return out;
}

ordered_json to_json(const erase& what) {
  return {{"key", base::to_base64(what.key)}};
}

ordered_json to_json(const range& what) {
  ordered_json out{{"key", base::to_base64(what.key)}};
  if (!what.end.empty()) out["range_end"] = base::to_base64(what.end);
  if (what.limit != 0) out["limit"] = number(what.limit);
  if (what.by == range::order::create_ascend) {
    out["sort_target"] = "CREATE";
    out["sort_order"] = "ASCEND";
  }
  if (what.serializable) out["serializable"] = true;
  return out;
}

constexpr const char* request_name(const put&) {
  return "request_put";
}
constexpr const char* request_name(const erase&) {
  return "request_delete_range";
}
constexpr const char* request_name(const range&) {
  return "request_range";
}

ordered_json to_json(const std::vector<operation>& operations) {
  ordered_json out = ordered_json::array();
  for (const operation& one : operations) {
    out.push_back(std::visit(
        [](const auto& what) { return ordered_json{{request_name(what), to_json(what)}}; }, one));
  }
  return out;
}

}  // namespace

std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return {'\0'};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1U);
  return end;
}

std::string grant_request(std::int64_t ttl_seconds, std::int64_t id) {
  TENURE_CHECK(ttl_seconds > 0 && id > 0);
  return written({{"TTL", number(ttl_seconds)}, {"ID", number(id)}});
}

std::string keep_alive_request(std::int64_t id) {
  return written({{"ID", number(id)}}) + '\n';
}

std::string revoke_request(std::int64_t id) {
  return written({{"ID", number(id)}});
}

std::string range_request(const range& what) {
  return written(to_json(what));
}

std::string transaction_request(const transaction& what) {
  ordered_json when = ordered_json::array();
  for (const compare& condition : what.when) when.push_back(to_json(condition));
  return written({{"compare", std::move(when)},
                  {"success", to_json(what.then)},
                  {"failure", to_json(what.otherwise)}});
}

std::string watch_request(const std::string& key, const std::string& end,
                          std::uint64_t start_revision, std::int64_t watch_id) {
  ordered_json create{{"key", base::to_base64(key)}};
  if (!end.empty()) create["range_end"] = base::to_base64(end);
  if (start_revision != 0) create["start_revision"] = number(start_revision);
  create["progress_notify"] = true;
  create["watch_id"] = number(watch_id);
  return written({{"create_request", std::move(create)}}) + '\n';
}

std::string progress_request() {
  return "{\"progress_request\":{}}\n";
}

std::string authenticate_request(std::string_view user, std::string_view password) {
  return written({{"name", user}, {"password", password}});
}

}  // namespace tenure::stores::etcd
