#pragma once

#include <memory>
#include <string>

#include "config/settings.hpp"

namespace tenure::runtime {

struct agent_options {
  config::settings settings;
  /// Of this incarnation, unless it goes on with that of one that has died.
  std::string session;
  /// A guard owns a workload; set by `run_agent` where hooks do. Precondition: exactly one
  /// election.
  bool has_guard = false;
};

/// The agent: connects the elections, the store, the guard and the HTTP listeners, and carries out
/// what the elections decide. The election work runs on the calling thread, serving on another.
///
/// Returns the status to exit with, when everything is released and closed. Call it once, while
/// the process has one thread.
int run_agent(agent_options options);

}  // namespace tenure::runtime
