#pragma once

#include <expected>
#include <string>
#include <vector>

#include "config/problem.hpp"
#include "manifest/documents.hpp"
#include "manifest/sidecar.hpp"

/// Puts additions into the text of a document, between marks, and into its tree.
namespace tenure::manifest {

/// `in.text` with all additions, each marked as `label`'s, and without what is taken out. `objects`
/// go in front of the workload's own object: as documents, or as items of its List. A problem where
/// no line can stand between the lines that are there.
std::expected<std::string, config::problem> with_additions(const std::string& file_name,
                                                           const document& in, const workload& of,
                                                           const std::vector<addition>& all,
                                                           const removal& taken,
                                                           const std::vector<std::string>& objects);

/// What the tree of that text has to be: `in.root` with the additions, without what is taken out,
/// and with `objects` if they are items of its List.
config::yaml_node_ptr tree_with_additions(const document& in, const workload& of,
                                          const std::vector<addition>& all, const removal& taken,
                                          const std::vector<std::string>& objects);

/// True if both say the same, however it is written down.
bool same_tree(const config::yaml_node_ptr& a, const config::yaml_node_ptr& b);

}  // namespace tenure::manifest
