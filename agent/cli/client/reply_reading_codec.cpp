#include "cli/client/reply_reading_codec.hpp"

#include <nlohmann/json.hpp>

#include "base/json_nesting.hpp"
#include "base/printable_text.hpp"

namespace tenure::cli {

using nlohmann::json;

json parsed_reply(std::string_view body) {
  return base::nests_deeper(body) ? json() : json::parse(body, nullptr, /*allow_exceptions=*/false);
}

json member(const json& from, const char* name) {
  return from.is_object() ? from.value(name, json()) : json();
}

std::string text_in(const json& from, const char* name) {
  const json found = member(from, name);
  return found.is_string() ? base::printable(found.get<std::string>()) : std::string();
}

}  // namespace tenure::cli
