#pragma once

#include <string>
#include <vector>

#include "settings/endpoint.hpp"

namespace tenure::cli {

struct watched_agents {
  std::vector<settings::endpoint> agents;
  std::string path;   ///< the path that each is asked for
  bool json = false;  ///< one answer per line
};

/// `tenure status --watch`: runs until SIGINT, SIGTERM or SIGHUP, and then dies of that signal.
int watch_status(const watched_agents& what);

}  // namespace tenure::cli
