#pragma once

#include <string>

#include "stage.hpp"

namespace tenure::shell {

/// Draws what goes wrong with the lease file: its lock, the disk, inotify, the agents' threads, and
/// what an operator does to it. Mended after `lasts`, if it is a state. Returns what it is, for a
/// person who follows one seed. `may_replace`: a member knows all versions that were granted, so
/// the file may be taken away.
std::string strike(stage& s, core::duration lasts, bool may_replace);

}  // namespace tenure::shell
