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
///
/// A slot may be closed for a list that is never written, as its writer gives up or dies, or for
/// one that was deleted. Then a candidate writes the list that there is under the slot's epoch.
struct open_slots {
  std::uint64_t epoch = 0;               ///< grows with each list
  std::vector<std::uint32_t> numbers{};  ///< ascending

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

/// The list with so many slots that follows those of `epoch`. Precondition: no more are held.
open_slots resized(std::uint64_t epoch, std::vector<std::uint32_t> held, std::uint32_t how_many);

}  // namespace tenure::stores::kubernetes
