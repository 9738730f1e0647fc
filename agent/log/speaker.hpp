#pragma once

#include <string_view>

namespace tenure::log {

/// The election and the member that a line of the log is about.
struct speaker {
  std::string_view election;
  std::string_view identity;
};

}  // namespace tenure::log
