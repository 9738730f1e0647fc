#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/snapshot.hpp"
#include "api/standing.hpp"

namespace tenure::api {

/// Why a standby does not ask for the lease.
struct obstacle {
  std::string_view reason;  ///< stable, snake_case
  std::string text;         ///< for a person
};

/// What the store has against this member, with both values and what to do; empty for what is no
/// disagreement. `slots`: as it is set up.
std::string disagreement_text(core::campaign_obstacle what, const core::election_view& view,
                              std::string_view election, std::string_view identity,
                              std::uint32_t slots);

/// Nothing if it campaigns, or is no standby. Precondition: `election` is one of `seen`.
std::optional<obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                    const instant& at);

}  // namespace tenure::api
