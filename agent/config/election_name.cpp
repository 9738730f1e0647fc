#include <algorithm>

#include "base/printable_text.hpp"
#include "config/values.hpp"

namespace tenure::config {
namespace {

constexpr const char* name_hint =
    "use letters, digits and . _ - with / between parts that begin with a letter or digit";

bool alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool allowed(char c) {
  return alphanumeric(c) || c == '.' || c == '_' || c == '-' || c == '/';
}

}  // namespace

// Each part begins with a letter or digit, because Consul keeps `.lock` under the name and
// ZooKeeper refuses `.` and `..`; an empty part would be a different path in every store.
parsed<std::string> parse_election_name(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return std::unexpected(mistake{"is " + quote(text) + why, name_hint});
  };
  if (text.empty()) return std::unexpected(mistake{"is empty", "give the election a name"});
  if (text.size() > max_name_bytes) {
    return std::unexpected(mistake{"is " + std::to_string(text.size()) + " bytes long",
                                   "give no more than " + std::to_string(max_name_bytes)});
  }
  const auto bad = std::ranges::find_if_not(text, allowed);
  if (bad != text.end()) {
    const std::string_view rest(bad, text.end());
    return wrong("; " + quote(rest.substr(0, base::first_character(rest).bytes)) +
                 " is not allowed in a name");
  }
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i > 0 && text[i - 1] != '/') continue;
    if (i == text.size() || text[i] == '/') return wrong(", with an empty part");
    if (!alphanumeric(text[i])) {
      return wrong("; a part begins with " + quote(text.substr(i, 1)));
    }
  }
  return std::string(text);
}

}  // namespace tenure::config
