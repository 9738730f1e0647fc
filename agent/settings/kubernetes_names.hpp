#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What the objects of an election are called in Kubernetes, and how they are found: for its Leases
/// and for its pods.
namespace tenure::settings {

/// The label with the name of the election: on its pods, and on every Lease but its first one.
inline constexpr std::string_view election_label = "tenure.dev/election";

/// Between the name of the election and the number of the slot.
inline constexpr std::string_view slot_suffix = ".slot-";

/// The Lease of a slot: `<election>` for slot 0, as a Go program would name it, and
/// `<election>.slot-<number>`.
std::string slot_name(std::string_view election, std::uint32_t slot);

/// True for a DNS-1123 subdomain, as Kubernetes names Leases, pods, nodes and slices; of any
/// length.
bool is_object_name(std::string_view text);

}  // namespace tenure::settings
