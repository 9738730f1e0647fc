#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace tenure::tests {

/// The name of its program, cut to 15 bytes; empty if there is no such process.
inline std::string name_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

}  // namespace tenure::tests
