#pragma once

#include <vector>

#include "runtime/doctor_findings.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// Looks at all that an agent with these settings depends on: its store, its rights, its pod, its
/// guard. Takes no lease, is in no list of members and writes nothing. The findings are in the
/// order in which things depend on each other.
///
/// Call while the process has one thread. Takes seconds where nobody answers.
std::vector<finding> examine(const settings::agent& of);

}  // namespace tenure::runtime
