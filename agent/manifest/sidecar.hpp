#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manifest/documents.hpp"

/// What `tenure inject` adds to a pod: the agent as a sidecar, and the guard in front of the main
/// container's command. The same as k8s/components/guard, with settings as arguments.
namespace tenure::manifest {

/// The user of our own image (Dockerfile), by which a guard of another user knows its agent.
inline constexpr std::uint32_t user_of_image = 65532;

/// A volume of the pod that the agent is to have.
struct agent_mount {
  std::string volume;
  std::string path;
};

/// What the ServiceAccount of the pod has to be allowed.
struct rights {
  bool leases = false;
  bool events = false;
  bool labels = false;                ///< on pods
  bool conditions = false;            ///< in the status of pods
  std::vector<std::string> slices{};  ///< EndpointSlices, by name

  [[nodiscard]] bool any() const {
    return leases || events || labels || conditions || !slices.empty();
  }
};

/// Quantities of resources by name, as Kubernetes writes them: {"cpu", "10m"}.
using quantities = std::vector<std::pair<std::string, std::string>>;

struct sidecar {
  std::string image;
  std::vector<std::string> settings{};  ///< as flags of the agent: "--ttl=15s"
  std::uint16_t probe_port = 8081;
  bool port_is_given = false;  ///< the user wants this port, and no other if it is taken
  quantities requests{{"cpu", "10m"}, {"memory", "16Mi"}};  ///< both containers have them
  quantities limits{{"memory", "32Mi"}};
  std::vector<agent_mount> mounts{};
  std::string election{};    ///< pods are labelled with it, where `needs` has labels or conditions
  rights needs{};            ///< what the agent does to Kubernetes
  bool adds_rights = false;  ///< whether a Role and a RoleBinding are added
};

/// What is known of the pod that the sidecar comes into.
struct pod_facts {
  std::string main;                     ///< the name of the main container
  std::optional<std::uint32_t> user{};  ///< to be given to the sidecar, if the pod does not
  bool is_root = false;                 ///< the main container runs as user 0
  /// The main container runs as the user of its image, and the sidecar as that of ours.
  bool user_is_unknown = false;
  std::optional<std::uint32_t> grace{};  ///< terminationGracePeriodSeconds
  std::uint16_t probe_port = 0;          ///< free in this pod
  std::vector<std::string> settings{};   ///< that take the place of the main container's probes
  std::vector<std::string> command{};    ///< what the image starts, to be written down
  std::string account;                   ///< the name of the ServiceAccount
};

/// A list to which items are added, or which is added with them; or a mapping that is there.
struct addition {
  node_path mapping;    ///< has the list, or gets it
  std::string key;      ///< the list's name
  std::string before;   ///< the member of the mapping in front of which a new list goes
  std::string items;    ///< block style, not indented, each line with "\n"
  std::string words{};  ///< flow style; empty: the items have none
};

/// Members of a mapping that are taken out.
struct removal {
  node_path mapping;
  std::vector<std::string> keys{};
};

/// The items that each list gets. All volumes are in memory: a pod with one on the disk of its node
/// keeps a cluster autoscaler from taking the node away.
[[nodiscard]] std::string init_containers(const sidecar& what, const pod_facts& of);
inline constexpr std::string_view volumes =
    "- {name: tenure-bin, emptyDir: {medium: Memory}}\n"
    "- {name: tenure-run, emptyDir: {medium: Memory}}\n";
inline constexpr std::string_view volume_words =
    "{name: tenure-bin, emptyDir: {medium: Memory}}, {name: tenure-run, emptyDir: {medium: "
    "Memory}}";
inline constexpr std::string_view mounts =
    "- {name: tenure-bin, mountPath: /tenure-bin, readOnly: true}\n"
    "- {name: tenure-run, mountPath: /run/tenure}\n";
inline constexpr std::string_view mount_words =
    "{name: tenure-bin, mountPath: /tenure-bin, readOnly: true}, "
    "{name: tenure-run, mountPath: /run/tenure}";
/// How a traffic that names pods finds them: by a label, which all members of the election have.
inline constexpr std::string_view election_label = "tenure.dev/election";
/// The condition that makes only the active pod Ready.
inline constexpr std::string_view active_gate = "tenure.dev/active";
/// The guard's words for the time that the workload has to end, if that is not the usual one. The
/// drain, the kill and the release of the lease have to fit into what the kubelet waits.
[[nodiscard]] std::vector<std::string> drain_words(std::optional<std::uint32_t> grace_seconds);
/// The words in front of the main container's command.
[[nodiscard]] std::vector<std::string> guard_words(const pod_facts& of);

/// A Role and a RoleBinding, each as the lines of an object, not indented.
[[nodiscard]] std::vector<std::string> role_objects(const rights& needs, const workload& of,
                                                    const std::string& account);

/// `text` as a YAML scalar that every reader takes for text, also within [].
[[nodiscard]] std::string scalar_text(const std::string& text);

}  // namespace tenure::manifest
