#pragma once

namespace tenure::tests {

/// From now on, an allocation aborts this process, with a line on stderr. A fork inherits this, an
/// exec ends it. Does nothing in builds with sanitizers, which allocate themselves.
void allow_no_allocation();

/// True if this build can trap allocations.
bool can_trap_allocations();

}  // namespace tenure::tests
