#pragma once

#include <string>
#include <string_view>

#include "config/yaml.hpp"

/// Manifests in JSON, as `kubectl get -o json` prints them. JSON is YAML in braces, into which no
/// lines can be added: so it is written in lines first, and in JSON again when the sidecar is in.
namespace tenure::manifest {

/// True if `text` is one object of JSON, and not several documents of YAML.
[[nodiscard]] bool is_json(std::string_view text);

/// The same in lines, each member and item with its own.
[[nodiscard]] std::string in_lines(const config::yaml_node& root);

/// As `kubectl` prints it, with a line feed at the end.
[[nodiscard]] std::string as_json(const config::yaml_node& root);

}  // namespace tenure::manifest
