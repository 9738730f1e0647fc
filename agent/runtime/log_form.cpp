#include "runtime/log_form.hpp"

#include <unistd.h>

#include "os/terminal.hpp"

namespace tenure::runtime {

log_form form_of(config::log_format wanted) {
  using config::log_format;
  if (wanted == log_format::json) return log_form::json;
  const bool at_terminal = os::is_terminal(STDERR_FILENO);
  if (wanted == log_format::logfmt || (wanted == log_format::automatic && !at_terminal)) {
    return log_form::logfmt;
  }
  return os::wants_colour(STDERR_FILENO) ? log_form::coloured : log_form::text;
}

}  // namespace tenure::runtime
