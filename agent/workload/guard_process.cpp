#include "workload/guard_process.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "core/check.hpp"
#include "os/boot_time.hpp"
#include "workload/guard_loop.hpp"
#include "workload/target_check.hpp"

namespace tenure::workload {

void complain(std::string_view what) {
  constexpr std::string_view who = "tenure guard: ";
  char line[512];
  const std::size_t size = std::min(what.size(), sizeof line - who.size() - 1);
  char* end = std::ranges::copy(who, line).out;
  end = std::ranges::copy(what.substr(0, size), end).out;
  *end++ = '\n';
  [[maybe_unused]] const ssize_t sent =
      ::write(STDERR_FILENO, line, static_cast<std::size_t>(end - line));
}

bool guard_loop::open() {
  struct sigaction hup{};
  ::sigaction(SIGHUP, nullptr, &hup);
  const bool hup_ignored = hup.sa_handler == SIG_IGN;
  // If it were ignored, the kernel would reap our children, and we would never see them end.
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_NAME, "tenure-guard");
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    complain("cannot become subreaper of the workload; Linux 3.4 or newer is needed");
    return false;
  }
  if (!page_.make() || !worker_page_.make()) {
    complain(
        "the kernel refuses a memfd, or /proc is not mounted; check the limits and the mounts");
    return false;
  }
  if (options_.foreign) {
    foreign_ = std::make_unique<foreign_processes>();
    if (const auto found = prepare_target(*foreign_, options_.foreign->what); !found) {
      complain(found.error().text);
      return false;
    }
    // Whatever runs now runs without a lease that we know of.
    sweeping_ = true;
    look_at_ = os::boot_now();
  } else if (!tree_.prepare(options_.command, hup_ignored, worker_page_)) {
    complain("/proc does not show the processes of this PID namespace; mount it there");
    return false;
  }
  if (has_door()) {
    if (const auto opened = door_.open(options_.door); !opened) {
      complain(opened.error());
      return false;
    }
  } else {
    agent_.prepare(options_.agent_argv, hup_ignored);
  }
  if (!wakes_.open()) {
    complain("the kernel refuses a signalfd or a timerfd; check the limits");
    return false;
  }
  // Best effort: a page that must be read back in first would make us late just when memory is
  // short. Where the limit on locked memory is too small, we are as good as any process. Pages
  // are locked once they are used, so this uses what a kill will need; there is nobody to signal.
  ::mlockall(MCL_CURRENT | MCL_ONFAULT);
  if (!foreign_) tree_.signal_all(0, 0);
  return true;
}

int run_guard(const guard_options& options) {
  TENURE_CHECK(options.agent_argv.empty() != options.door.directory.empty());
  TENURE_CHECK(options.command.empty() == options.foreign.has_value());
  guard_loop guard(options);
  if (!guard.open() || (!guard.has_door() && !guard.start_agent())) return exit_guard_unusable;
  if (options.ready != nullptr) options.ready();
  while (!guard.finished()) guard.turn();
  guard.say_last();
  return guard.exit_status();
}

}  // namespace tenure::workload
