#pragma once

#include <cstddef>
#include <string_view>

namespace tenure::base {

/// Deeper than anything that an agent or a store sends.
inline constexpr std::size_t most_json_levels = 16;

/// True if objects and arrays are nested deeper in `json` than `levels`. A parser needs a stack as
/// deep as the nesting, and the sender chooses the nesting. In text that is not JSON, at most the
/// brackets count that are open where a JSON parser gives up.
bool nests_deeper(std::string_view json, std::size_t levels = most_json_levels);

}  // namespace tenure::base
