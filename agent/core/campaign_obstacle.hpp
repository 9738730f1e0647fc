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
  other_slots,    ///< by the store the election has another number of slots
  identity_used,  ///< another run has its identity
  old_version,    ///< it was granted a version older than one that was seen
};

std::string_view name(campaign_obstacle what);

/// True for what the store says otherwise than this member's settings. It lasts until somebody has
/// mended it.
constexpr bool is_disagreement(campaign_obstacle what) {
  return what == campaign_obstacle::other_slots || what == campaign_obstacle::identity_used;
}

/// That, and when it is over by itself; `never` if it is not.
struct held_back {
  campaign_obstacle why = campaign_obstacle::none;
  time_point until = never;

  friend bool operator==(const held_back&, const held_back&) = default;
};

}  // namespace tenure::core
