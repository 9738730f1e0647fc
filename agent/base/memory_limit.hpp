#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>

namespace tenure::base {

/// How many bytes of memory the cgroups of this process let it have, of version 1 or 2: the least
/// of its own limit and of those above it. Nothing: there is no limit, or it cannot be read.
[[nodiscard]] std::optional<std::uint64_t> memory_limit();

/// The same by the text of a /proc/PID/cgroup, with the cgroups mounted below `mounted`. In a
/// container the paths may be those of the host; then the limit of what is mounted counts, which is
/// the container's.
[[nodiscard]] std::optional<std::uint64_t> memory_limit(std::istream& cgroups,
                                                        const std::filesystem::path& mounted);

/// The largest reply that a client takes in, so that the program keeps within its memory limit: a
/// sixteenth of it, as JSON takes a multiple of its text while it is read; at least 1 MiB and at
/// most 64 MiB.
[[nodiscard]] std::size_t most_reply_bytes(std::optional<std::uint64_t> limit = memory_limit());

}  // namespace tenure::base
