#pragma once

#include <array>

#include "config/field_words.hpp"
#include "config/fields.hpp"
#include "config/places.hpp"

namespace tenure::config {

/// The settings of the section `kubernetes`: the last rows of the table in fields.cpp.
inline constexpr auto kubernetes_fields = [] {
  using settings::agent;
  using settings::kubernetes;
  return std::to_array<field>(
      {{.which = setting::traffic,
        .key = "traffic",
        .type = field_type::word,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::traffic>,
        .fallback = "probe",
        .metavar = "WAY",
        .doc = "How Kubernetes learns which pod is active: it asks; or the agent writes a "
               "condition or a label of the pod, or the endpoints of a Service",
        .words = std::span<const std::string_view>(accepts::traffic_ways)},
       {.which = setting::traffic_slice,
        .key = "traffic_slice",
        .type = field_type::ids,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::slices>,
        .derivation = "the election's name, for `traffic: endpoints`",
        .range = "one name of an EndpointSlice, or two: one for IPv4 and one for IPv6; for "
                 "`traffic: endpoints` only",
        .metavar = "NAME",
        .doc = "The EndpointSlice in which the active pod is the only endpoint"},
       {.which = setting::events,
        .key = "events",
        .type = field_type::boolean,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::events>,
        .fallback = "false",
        .doc = "Write an Event on the pod, and on the Lease if that is the store, for each gain "
               "and loss"},
       {.which = setting::witness,
        .key = "witness",
        .type = field_type::word,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::witness>,
        .fallback = "none",
        .metavar = "WHO",
        .doc = "Who may say that a holder's term has ended with its container, so that nobody "
               "waits until its lease runs out: the kubelet, by the status of the holder's pod",
        .words = std::span<const std::string_view>(accepts::witnesses)},
       {.which = setting::pod_name,
        .key = "pod_name",
        .type = field_type::identity,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::pod_name>,
        .derivation = "the host name of the pod",
        .range = accepts::object_name,
        .metavar = "NAME",
        .doc = "The name of this pod: `metadata.name` of the downward API"},
       {.which = setting::pod_namespace,
        .key = "pod_namespace",
        .type = field_type::identity,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::pod_namespace>,
        .derivation = "that of the pod's ServiceAccount",
        .range = accepts::object_name,
        .metavar = "NAME",
        .doc = "The namespace of this pod: `metadata.namespace` of the downward API"},
       {.which = setting::pod_uid,
        .key = "pod_uid",
        .type = field_type::identity,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::pod_uid>,
        .derivation = "none; `kubectl describe pod` then does not find the Events",
        .range = "1 to 253 printable ASCII characters without blanks",
        .metavar = "UID",
        .doc = "The uid of this pod: `metadata.uid` of the downward API"},
       {.which = setting::pod_node,
        .key = "pod_node",
        .type = field_type::identity,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::pod_node>,
        .derivation = "none; a Service with `externalTrafficPolicy: Local` then has no endpoint",
        .range = accepts::object_name,
        .metavar = "NAME",
        .doc = "The node of this pod: `spec.nodeName` of the downward API"},
       {.which = setting::pod_address,
        .key = "pod_address",
        .type = field_type::ids,
        .section = group::kubernetes,
        .in = places::at<&agent::kubernetes, &kubernetes::pod_addresses>,
        .derivation = "none, it must be given for `traffic: endpoints`",
        .range = "one IP address or a list of up to 8",
        .metavar = "ADDRESS",
        .doc = "The addresses of this pod: `status.podIPs` of the downward API"}});
}();

}  // namespace tenure::config
