#pragma once

namespace tenure::base {

/// Gives back the pages of the program's own code that have been needed until now, most of them for
/// starting. Those that are needed again come back from the page cache, a microsecond each.
///
/// Not for a process that has to act when memory is short, e.g. the guard.
void forget_code_pages();

/// From now on, no other process of our user can read this one's memory or environment, trace it,
/// or find it in a core file. Programs that are executed from here are not concerned.
void keep_memory_private();

/// From now on, memory in large pieces goes back to the kernel when it is freed. By default malloc
/// keeps more the more was freed, so that one large answer would be in the process for ever.
void give_back_large_blocks();

}  // namespace tenure::base
