#pragma once

#include "log/logger.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// How this process writes its log: what the setting wants, on the stderr that it has.
log::log_form form_of(settings::log_format wanted);

}  // namespace tenure::runtime
