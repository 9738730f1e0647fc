#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Text whose bytes are written as `%XX` where they would mean something else (RFC 3986, 2.1).
namespace tenure::base {

/// Letters, digits, `-`, `.`, `_`, `~` and what is in `kept` stay as they are.
std::string percent_encoded(std::string_view plain, std::string_view kept = {});

/// No value if a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace tenure::base
