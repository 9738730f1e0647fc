#pragma once

namespace tenure::tests {

/// From now on, whoever allocates in this process aborts it, with a line on stderr. Ends with
/// exec; a fork inherits it. Without effect in a build with sanitizers, which allocate themselves.
void allow_no_allocation();

/// True if this build can trap allocations.
bool can_trap_allocations();

}  // namespace tenure::tests
