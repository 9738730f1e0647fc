#pragma once

#include "runtime/agent_options.hpp"

namespace tenure::runtime {

/// Runs an agent in this process, until everything is released and closed. Turns the elections on
/// the calling thread, and serves HTTP on another. Returns the exit status.
///
/// Call once, while the process has one thread.
int run_agent(agent_options options);

}  // namespace tenure::runtime
