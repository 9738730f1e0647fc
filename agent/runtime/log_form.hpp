#pragma once

#include "log/logger.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// The format of this process's log, by the setting and its stderr.
log::log_form form_of(settings::log_format wanted);

}  // namespace tenure::runtime
