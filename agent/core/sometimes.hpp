#pragma once

/// TENURE_SOMETIMES(name): this line is to be reached by the simulators' seeds now and then. In the
/// program that ships it is nothing. Only in sources, and once a name:
/// tests/support/seeds/probes.hpp lists them all, and a run of a simulator over thousands of seeds
/// fails if one was never reached.
#ifdef TENURE_PROBES

#include <cstdint>

namespace tenure::core {

/// Where TENURE_SOMETIMES stands. Reached by any thread.
struct probe {
  const char* name;
  const char* file;
  int line;
  std::uint64_t reached = 0;  ///< atomic; <atomic> is not on core's list
};

}  // namespace tenure::core

// The linker knows where this section begins and ends (ld, "input section wildcards": __start_NAME,
// __stop_NAME).
#define TENURE_SOMETIMES(what)                                                                \
  do {                                                                                        \
    [[gnu::section("tenure_probes"), gnu::used]] static constinit ::tenure::core::probe here{ \
        #what, __FILE__, __LINE__};                                                           \
    __atomic_fetch_add(&here.reached, 1, __ATOMIC_RELAXED);                                   \
  } while (false)

#else

#define TENURE_SOMETIMES(what) static_cast<void>(0)

#endif
