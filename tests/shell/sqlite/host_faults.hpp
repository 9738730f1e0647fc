#pragma once

#include <string>

#include "fault_kinds.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// Draws what goes wrong with the lease file. Mended after `lasts`, if it is a state. Returns what
/// it is, for a person who follows one seed. `may_replace`: a member knows all versions that were
/// granted, so the file may be taken away.
std::string strike(stage& s, const swarm<file_fault>& kinds, core::duration lasts,
                   bool may_replace);

}  // namespace tenure::shell
