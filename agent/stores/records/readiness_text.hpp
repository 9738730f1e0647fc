#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/vocabulary.hpp"

namespace tenure::stores {

/// What a member says of itself, as a store keeps it: "SINCE PRIORITY STARTED". The times are
/// milliseconds since 1970; SINCE is 0 if the member is not ready. A later release may add words.
std::string readiness_text(const core::readiness& what);

/// Nothing if `text` says something else.
std::optional<core::readiness> parse_readiness(std::string_view text);

}  // namespace tenure::stores
