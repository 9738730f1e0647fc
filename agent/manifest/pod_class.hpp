#pragma once

#include "config/yaml.hpp"

namespace tenure::manifest {

/// True if the pod is of the class Guaranteed: each of its containers has limits for CPU and
/// memory, and requests no less. Pure. Thread-safe.
[[nodiscard]] bool is_guaranteed(const config::yaml_node& pod);

}  // namespace tenure::manifest
