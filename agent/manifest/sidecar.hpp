#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/documents.hpp"

/// What `tenure inject` adds to a pod: the agent as a sidecar, and the guard in front of the main
/// container's command. The same as k8s/components/guard, with settings as arguments.
namespace tenure::manifest {

/// A volume of the pod that the agent is to have.
struct agent_mount {
  std::string volume;
  std::string path;
};

/// What the ServiceAccount of the pod has to be allowed.
struct rights {
  bool leases = false;
  bool events = false;
  std::vector<std::string> slices{};  ///< EndpointSlices, by name

  [[nodiscard]] bool any() const { return leases || events || !slices.empty(); }
};

struct sidecar {
  std::string image;
  std::vector<std::string> settings{};  ///< as flags of the agent: "--ttl=15s"
  std::uint16_t probe_port = 8081;
  std::vector<agent_mount> mounts{};
  rights needs{};            ///< what the agent does to Kubernetes
  bool adds_rights = false;  ///< whether a Role and a RoleBinding are added
};

/// What is known of the pod that the sidecar comes into.
struct pod_facts {
  std::string main;                      ///< the name of the main container
  std::optional<std::uint32_t> user{};   ///< to be given to the sidecar, if the pod does not
  bool is_root = false;                  ///< the main container runs as user 0
  std::optional<std::uint32_t> grace{};  ///< terminationGracePeriodSeconds
  std::string account;                   ///< the name of the ServiceAccount
};

/// A list to which items are added, or which is added with them.
struct addition {
  node_path mapping;    ///< has the list, or gets it
  std::string key;      ///< the list's name
  std::string before;   ///< the member of the mapping in front of which a new list goes
  std::string items;    ///< block style, not indented, each line with "\n"
  std::string words{};  ///< flow style; empty: the items have none
};

/// The items that each list gets.
[[nodiscard]] std::string init_containers(const sidecar& what, const pod_facts& of);
inline constexpr std::string_view volumes =
    "- {name: tenure-bin, emptyDir: {}}\n"
    "- {name: tenure-run, emptyDir: {medium: Memory}}\n";
inline constexpr std::string_view volume_words =
    "{name: tenure-bin, emptyDir: {}}, {name: tenure-run, emptyDir: {medium: Memory}}";
inline constexpr std::string_view mounts =
    "- {name: tenure-bin, mountPath: /tenure-bin, readOnly: true}\n"
    "- {name: tenure-run, mountPath: /run/tenure}\n";
inline constexpr std::string_view mount_words =
    "{name: tenure-bin, mountPath: /tenure-bin, readOnly: true}, "
    "{name: tenure-run, mountPath: /run/tenure}";
/// The words in front of the main container's command.
[[nodiscard]] std::vector<std::string> guard_words(const pod_facts& of);

/// A Role and a RoleBinding, each as the lines of an object, not indented.
[[nodiscard]] std::vector<std::string> role_objects(const rights& needs, const workload& of,
                                                    const std::string& account);

/// `text` as a YAML scalar that every reader takes for text, also within [].
[[nodiscard]] std::string scalar_text(const std::string& text);

}  // namespace tenure::manifest
