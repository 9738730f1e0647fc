#pragma once

namespace tenure::base {

/// True if `fd` is a terminal.
bool is_terminal(int fd);

/// The first of stdin, stdout and stderr that is a terminal; -1: none is.
int standard_terminal();

/// True if `terminal`, which was one, is gone: its window was closed, or its connection has ended.
/// Does not wait. -1: false.
bool has_hung_up(int terminal);

/// True if `fd` is a terminal that shows colours: NO_COLOR is unset or empty, TERM is set and not
/// "dumb".
bool wants_colour(int fd);

}  // namespace tenure::base
