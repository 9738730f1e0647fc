#include "stores/json_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/base64.hpp"
#include "base/json_nesting.hpp"
#include "base/printable_text.hpp"

namespace tenure::stores {
namespace {

using json = nlohmann::json;

constexpr std::size_t max_excerpt_bytes = 60;

/// Finds what a JSON parser accepts: two values under one name, of which parsers choose different
/// ones.
class name_check {
 public:
  bool operator()(json::parse_event_t event, const json& at) {
    if (event == json::parse_event_t::object_start) names_.emplace_back();
    if (event == json::parse_event_t::object_end) names_.pop_back();
    if (event == json::parse_event_t::key && !names_.back().insert(at).second) {
      found_twice_ = true;
    }
    return !found_twice_;
  }

  [[nodiscard]] bool found_twice() const { return found_twice_; }

 private:
  std::vector<std::set<std::string>> names_;
  bool found_twice_ = false;
};

/// create_revision as createRevision: protobuf's other JSON spelling of its names.
std::string camel_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joint = name[i] == '_' && i + 1 < name.size();
    if (joint) ++i;
    out += joint ? static_cast<char>(name[i] - 'a' + 'A') : name[i];
  }
  return out;
}

}  // namespace

std::string written(const nlohmann::ordered_json& body) {
  return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

malformed malformed_body(std::string why, std::string_view body) {
  return {std::move(why) + ": " + base::printable(body, max_excerpt_bytes)};
}

parsed<json> read_document(std::string_view body) {
  const auto refused = [body](const char* why) {
    return std::unexpected(malformed_body(why, body));
  };
  // The parser takes it for the end, and would ignore what follows.
  if (body.contains('\0')) return refused("it is not JSON");
  if (base::nests_deeper(body)) return refused("it is nested too deeply");
  name_check names;
  json document = json::parse(
      body, [&names](int, json::parse_event_t event, json& at) { return names(event, at); },
      /*allow_exceptions=*/false);
  if (names.found_twice()) return refused("it has a field twice");
  if (document.is_discarded()) return refused("it is not JSON");
  return document;
}

parsed<json> read_object(std::string_view body) {
  auto document = read_document(body);
  if (document && !document->is_object()) {
    return std::unexpected(malformed_body("it is not a JSON object", body));
  }
  return document;
}

fields::fields(const json& object, verdict& judged) : object_(&object), judged_(&judged) {
  if (!object.is_object()) judged.refuse("something", "is not an object");
}

const json* fields::find(std::string_view name) const {
  const json* here = look_up(std::string(name));
  const std::string other = camel_case(name);
  const json* there = other == name ? nullptr : look_up(other);
  if (here != nullptr && there != nullptr) judged_->refuse(name, "is there in two spellings");
  return here != nullptr ? here : there;
}

bool fields::flag(std::string_view name) const {
  const json* found = find(name);
  if (found == nullptr) return false;
  if (!found->is_boolean()) judged_->refuse(name, "is not true or false");
  return found->is_boolean() && found->get<bool>();
}

std::string fields::text(std::string_view name) const {
  const json* found = find(name);
  if (found == nullptr) return {};
  if (!found->is_string()) judged_->refuse(name, "is not a string");
  return found->is_string() ? found->get<std::string>() : std::string();
}

std::string fields::bytes(std::string_view name) const {
  const auto decoded = base::from_base64(text(name));
  if (!decoded) judged_->refuse(name, "is not base64");
  return decoded.value_or("");
}

std::string fields::ascii(std::string_view name) const {
  std::string out = text(name);
  const bool prints = std::ranges::all_of(out, [](char c) { return c >= ' ' && c <= '~'; });
  if (!prints) judged_->refuse(name, "is not printable");
  return out;
}

const json& fields::list(std::string_view name) const {
  static const json nothing = json::array();
  const json* found = find(name);
  if (found == nullptr) return nothing;
  if (!found->is_array()) judged_->refuse(name, "is not a list");
  return found->is_array() ? *found : nothing;
}

fields fields::object(std::string_view name) const {
  static const json nothing = json::object();
  const json* found = find(name);
  if (found == nullptr) judged_->refuse(name, "is missing");
  return {found != nullptr ? *found : nothing, *judged_};
}

std::optional<std::string> fields::digits_of(std::string_view name) const {
  const json* found = find(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? found->dump() : "";
}

const json* fields::look_up(const std::string& name) const {
  if (!object_->is_object()) return nullptr;
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

}  // namespace tenure::stores
