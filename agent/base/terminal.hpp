#pragma once

namespace tenure::base {

/// True if somebody at a terminal reads what is written to `fd`.
bool is_terminal(int fd);

/// True if `fd` is a terminal that wants colours: NO_COLOR is not set, or empty; TERM is not dumb.
bool wants_colour(int fd);

}  // namespace tenure::base
