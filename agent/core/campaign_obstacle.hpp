#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::core {

/// Why a candidate does not campaign.
enum class campaign_obstacle : std::uint8_t {
  none,
  paused,         ///< stands aside until `resume`
  no_guard,       ///< no guard could run its workload
  unhealthy,      ///< its workload is unhealthy
  resigned,       ///< stands aside for a while after a resign
  was_unhealthy,  ///< its last term ended because its workload was unhealthy; others go first
  heir_first,     ///< the last holder has named another member
  other_slots,    ///< the election has another number of slots, and members that keep it
  identity_used,  ///< another run uses its identity
  old_version,    ///< it was granted a version lower than one it had seen
};

std::string_view name(campaign_obstacle what);

/// True if the store and this member's settings disagree. This lasts until somebody changes one of
/// them.
constexpr bool is_disagreement(campaign_obstacle what) {
  return what == campaign_obstacle::other_slots || what == campaign_obstacle::identity_used;
}

/// Whom a member waits for before the number of slots in the store may become its own: those that
/// hold, and the listed members that have the store's number, or may have it as they do not say.
/// `identity`: its own. Each name once.
///
/// That nobody holds is what the store itself makes sure of (`store::acquire`). The list is there
/// so that one member with a wrong setting does not take an election over between two terms of
/// others.
std::vector<std::string> keepers_of_slots(const observation& seen, std::string_view identity);

/// An obstacle, and when it ends by itself; `never` if it does not.
struct held_back {
  campaign_obstacle why = campaign_obstacle::none;
  time_point until = never;

  friend bool operator==(const held_back&, const held_back&) = default;
};

}  // namespace tenure::core
