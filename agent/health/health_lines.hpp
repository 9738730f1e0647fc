#pragma once

#include <string>

#include "core/clock.hpp"
#include "core/health.hpp"
#include "log/logger.hpp"
#include "log/speaker.hpp"

/// The agent's log lines about the health of its workload.
namespace tenure::health {

/// Logs once what is checked and when.
void say_health_checked(log::logger& to, const std::string& subjects, core::duration interval,
                        bool always);
void say_health_asks_nobody(log::logger& to);
/// Logs a new verdict on the workload of these elections; `why`: what failed.
void say_health(log::logger& to, const log::speaker& who, core::health verdict,
                const std::string& why);

}  // namespace tenure::health
