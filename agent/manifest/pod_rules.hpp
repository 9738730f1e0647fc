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
  /// What the image of the main container starts, where the manifest does not say it.
  std::vector<std::string> command{};
};

/// A program of the main container that the kubelet starts as a probe, and that is to be asked
/// while the command runs only.
struct wrapped_probe {
  node_path exec;  ///< to the mapping that has the command, from the document's root
  std::vector<std::string> words{};  ///< that go in front of the command
};

/// All reasons why not, with their positions; empty: it can.
struct pod_report {
  std::vector<config::problem> problems;
  std::vector<config::problem> notes;  ///< what works, but is worth knowing
  pod_facts facts;
  node_path container;               ///< to the main container, from the document's root
  std::vector<std::string> taken{};  ///< members of the main container that are taken out
  std::vector<wrapped_probe> wrapped{};
  node_path labelled{};    ///< to the mapping whose labels get that of the election; empty: none
  bool gets_gate = false;  ///< the pod gets the readinessGate
};

/// Precondition: `of.why_not` is empty.
pod_report examine(const std::string& file_name, const document& in, const workload& of,
                   const sidecar& what, const pod_choices& choices);

}  // namespace tenure::manifest
