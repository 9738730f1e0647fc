#pragma once

#include <cstdint>
#include <string>

#include "stage.hpp"
#include "swarm.hpp"

namespace tenure::shell {

constexpr std::uint64_t kinds_of_strikes = 16;

/// Draws what goes wrong with the lease file: its lock, the disk, inotify, the agents' threads, and
/// what an operator does to it. Mended after `lasts`, if it is a state. Returns what it is, for a
/// person who follows one seed. `may_replace`: a member knows all versions that were granted, so
/// the file may be taken away.
std::string strike(stage& s, const swarm& kinds, core::duration lasts, bool may_replace);

}  // namespace tenure::shell
