#pragma once

#include <cstddef>
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

/// Between the name of the election and what names a member.
inline constexpr std::string_view member_suffix = ".member-";

/// Kubernetes' limit for the value of a label, which the name of an election is, too.
inline constexpr std::size_t max_lease_name_bytes = 63;

/// Why an election cannot have this name in Kubernetes; empty if it can. Its Lease has the same
/// name: a DNS-1123 subdomain.
std::string why_not_a_lease_name(std::string_view election);

/// The Lease of a slot: `<election>` for slot 0, as a Go program would name it, and
/// `<election>.slot-<number>`.
std::string slot_name(std::string_view election, std::uint32_t slot);

/// True for a DNS-1123 subdomain, as Kubernetes names Leases, pods, nodes and slices; of any
/// length.
bool is_object_name(std::string_view text);

}  // namespace tenure::settings
