#include "etcd/transactions.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "etcd/gateway_json.hpp"

namespace tenure::shell {
namespace {

using base::to_base64;
using nlohmann::json;

/// Without this, what the model does not know would be ignored, and an answer be given that no etcd
/// gives.
void need_only(std::initializer_list<std::string_view> known, const json& of) {
  for (const auto& [field, value] : of.items()) {
    if (std::ranges::find(known, field) != known.end()) continue;
    throw std::logic_error("this etcd does not model \"" + field + "\" of " + of.dump());
  }
}

/// In a range every key has to fulfil it; an empty range is checked as one missing key.
bool holds(const json& condition, const key_space& in) {
  const std::string begin = bytes(condition, "key");
  const std::string end = bytes(condition, "range_end");
  const auto target = condition.at("target").get<std::string>();
  const auto wanted = condition.at("result").get<std::string>();
  const auto judged = [&](const key_space::change* at) {
    const auto compared = [&](const auto& is, const auto& to) {
      if (wanted == "EQUAL") return is == to;
      if (wanted == "NOT_EQUAL") return is != to;
      return wanted == "LESS" ? is < to : is > to;
    };
    if (target == "VALUE") {
      return at != nullptr && compared(at->value, bytes(condition, "value"));
    }
    if (target == "LEASE") {
      return compared(at == nullptr ? 0 : at->lease, number<std::int64_t>(condition, "lease"));
    }
    if (target == "CREATE") {
      return compared(at == nullptr ? 0 : at->create,
                      number<std::uint64_t>(condition, "create_revision"));
    }
    return compared(at == nullptr ? 0 : at->mod, number<std::uint64_t>(condition, "mod_revision"));
  };
  const auto all = in.range(begin, end, in.revision());
  if (all.empty()) return judged(nullptr);
  return std::ranges::all_of(all, [&](const auto& one) { return judged(one.second); });
}

}  // namespace

bool only_reads(const json& transaction) {
  return transaction.at("compare").empty() &&
         std::ranges::all_of(transaction.at("success"),
                             [](const json& one) { return one.contains("request_range"); });
}

bool is_local(const json& transaction) {
  return only_reads(transaction) &&
         std::ranges::all_of(transaction.at("success"), [](const json& one) {
           return one.at("request_range").value("serializable", false);
         });
}

const json& chosen(const json& transaction, const key_space& in, bool& succeeded) {
  succeeded = std::ranges::all_of(transaction.at("compare"),
                                  [&](const json& one) { return holds(one, in); });
  return transaction.at(succeeded ? "success" : "failure");
}

json carry_out(const json& operation, key_space& in, std::string& error) {
  const json at{{"revision", std::to_string(in.revision())}};
  if (operation.contains("request_range")) {
    return {{"response_range", read(operation.at("request_range"), in, in.revision())}};
  }
  if (operation.contains("request_put")) {
    const json& what = operation.at("request_put");
    need_only({"key", "value", "lease"}, what);
    in.put(bytes(what, "key"), bytes(what, "value"), number<std::int64_t>(what, "lease"));
    return {{"response_put", {{"header", at}}}};
  }
  if (!operation.contains("request_delete_range")) {
    error = refusal(3, "etcdserver: key is not provided");
    return {};
  }
  json done{{"header", at}};
  need_only({"key"}, operation.at("request_delete_range"));
  const std::string key = bytes(operation.at("request_delete_range"), "key");
  if (in.erase(key, erased_by::transaction)) done["deleted"] = "1";
  return {{"response_delete_range", std::move(done)}};
}

json read(const json& range, const key_space& in, std::uint64_t at) {
  need_only({"key", "range_end", "sort_target", "sort_order", "serializable"}, range);
  auto found = in.range(bytes(range, "key"), bytes(range, "range_end"), at);
  if (range.contains("sort_order")) {
    std::ranges::sort(found, {}, [](const auto& one) {
      return std::pair(one.second->create, std::string_view(one.first));
    });
  }
  json keys = json::array();
  for (const auto& [key, kv] : found) {
    json one{{"key", to_base64(key)},
             {"create_revision", std::to_string(kv->create)},
             {"mod_revision", std::to_string(kv->mod)},
             {"value", to_base64(kv->value)}};
    if (kv->lease != 0) one["lease"] = std::to_string(kv->lease);
    keys.push_back(std::move(one));
  }
  json out{{"header", {{"revision", std::to_string(at)}}}};
  if (!keys.empty()) out["count"] = std::to_string(keys.size());
  if (!keys.empty()) out["kvs"] = std::move(keys);
  return out;
}

}  // namespace tenure::shell
