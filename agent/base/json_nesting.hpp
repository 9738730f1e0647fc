#pragma once

#include <cstddef>
#include <string_view>

namespace tenure::base {

/// Deeper than anything that an agent or a store has a reason to send.
inline constexpr std::size_t most_json_levels = 16;

/// True if objects and arrays are nested deeper in `json` than `levels`. Reading such a text takes
/// a stack as deep as the nesting, which the sender would choose. Text that is not JSON has a level
/// for each bracket that is open where a JSON parser would give up, or fewer.
bool nests_deeper(std::string_view json, std::size_t levels = most_json_levels);

}  // namespace tenure::base
