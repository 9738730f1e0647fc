#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "settings/kubernetes.hpp"

namespace tenure::kube {

/// What an agent needs a right for.
enum class right_use : std::uint8_t {
  leases,
  traffic,
  other_slices,  ///< to see where slices of others lead clients
  events,
  witness,
};

/// A verb on a resource, as a Role of RBAC allows it.
struct right {
  std::string_view verb;            ///< "patch"
  std::string_view group;           ///< "": the core group
  std::string_view resource;        ///< "pods"
  std::string_view sub_resource{};  ///< "status"
  std::string name_space;
  std::string name{};  ///< the one object; empty: all in the namespace
  right_use use = right_use::leases;
};

/// The right to do this to what shows which pod is active; `slice`: to this one, where slices do.
right traffic_right(const settings::kubernetes& its, std::string_view verb, std::string slice = {});

/// The right to write Events in this namespace.
right event_right(std::string name_space);

/// The right to see how containers end.
right witness_right(const settings::kubernetes& its);

/// All rights that these settings need. `lease_namespace`: where Events on Leases are written.
std::vector<right> rights_for(const settings::kubernetes& its, std::string_view lease_namespace);

/// "patch pods/status in namespace team".
std::string text(const right& what);

/// All of them, each verb with the resource that it is for: "get, patch endpointslices in namespace
/// team; and create events in namespace team". Those of one resource have to be beside each other.
std::string text(const std::vector<right>& all);

/// The rule that gives it, as a Role has it:
/// `{apiGroups: [""], resources: [pods/status], verbs: [patch]}`.
std::string rule_for(const right& what);

}  // namespace tenure::kube
