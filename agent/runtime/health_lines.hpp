#pragma once

#include <string>

#include "core/clock.hpp"
#include "core/health.hpp"
#include "runtime/log.hpp"
#include "runtime/speaker.hpp"

/// What the agent says in its log about the health of its workload.
namespace tenure::runtime {

/// What is checked and when, once.
void say_health_checked(log& to, const std::string& subjects, core::duration interval, bool always);
void say_health_asks_nobody(log& to);
/// Another verdict on the workload of these elections; `why`: what failed.
void say_health(log& to, const speaker& who, core::health verdict, const std::string& why);

}  // namespace tenure::runtime
