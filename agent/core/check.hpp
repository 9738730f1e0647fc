#pragma once

#include <cstdio>
#include <cstdlib>

namespace tenure::core {

/// Ends the process because of a programmer error; the guard then ends the workload.
[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "tenure: check failed: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace tenure::core

/// A precondition that stays on in release builds. For programmer errors only: what a user, a
/// store or a network can cause is a result, not a check.
#define TENURE_CHECK(condition)                                     \
  do {                                                              \
    if (!(condition)) {                                             \
      ::tenure::core::check_failed(#condition, __FILE__, __LINE__); \
    }                                                               \
  } while (false)
