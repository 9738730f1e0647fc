#pragma once

#include <string>

#include "config/settings.hpp"

namespace tenure::runtime {

struct agent_options {
  config::settings settings;
  /// Of this incarnation, unless it goes on with that of one that has died.
  std::string session;
  /// A guard owns the workload, or hooks tell it. Precondition: exactly one election.
  bool has_guard = false;
};

}  // namespace tenure::runtime
