#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"

namespace tenure::api {

/// What a disagreement is about on this member's side.
struct member_settings {
  std::string_view election;
  std::string_view identity;
  std::string_view store;  ///< kind
  std::uint32_t slots = 1;
};

/// Why the store refuses this member, with both values and what to do; empty for an obstacle that
/// is not a disagreement.
std::string disagreement_text(core::campaign_obstacle what, const core::election_view& view,
                              const member_settings& ours);

/// Nothing if the member campaigns, or is not a standby. Precondition: `election` is one of `seen`.
std::optional<wire::obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                          const instant& at);

}  // namespace tenure::api
