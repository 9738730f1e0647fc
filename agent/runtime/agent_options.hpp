#pragma once

#include <string>
#include <vector>

#include "settings/agent.hpp"

namespace tenure::runtime {

struct agent_options {
  settings::agent settings;
  std::vector<std::string> warnings{};  ///< about the settings, one line each, for the log
  /// This incarnation's session, unless it goes on with the session of one that has died.
  std::string session;
  /// A guard started this agent and owns its workload. Precondition: exactly one election.
  bool started_by_guard = false;
};

}  // namespace tenure::runtime
