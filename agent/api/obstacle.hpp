#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"

namespace tenure::api {

/// Why the store refuses this member, with both values and what to do; empty for an obstacle that
/// is not a disagreement. `slots`: this member's setting.
std::string disagreement_text(core::campaign_obstacle what, const core::election_view& view,
                              std::string_view election, std::string_view identity,
                              std::uint32_t slots);

/// Nothing if the member campaigns, or is not a standby. Precondition: `election` is one of `seen`.
std::optional<wire::obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                          const instant& at);

}  // namespace tenure::api
