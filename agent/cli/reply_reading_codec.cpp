#include "cli/reply_reading_codec.hpp"

#include <nlohmann/json.hpp>

#include "core/json_nesting.hpp"
#include "core/printable_text.hpp"

namespace tenure::cli {

using nlohmann::json;

json parsed_reply(std::string_view body) {
  return core::nests_deeper(body) ? json() : json::parse(body, nullptr, /*allow_exceptions=*/false);
}

json member(const json& from, const char* name) {
  return from.is_object() ? from.value(name, json()) : json();
}

std::string text_in(const json& from, const char* name) {
  const json found = member(from, name);
  return found.is_string() ? core::printable(found.get<std::string>()) : std::string();
}

}  // namespace tenure::cli
