#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::stores::kubernetes {

/// Which Leases of an election may be held: as many as it has slots. No request writes two Leases,
/// so who takes a slot cannot rely on what another Lease says at the same time. So:
///
///  - A campaign takes a slot only if the list that it has read has the slot, and is of the epoch
///    of the slot's Lease or a later one; its write gives the Lease the list's epoch.
///  - The number of slots changes while nobody holds. Who makes it its own closes each slot of the
///    list but the first: the slot's Lease, which nobody holds, gets a later epoch than the list.
///    Its next write takes the first slot and has the new list, if the first Lease, with the old
///    one, is as it was read. A campaign that relies on the old list fails at a closed slot, as
///    that Lease has changed or is of a later epoch, and at the first one.
///
/// Who closes slots may die before it writes the list. Then the next one goes on; or a candidate
/// for the number in the list writes that under the epoch of the closed slots.
///
/// Earlier releases changed the number while members held, so a list may lack smaller numbers.
struct open_slots {
  std::uint64_t epoch = 0;               ///< grows with each list
  std::vector<std::uint32_t> numbers{};  ///< ascending

  [[nodiscard]] bool has(std::uint32_t slot) const {
    return std::ranges::binary_search(numbers, slot);
  }

  friend bool operator==(const open_slots&, const open_slots&) = default;
};

/// A list with so many slots: those that are held, then the smallest numbers. If more are held, all
/// of these.
open_slots slots_around(std::vector<std::uint32_t> held, std::uint32_t how_many,
                        std::uint64_t epoch = 0);

/// `EPOCH NUMBER...`
std::string slots_text(const open_slots& what);

/// Nothing if `text` is not such a list, or is empty.
std::optional<open_slots> parse_slots(std::string_view text);

/// The value of `epoch_annotation`: 0 if there is none, as the slot was never closed; nothing if it
/// is not an epoch.
std::optional<std::uint64_t> parse_epoch(std::string_view text);

}  // namespace tenure::stores::kubernetes
