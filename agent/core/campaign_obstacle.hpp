#pragma once

#include <cstdint>
#include <string_view>

#include "core/clock.hpp"

namespace tenure::core {

/// Why a candidate does not ask for the lease.
enum class campaign_obstacle : std::uint8_t {
  none,
  paused,         ///< told to stand aside until `resume`
  no_guard,       ///< nobody could run its workload
  unhealthy,      ///< its workload is
  resigned,       ///< told to stand aside for a while
  was_unhealthy,  ///< its last term ended because of that, and others go first
  heir_first,     ///< the last holder has named another member
};

std::string_view name(campaign_obstacle what);

/// That, and when it is over by itself; `never` if it is not.
struct held_back {
  campaign_obstacle why = campaign_obstacle::none;
  time_point until = never;

  friend bool operator==(const held_back&, const held_back&) = default;
};

}  // namespace tenure::core
