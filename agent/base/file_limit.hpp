#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>

/// How many descriptors the process may have open.
namespace tenure::base {

/// Raises the soft limit to `wanted`, or as far as the hard limit allows; never lowers it. Returns
/// the new limit. Call it before there are threads that start processes.
std::uint64_t raise_file_limit(std::uint64_t wanted);

/// The limit from before it was raised; nothing if nothing was. For a child that executes another
/// program: one that uses select() cannot handle descriptors above 1023 and expects a limit of
/// 1024. Async-signal-safe.
[[nodiscard]] std::optional<rlimit> file_limit_of_programs();

}  // namespace tenure::base
