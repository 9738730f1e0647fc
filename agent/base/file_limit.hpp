#pragma once

#include <cstdint>

/// How many descriptors the process may have open.
namespace tenure::base {

/// Raises the soft limit to `wanted`, or as far as the hard limit allows; never lowers it. Returns
/// what it is then. Before there are threads that start processes.
std::uint64_t raise_file_limit(std::uint64_t wanted);

/// Gives back the limit as it was before it was raised. For a child that becomes another program:
/// one that uses select() cannot have descriptors above 1023, and 1024 is what it expects.
/// Async-signal-safe; does nothing if nothing was raised.
void restore_file_limit();

}  // namespace tenure::base
