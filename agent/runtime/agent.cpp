#include "runtime/agent.hpp"

#include <sys/prctl.h>

#include <utility>

#include "os/memory.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/lines.hpp"
#include "runtime/log.hpp"
#include "workload/agent_process.hpp"

namespace tenure::runtime {

int run_agent(agent_options options) {
  // Threads that are started later have it, too.
  ::prctl(PR_SET_NAME, workload::agent_name);
  os::give_back_large_blocks();
  // The store's password, keys and the control token; the workload is often of our user.
  os::keep_memory_private();
  const config::settings& s = options.settings;
  log to(form_of(s.log_format), s.log_level);
  for (const config::problem& warning : s.warnings) {
    say_settings_warning(to, config::render(warning));
  }
  options.has_guard = options.has_guard || s.hooks.any();
  agent_loop loop(std::move(options), to);
  return loop.run();
}

}  // namespace tenure::runtime
