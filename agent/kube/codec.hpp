#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api_server.hpp"
#include "kube/event_note.hpp"
#include "kube/marked_object.hpp"
#include "kube/right.hpp"
#include "kube/traffic_switch.hpp"
#include "settings/kubernetes.hpp"

/// Requests and replies of Kubernetes' API <-> structs. Pure: no I/O, no clock.
///
/// A reply that lacks something, has something of a wrong type or is about another object than was
/// asked for is not believed at all.
namespace tenure::kube {

/// With `traffic: label`: "active" or "standby".
inline constexpr std::string_view role_label = "tenure.dev/role";
/// On a pod or a slice: the version of the term that has written last.
inline constexpr std::string_view version_annotation = "tenure.dev/version";
/// On a slice: the pod that is named.
inline constexpr std::string_view holder_annotation = "tenure.dev/holder";
/// On a slice: the Service that it belongs to, and who writes it.
inline constexpr std::string_view service_label = "kubernetes.io/service-name";
inline constexpr std::string_view keeper_label = "endpointslice.kubernetes.io/managed-by";
/// Kubernetes' own writers: of the pods that a Service selects, and of an Endpoints object.
inline constexpr std::string_view slice_controller = "endpointslice-controller.k8s.io";
inline constexpr std::string_view mirror_controller = "endpointslicemirroring-controller.k8s.io";
/// What the Service of a slice selects: no pod. A Service without a selector would keep what its
/// selector before has found.
inline constexpr std::string_view no_pod_label = "tenure.dev/select";
inline constexpr std::string_view no_pod_value = "none";
/// With `traffic: gate`: the type of the condition.
inline constexpr std::string_view active_condition = "tenure.dev/active";

/// Whose traffic is meant.
struct traffic_terms {
  const settings::kubernetes& its;
  std::string_view election;
};

/// The request that carries out `what`. `unix_ms`: the wall clock, for people.
api_request request_for(const traffic_request& what, const traffic_terms& of, std::int64_t unix_ms);

/// What its reply shows; else why it cannot be used, printable and in one line.
std::expected<std::vector<marked_object>, std::string> read_reply(const traffic_request& asked,
                                                                  std::string_view body,
                                                                  const traffic_terms& of);

/// Asks whether our ServiceAccount has this right.
api_request review_of(const right& what);
/// True if it has; nothing if the reply does not say.
std::optional<bool> read_review(std::string_view body);

/// Asks for the Lease with this name.
api_request lease_request(std::string_view name_space, std::string_view name);
/// Its uid; empty if the reply does not say.
std::string read_uid(std::string_view body, std::string_view name);

/// Makes an Event on `about`, by this pod.
api_request event_request(const event_note& what, const event_subject& about, std::string_view pod,
                          std::int64_t unix_ms);

}  // namespace tenure::kube
