#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml.hpp"

/// A file of manifests: its documents, and the workloads in them.
namespace tenure::manifest {

inline constexpr std::size_t max_manifest_bytes = std::size_t{8} * 1024 * 1024;
inline constexpr std::size_t max_manifest_nesting = 64;

/// One document. Nodes count their offsets from `begin`, and lines and columns as in the file.
struct document {
  std::size_t begin = 0;       ///< right behind "---", or where the file begins
  std::size_t first_line = 0;  ///< where the first line begins that is all of this document
  std::string_view text;
  std::size_t lines_before = 0;
  config::yaml_node_ptr root;  ///< null: only comments
};

/// How to get to a node: the place of a member in its mapping, or of an item in its list.
using node_path = std::vector<std::size_t>;

/// A workload whose pods could have the sidecar.
struct workload {
  std::string kind;
  std::string name;
  std::string name_space{};  ///< empty: not said
  std::size_t in = 0;        ///< which document
  node_path item{};          ///< to its own mapping; empty: all of the document
  node_path pod{};           ///< to the mapping with `containers`, from the document's root
  std::string why_not{};     ///< its pod's specification cannot be found, for this reason

  /// "Deployment/web".
  [[nodiscard]] std::string label() const { return kind + "/" + name; }
};

/// `of` has to outlive what is returned. The problem has the position of what is not YAML.
std::expected<std::vector<document>, config::problem> documents_of(const config::file& of);

/// The workloads in these documents, also those within a List.
std::vector<workload> workloads_of(const std::vector<document>& all);

/// What kinds there are, for messages: "Service, ConfigMap".
std::string kinds_of(const std::vector<document>& all);

/// The node at the end of `path`. Precondition: there is one.
const config::yaml_node& node_at(const config::yaml_node& root, const node_path& path);

/// The place of this member, or `no_member`; `repeated_member` if it is there twice.
inline constexpr std::size_t no_member = static_cast<std::size_t>(-1);
inline constexpr std::size_t repeated_member = no_member - 1;
std::size_t place_of(const config::yaml_node& mapping, std::string_view key);

/// The value of a member; null if it is not there, or there twice.
const config::yaml_node* member_of(const config::yaml_node& mapping, std::string_view key);

/// The text of a scalar member; empty if it has none.
std::string text_of(const config::yaml_node& mapping, std::string_view key);

}  // namespace tenure::manifest
