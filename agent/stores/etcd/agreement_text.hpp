#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/vocabulary.hpp"

/// The value of an election's agreement key: `slots=N`, and, once an operator has accepted that
/// versions begin anew, `versions_from=N accepted_unix_ms=N`. Pure.
namespace tenure::stores::etcd {

std::string agreement_text(const core::agreement& what);

/// Nothing if it is none. Words that are not known are those of a later release, and skipped.
std::optional<core::agreement> parse_agreement(std::string_view text);

}  // namespace tenure::stores::etcd
