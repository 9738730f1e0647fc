#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

/// How many descriptors the process may have open.
namespace tenure::base {

/// Raises the soft limit to `wanted`, or as far as the hard limit allows; never lowers it. Returns
/// the new limit. Call it before there are threads that start processes.
std::uint64_t raise_file_limit(std::uint64_t wanted);

/// Restores the limit from before it was raised. For a child that executes another program: one
/// that uses select() cannot handle descriptors above 1023 and expects a limit of 1024.
/// Async-signal-safe; does nothing if nothing was raised.
void restore_file_limit();

/// The limit that `restore_file_limit` would set; nothing if nothing was raised. For a child that
/// may not call it.
[[nodiscard]] std::optional<rlimit> file_limit_of_programs();

}  // namespace tenure::base
