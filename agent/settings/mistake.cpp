#include "settings/mistake.hpp"

#include "base/printable_text.hpp"

namespace tenure::settings {

std::string text(const mistake& why) {
  return why.suggestion.empty() ? why.what : why.what + "; " + why.suggestion;
}

std::string quote(std::string_view input) {
  const std::string_view begins = base::beginning(input, max_quoted_bytes);
  const std::string_view end = begins.size() < input.size() ? "...\"" : "\"";
  return base::escaped(begins, "\"\\").insert(0, "\"").append(end);
}

}  // namespace tenure::settings
