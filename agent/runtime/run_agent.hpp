#pragma once

#include "runtime/agent_options.hpp"

namespace tenure::runtime {

/// Runs an agent in this process, until everything is released and closed. The elections are turned
/// on the calling thread, and HTTP is served on another. Returns the status to exit with.
///
/// Call it once, while the process has one thread. `has_guard` need not be set for hooks.
int run_agent(agent_options options);

}  // namespace tenure::runtime
