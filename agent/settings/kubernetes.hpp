#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenure::settings {

/// How Kubernetes learns which pod is the active one.
enum class traffic : std::uint8_t {
  probe,      ///< it asks: nothing is written
  gate,       ///< by a condition of the pod, which a readinessGate awaits
  label,      ///< by a label of the pod, which a Service selects
  endpoints,  ///< by the endpoints of an EndpointSlice, of a Service that selects no pod
};

/// Who may say that a member's term has ended with its container.
enum class witness : std::uint8_t {
  none,     ///< nobody: the lease runs out
  kubelet,  ///< the kubelet, by the status of the pod
};

/// How a pod reaches the API server of its cluster, as the kubelet gives it to each pod.
struct pod_cluster {
  std::string endpoint;    ///< "https://10.96.0.1:443"
  std::string ca_file;     ///< who may vouch for the server
  std::string token_file;  ///< the token of the pod's ServiceAccount

  friend bool operator==(const pod_cluster&, const pod_cluster&) = default;
};

/// What an agent in a pod does to Kubernetes apart from leases, with any store.
struct kubernetes {
  settings::traffic traffic = settings::traffic::probe;
  std::vector<std::string> slices{};  ///< one for each address family; for `endpoints` only
  bool events = false;                ///< each gain and loss becomes an Event
  settings::witness witness = settings::witness::none;

  // What the downward API tells of the pod; an empty member is not known.
  std::string pod_name{};
  std::string pod_namespace{};
  std::string pod_uid{};
  std::string pod_node{};
  std::vector<std::string> pod_addresses{};

  std::optional<pod_cluster> cluster{};  ///< nothing outside of a pod
  /// The leases are Leases of that cluster, in `agent::name_space`.
  bool has_leases = false;

  [[nodiscard]] bool writes_traffic() const { return traffic != settings::traffic::probe; }
  [[nodiscard]] bool has_witness() const { return witness == settings::witness::kubelet; }
  /// True if the API server is asked at all.
  [[nodiscard]] bool is_used() const { return writes_traffic() || events || has_witness(); }

  friend bool operator==(const kubernetes&, const kubernetes&) = default;
};

}  // namespace tenure::settings
