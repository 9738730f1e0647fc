#pragma once

#include <expected>
#include <string>
#include <vector>

#include "config/problem.hpp"
#include "config/yaml.hpp"
#include "manifest/pod_rules.hpp"
#include "manifest/sidecar.hpp"

/// `tenure inject`: puts the sidecar into a manifest as a person would, line by line, and takes it
/// out again. Pure: reads no file; any bytes may be given. Thread-safe.
namespace tenure::manifest {

/// Which workload of a file, and what it gets.
struct injection {
  std::string workload{};  ///< "web" or "Deployment/web"; empty: the only one
  sidecar what;
  pod_choices choices{};
};

struct injected {
  std::string text;
  std::vector<config::problem> notes;  ///< what works, but is worth knowing
};

/// `of.text` with the sidecar in one workload. What was injected into that workload before is taken
/// out first, so that a second time changes nothing, and other settings replace those of the first.
///
/// The result is checked before it is returned: it says what the manifest has said and nothing else
/// but the sidecar, and `uninject` gives the text back byte for byte. The error has all reasons why
/// the workload cannot have the sidecar.
std::expected<injected, std::vector<config::problem>> inject(const config::file& of,
                                                             const injection& how);

/// `of.text` without what `inject` has added to `workload`; to all of them, if it is empty. Returns
/// a text without marks as it is.
std::expected<std::string, std::vector<config::problem>> uninject(const config::file& of,
                                                                  const std::string& workload);

}  // namespace tenure::manifest
