#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/problem.hpp"
#include "manifest/documents.hpp"
#include "manifest/sidecar.hpp"

/// Whether a pod can have the sidecar, and what the sidecar has to know of it.
namespace tenure::manifest {

/// What the user has said, because a manifest need not.
struct pod_choices {
  std::string container{};              ///< the main one; empty: the only one
  std::optional<std::uint32_t> user{};  ///< that the main container runs as
};

/// All reasons why not, with their positions; empty: it can.
struct pod_report {
  std::vector<config::problem> problems;
  std::vector<config::problem> notes;  ///< what works, but is worth knowing
  pod_facts facts;
  node_path container;  ///< to the main container, from the document's root
};

/// Precondition: `of.why_not` is empty.
pod_report examine(const std::string& file_name, const document& in, const workload& of,
                   const sidecar& what, const pod_choices& choices);

}  // namespace tenure::manifest
