#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::stores::kubernetes {

/// Which Leases of an election may be held: as many as it has slots. No request writes two Leases,
/// so who takes a slot cannot rely on what another Lease says at the same time. Instead:
///
/// - A slot that will no longer be open is closed first: its Lease, which nobody holds then, gets
///    the epoch of the list that is about to be written. A campaign that has read the Lease before
///    finds that it has changed.
///  - A campaign takes a slot only if the list that it has read has the slot, and is of the epoch
///    of the slot's Lease or a later one; its write gives the Lease the list's epoch.
///
/// So a campaign that relies on an old list fails at every slot that a later one does not have.
struct open_slots {
  std::uint64_t epoch = 0;               ///< grows with each list
  std::vector<std::uint32_t> numbers{};  ///< ascending

  friend bool operator==(const open_slots&, const open_slots&) = default;
};

/// The slots from 0 on: how every election begins.
open_slots first_slots(std::uint32_t how_many);

/// `EPOCH NUMBER...`
std::string slots_text(const open_slots& what);

/// Nothing if `text` is not such a list, or is empty.
std::optional<open_slots> parse_slots(std::string_view text);

/// The list that follows `now` with this many slots: the held ones stay open, and the smallest
/// other numbers are added. Precondition: no more slots are held.
open_slots resized(const open_slots& now, const std::vector<std::uint32_t>& held,
                   std::uint32_t how_many);

}  // namespace tenure::stores::kubernetes
