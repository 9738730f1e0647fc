#pragma once

namespace tenure::base {

/// Gives back the pages of the program's own code that were used until now, most of them only to
/// start. Pages that are used again come back from the page cache, a microsecond each.
///
/// Not for a process that has to act when memory is short, e.g. the guard.
void forget_code_pages();

/// Keeps in memory what a process needs that has to act when memory is short: all its pages, as
/// they are used, or, if the limit on locked memory is smaller than the program (8 MB by default,
/// which the kernel compares with all that is mapped), the pages that were used until now. So call
/// it after a rehearsal. Locks as much as the limit allows, and allocates nothing.
void lock_memory();

/// From now on, no other process of our user can read this one's memory or environment, trace it,
/// or find it in a core file. Does not affect programs that this process executes.
void keep_memory_private();

/// From now on, memory in large pieces goes back to the kernel when it is freed. By default malloc
/// raises its threshold when large blocks are freed, so the memory of one large answer would stay
/// in the process.
void give_back_large_blocks();

}  // namespace tenure::base
