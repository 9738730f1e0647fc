#pragma once

#include <string>
#include <vector>

#include "settings/endpoint.hpp"

namespace tenure::cli {

struct watched_agents {
  std::vector<settings::endpoint> agents;
  std::string path;   ///< what each of them is asked for
  bool json = false;  ///< one answer a line
};

/// `tenure status --watch`: until SIGINT, SIGTERM or SIGHUP, of which it then dies.
int watch_status(const watched_agents& what);

}  // namespace tenure::cli
