#pragma once

#include "config/settings.hpp"
#include "guard/target.hpp"

namespace tenure::runtime {

/// How the workload is found, as configured. Precondition: `t.given()`.
[[nodiscard]] inline guard::target target_of(const config::target& t) {
  using kind = guard::target::kind;
  if (!t.executable.empty()) return {.by = kind::executable, .value = t.executable, .uid = t.uid};
  if (!t.command_line.empty())
    return {.by = kind::command_line, .value = t.command_line, .uid = t.uid};
  return {.by = kind::pid_file, .value = t.pid_file, .uid = t.uid};
}

}  // namespace tenure::runtime
