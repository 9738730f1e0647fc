#pragma once

#include <string>
#include <vector>

#include "settings/agent.hpp"

namespace tenure::runtime {

struct agent_options {
  settings::agent settings;
  std::vector<std::string> warnings{};  ///< about the settings, one line each, for the log
  /// Of this incarnation, unless it goes on with that of one that has died.
  std::string session;
  /// A guard owns the workload, or hooks tell it. Precondition: exactly one election.
  bool has_guard = false;
};

}  // namespace tenure::runtime
