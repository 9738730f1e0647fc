#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api_server.hpp"

/// What `tenure doctor` reads of a pod and of what keeps it, and how these are asked for. Pure.
namespace tenure::kube {

struct mount {
  std::string volume;
  std::string path;
};

/// A container of a pod, as its spec has it.
struct container_view {
  std::string name;
  std::vector<std::string> words{};  ///< its command, and its arguments
  std::vector<mount> mounts{};
  bool asks_who_leads = false;  ///< it is Ready only while its pod is active, by its readinessProbe
  bool has_pre_stop = false;
  std::int64_t pre_stop_seconds = 0;  ///< how long its preStop hook sleeps; 0: not known
};

/// What made an object, and replaces it.
struct owner {
  std::string kind;  ///< "ReplicaSet"; with its API if that is not "apps"
  std::string name;
};

struct pod_view {
  std::int64_t grace_seconds = 30;  ///< terminationGracePeriodSeconds
  bool shares_processes = false;    ///< shareProcessNamespace
  bool has_gate = false;            ///< it is Ready only with the condition tenure.dev/active
  std::vector<container_view> containers{};  ///< those for the start, too
  std::optional<owner> made_by{};
};

/// A Deployment, StatefulSet, DaemonSet or ReplicaSet.
struct workload_view {
  std::string kind;
  std::string name{};
  std::int64_t replicas = 1;
  std::string strategy{};         ///< "RollingUpdate", "Recreate", "OnDelete"; empty: not said
  std::string max_unavailable{};  ///< "100%", "1"; empty: not said
  std::optional<owner> made_by{};
};

/// Asks for the pod with this name.
api_request pod_request(std::string_view name_space, std::string_view name);
/// What the reply shows; else why it cannot be used, printable and in one line.
std::expected<pod_view, std::string> read_pod(std::string_view body, std::string_view name);

/// "deployments", as rules of RBAC name it; empty for a kind that is not understood.
std::string_view resource_of(std::string_view kind);

/// Asks for an owner. Precondition: its kind is understood.
api_request owner_request(std::string_view name_space, const owner& what);
std::expected<workload_view, std::string> read_owner(std::string_view body, const owner& what);

}  // namespace tenure::kube
