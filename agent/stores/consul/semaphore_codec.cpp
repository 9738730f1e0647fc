#include "stores/consul/semaphore_codec.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stores/json_codec.hpp"

namespace tenure::stores::consul {
namespace {

/// Twice what Consul lets a value have unless `kv_max_value_size` says more: some 25,000 holders.
constexpr std::size_t most_semaphore_bytes = std::size_t{1} << 20U;

}  // namespace

std::string semaphore_text(const semaphore& what) {
  using nlohmann::ordered_json;
  ordered_json holders = what.as_list ? ordered_json::array() : ordered_json::object();
  for (const std::string& session : what.holders) {
    if (what.as_list) {
      holders.push_back(session);
    } else {
      holders[session] = true;
    }
  }
  ordered_json out{{"Limit", what.limit}, {"Holders", std::move(holders)}};
  if (what.changes) out["Changes"] = *what.changes;
  return written(out);
}

std::optional<semaphore> parse_semaphore(std::string_view text) {
  if (text.size() > most_semaphore_bytes) return std::nullopt;
  const auto document = read_object(text);
  if (!document) return std::nullopt;
  verdict judged;
  const fields from(*document, judged);
  semaphore out{.limit = from.number<std::uint32_t>("Limit"), .holders = {}};
  const nlohmann::json* holders = from.find("Holders");
  out.as_list = holders != nullptr && holders->is_array();
  if (holders != nullptr && !out.as_list && !holders->is_object()) return std::nullopt;
  if (out.as_list) {
    for (const auto& one : *holders) {
      if (!one.is_string()) return std::nullopt;
      out.holders.push_back(one.get<std::string>());
    }
  } else if (holders != nullptr) {
    for (const auto& [session, holds] : holders->items()) {
      if (!holds.is_boolean()) return std::nullopt;
      if (holds.get<bool>()) out.holders.push_back(session);
    }
  }
  if (from.find("Changes") != nullptr) out.changes = from.number<std::uint64_t>("Changes");
  std::vector<std::string> sorted = out.holders;
  std::ranges::sort(sorted);
  const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
  if (!judged.why.empty() || out.limit == 0 || twice) return std::nullopt;
  return out;
}

}  // namespace tenure::stores::consul
