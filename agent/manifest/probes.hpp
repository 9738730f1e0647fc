#pragma once

#include <optional>
#include <string>

#include "config/yaml.hpp"

/// What the kubelet asks of a container, and who waits for the answer. Pure. Thread-safe.
namespace tenure::manifest {

/// Where the agent, in the same pod as the container `main`, can ask what this probe asks; nothing
/// if it cannot.
[[nodiscard]] std::optional<std::string> url_of(const config::yaml_node& main,
                                                const config::yaml_node& probe);

/// True if a roll-out of this object waits until a second pod is Ready. Where only the active pod
/// is Ready, it never ends.
[[nodiscard]] bool waits_for_two(const std::string& kind, const config::yaml_node& object);

}  // namespace tenure::manifest
