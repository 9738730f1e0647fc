#pragma once

#include "config/settings.hpp"
#include "log/logger.hpp"

namespace tenure::runtime {

/// How this process writes its log: what the setting wants, on the stderr that it has.
log::log_form form_of(config::log_format wanted);

}  // namespace tenure::runtime
