#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
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
  std::vector<yaml_node_ptr> items;  ///< a list's items
  std::vector<std::pair<yaml_node_ptr, yaml_node_ptr>>
      members;  ///< a mapping's members; keys may repeat
};

/// Reads the one document of `source`. Refused: syntax errors, no or several documents, tags, more
/// than `max_file_bytes`, nesting beyond `max_nesting`.
std::expected<yaml_node_ptr, problem> parse_yaml(const file& source);

/// The kind of a plain (not quoted) scalar in the core schema of YAML 1.2: `off` and `yes` are
/// text.
yaml_kind kind_of_plain(std::string_view scalar);

/// "tenure.yaml:3:7".
std::string position(const std::string& file_name, std::size_t line, std::size_t column);

}  // namespace tenure::config
