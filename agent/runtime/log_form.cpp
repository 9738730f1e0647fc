#include "runtime/log_form.hpp"

#include <unistd.h>

#include "base/terminal.hpp"

namespace tenure::runtime {

log::log_form form_of(settings::log_format wanted) {
  using settings::log_format;
  if (wanted == log_format::json) return log::log_form::json;
  const bool at_terminal = base::is_terminal(STDERR_FILENO);
  if (wanted == log_format::logfmt || (wanted == log_format::automatic && !at_terminal)) {
    return log::log_form::logfmt;
  }
  return base::wants_colour(STDERR_FILENO) ? log::log_form::coloured : log::log_form::text;
}

}  // namespace tenure::runtime
