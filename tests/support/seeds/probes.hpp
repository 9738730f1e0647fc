#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::tests {

/// How often a TENURE_SOMETIMES of this program was reached since it began, by all threads.
struct probe_count {
  std::string_view name;
  std::string_view file;
  int line = 0;
  std::uint64_t reached = 0;
};

/// All of this program, the least often reached first.
std::vector<probe_count> probe_counts();

/// Those that `simulator` (seed_program::name) has never reached, although nothing says that it
/// seldom does; and what is said of probes that do not exist. One line each. To be asked after
/// thousands of seeds.
std::vector<std::string> probe_faults(std::string_view simulator);

}  // namespace tenure::tests
