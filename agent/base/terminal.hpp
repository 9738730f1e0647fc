#pragma once

namespace tenure::base {

/// True if `fd` is a terminal.
bool is_terminal(int fd);

/// True if `fd` is a terminal that shows colours: NO_COLOR is unset or empty, TERM is set and not
/// "dumb".
bool wants_colour(int fd);

}  // namespace tenure::base
