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

/// Nothing if it campaigns, or is no standby. Precondition: `election` is one of `seen`.
std::optional<obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                    const instant& at);

}  // namespace tenure::api
