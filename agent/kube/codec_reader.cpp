#include "kube/codec_reader.hpp"

#include <nlohmann/json.hpp>

#include "base/json_nesting.hpp"
#include "base/printable_text.hpp"

namespace tenure::kube {
namespace {

using nlohmann::json;

constexpr std::size_t most_excerpt_bytes = 60;

}  // namespace

const json* reader::find(const json& in, path at) {
  const json* one = &in;
  for (const std::string_view name : at) {
    require(one->is_object(), "something in it is not an object");
    if (!one->is_object()) return nullptr;
    const auto found = one->find(name);
    if (found == one->end() || found->is_null()) return nullptr;
    one = &*found;
  }
  return one;
}

std::string reader::text(const json& in, path at) {
  const json* const found = find(in, at);
  if (found == nullptr) return {};
  require(found->is_string(), "something in it is not a text");
  return found->is_string() ? found->get<std::string>() : std::string();
}

const json& reader::list(const json& in, path at) {
  static const json nothing = json::array();
  const json* const found = find(in, at);
  if (found == nullptr) return nothing;
  require(found->is_array(), "something in it is not a list");
  return found->is_array() ? *found : nothing;
}

std::int64_t reader::number(const json& in, path at, std::int64_t otherwise) {
  const json* const found = find(in, at);
  if (found == nullptr) return otherwise;
  require(found->is_number_integer(), "something in it is not a whole number");
  return found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

bool reader::is_true(const json& in, path at) {
  const json* const found = find(in, at);
  return found != nullptr && *found == true;
}

std::unexpected<std::string> unusable(const std::string& why, std::string_view body) {
  return std::unexpected(why + ": " + base::printable(body, most_excerpt_bytes));
}

std::expected<json, std::string> read_object(std::string_view body) {
  if (body.contains('\0')) return unusable("it is not JSON", body);
  if (base::nests_deeper(body, most_levels)) return unusable("it is nested too deeply", body);
  json out = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!out.is_object()) return unusable("it is not a JSON object", body);
  return out;
}

}  // namespace tenure::kube
