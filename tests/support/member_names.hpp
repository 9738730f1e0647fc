#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary.hpp"

namespace tenure::tests {

/// The names of the members that an observation shows; nothing: it shows no list.
inline std::optional<std::vector<std::string>> member_names(const core::observation& seen) {
  if (!seen.members) return std::nullopt;
  std::vector<std::string> out;
  for (const core::member& one : *seen.members) out.push_back(one.identity);
  return out;
}

}  // namespace tenure::tests
