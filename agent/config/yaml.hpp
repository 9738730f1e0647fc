#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/load.hpp"

/// A YAML document as a tree with positions; yaml-cpp stays behind this.
namespace tenure::config {

struct yaml_node;

/// Shared, because an alias is the node it points to and not a copy: a file of nested aliases
/// costs no more memory than its text.
using yaml_node_ptr = std::shared_ptr<const yaml_node>;

enum class yaml_kind : std::uint8_t { null, boolean, number, text, list, mapping };

struct yaml_node {
  yaml_kind kind = yaml_kind::null;
  std::string scalar;  ///< a boolean, number or text, as written
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t offset = 0;  ///< in bytes, where the value begins, or its anchor or tag if it has one
  bool is_flow = false;    ///< a list in [] or a mapping in {}
  bool is_aliased = false;           ///< an alias repeats the value elsewhere
  bool is_plain = false;             ///< a scalar without quotes and without a tag
  std::vector<yaml_node_ptr> items;  ///< a list's items
  std::vector<std::pair<yaml_node_ptr, yaml_node_ptr>>
      members;  ///< a mapping's members; keys may repeat. Of a merge (`<<: *other`), the members
                ///< that it brings stand before it
};

/// What a document may be. The defaults are those of a configuration.
struct yaml_limits {
  std::size_t bytes = max_file_bytes;
  std::size_t nesting = max_nesting;
  /// True: the file is one of Kubernetes, and means what it means to `kubectl`, which reads YAML
  /// with go.yaml.in/yaml/v2. So `yes`, `on` and `y` are booleans, 0b1 and 1_000 numbers; tags and
  /// merge keys (`<<`) are read; a text in quotes may go on in the next line; a second document is
  /// not read. False: a file of settings, where all of that is refused, or text.
  bool as_kubectl = false;
};

/// Reads the one document of `source`. Refused: syntax errors, no or several documents, and what is
/// beyond the limits.
std::expected<yaml_node_ptr, problem> parse_yaml(const file& source,
                                                 const yaml_limits& limits = {});

/// True or false, if that is what the value says to `kubectl`, with or without quotes.
std::optional<bool> truth_of(const yaml_node& value);

/// The kind of a plain (not quoted) scalar in the core schema of YAML 1.2: `off` and `yes` are
/// text.
yaml_kind kind_of_plain(std::string_view scalar);

/// "tenure.yaml:3:7".
std::string position(const std::string& file_name, std::size_t line, std::size_t column);

}  // namespace tenure::config
