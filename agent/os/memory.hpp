#pragma once

namespace tenure::os {

/// Gives back the pages of the program's own code that have been needed until now, most of them for
/// starting. Those that are needed again come back from the page cache, a microsecond each.
///
/// Not for a process that has to act when memory is short, e.g. the guard.
void forget_code_pages();

}  // namespace tenure::os
