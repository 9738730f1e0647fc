#pragma once

#include "config/settings.hpp"
#include "log/logger.hpp"

namespace tenure::runtime {

/// The format of this process's log, by the setting and its stderr.
log::log_form form_of(config::log_format wanted);

}  // namespace tenure::runtime
