#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/vocabulary.hpp"

/// The value of an election's agreement key: `slots=N`, and, once an operator has accepted that
/// versions start again, `versions_from=N accepted_unix_ms=N`. Pure.
namespace tenure::stores {

std::string agreement_text(const core::agreement& what);

/// Nothing if `text` is not an agreement. Skips unknown words: a later release may write them.
std::optional<core::agreement> parse_agreement(std::string_view text);

}  // namespace tenure::stores
