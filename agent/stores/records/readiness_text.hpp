#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/vocabulary.hpp"

namespace tenure::stores {

/// What a member says of itself, as a store keeps it: "SINCE PRIORITY STARTED [PEER [SLOTS
/// [ANSWERS]]]". The times are milliseconds since 1970; SINCE is 0 if the member is not ready. PEER
/// is `setup::peer_address`, or empty. ANSWERS is how often it has answered its namesakes
/// (namesakes.hpp). Earlier agents wrote no SLOTS, and no ANSWERS. A later release may add words.
std::string readiness_text(const core::readiness& what, std::string_view peer = {},
                           std::optional<std::uint64_t> answers = std::nullopt);

/// Nothing if `text` says something else.
std::optional<core::readiness> parse_readiness(std::string_view text);

/// Its PEER; empty: it says none.
std::string peer_in(std::string_view text);

/// Its ANSWERS; nothing: it says none.
std::optional<std::uint64_t> answers_in(std::string_view text);

/// What members say of themselves, or what one says in its elections, by a name.
using all_readiness = std::map<std::string, core::readiness, std::less<>>;

/// The member with this identity, and what is said by that name.
core::member member_with(std::string identity, const all_readiness& said, std::string_view name);

}  // namespace tenure::stores
