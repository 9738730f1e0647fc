#include "guard/guard_process.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>

#include "core/check.hpp"
#include "guard/agent_child.hpp"
#include "guard/agent_process.hpp"
#include "guard/foreign_processes.hpp"
#include "guard/foreign_workload.hpp"
#include "guard/guard_kernel.hpp"
#include "guard/guard_listener.hpp"
#include "guard/guard_log.hpp"
#include "guard/guard_loop.hpp"
#include "guard/guard_socket.hpp"
#include "guard/shared_page.hpp"
#include "guard/started_workload.hpp"
#include "guard/target_check.hpp"
#include "guard/worker_page.hpp"
#include "guard/workload_tree.hpp"
#include "process/exec_status.hpp"

namespace tenure::guard {
namespace {

/// Says why the guard cannot start. Does not allocate.
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

/// The guard's kernel objects and its loop. Only `open` allocates.
class guard_process {
 public:
  explicit guard_process(const guard_options& options) : options_(options) {}

  /// False, with the reason on stderr, if the guard cannot work here.
  [[nodiscard]] bool open();

  /// Returns the status to exit with. Precondition: open.
  [[nodiscard]] int run();

 private:
  [[nodiscard]] bool open_workload(bool hup_ignored);
  [[nodiscard]] bool open_agents(bool hup_ignored);
  void wait(const guard_wait& what);

  const guard_options& options_;
  guard_kernel kernel_;
  shared_page page_;
  worker_page worker_page_;
  stderr_sink stderr_;
  guard_log log_{stderr_};
  guard_socket socket_;
  agent_process program_{socket_, page_.fd(), worker_page_.fd()};
  agent_child agent_{program_};
  std::optional<guard_acceptor> acceptor_;  ///< none: the guard starts its agent
  // One of the two is guarded.
  workload_tree tree_;
  std::unique_ptr<foreign_processes> found_;
  std::optional<started_workload> started_;
  std::optional<foreign_workload> foreign_;
  std::optional<guard_loop> loop_;
};

bool guard_process::open() {
  struct sigaction hup{};
  ::sigaction(SIGHUP, nullptr, &hup);
  const bool hup_ignored = hup.sa_handler == SIG_IGN;
  // If it were ignored, the kernel would reap our children, and we would not see them end.
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
  // Before agents can come in: from then on a signal is answered, and does not end the guard.
  if (!kernel_.open()) {
    complain("the kernel refuses a signalfd or a timerfd; check the limits");
    return false;
  }
  if (!open_workload(hup_ignored) || !open_agents(hup_ignored)) return false;
  guarded_processes* const workload =
      foreign_ ? static_cast<guarded_processes*>(&*foreign_) : &*started_;
  loop_.emplace(guard_parts{.host = kernel_,
                            .page = *page_,
                            .worker_page = *worker_page_,
                            .socket = socket_,
                            .agent = agent_,
                            .acceptor = acceptor_ ? &*acceptor_ : nullptr,
                            .workload = *workload,
                            .log = log_},
                options_);
  // Best effort: reading a page back in would make us late just when memory is short. If the limit
  // on locked memory is too small, we run without. Pages are locked when first used, so this uses
  // what a kill will need; there is no process to signal yet.
  ::mlockall(MCL_CURRENT | MCL_ONFAULT);
  if (!foreign_) tree_.signal_all(0, 0);
  return true;
}

bool guard_process::open_workload(bool hup_ignored) {
  if (options_.foreign) {
    found_ = std::make_unique<foreign_processes>();
    if (const auto found = prepare_target(*found_, options_.foreign->what); !found) {
      complain(found.error().text);
      return false;
    }
    foreign_.emplace(*found_, *options_.foreign, log_, kernel_.now());
    return true;
  }
  if (!tree_.prepare(options_.command, hup_ignored, worker_page_)) {
    complain("/proc does not show the processes of this PID namespace; mount it there");
    return false;
  }
  started_.emplace(tree_, agent_);
  return true;
}

bool guard_process::open_agents(bool hup_ignored) {
  if (const auto* argv = std::get_if<agent_argv>(&options_.agents)) {
    program_.prepare(*argv, hup_ignored);
    return true;
  }
  acceptor_.emplace(socket_, page_.fd(), worker_page_.fd());
  const auto opened = acceptor_->open(std::get<guard_listener::options>(options_.agents));
  if (!opened) complain(opened.error());
  return opened.has_value();
}

int guard_process::run() {
  if (!loop_->begin()) return process::exit_guard_unusable;
  if (options_.ready != nullptr) options_.ready();
  while (!loop_->finished()) {
    wait(loop_->prepare());
    loop_->act();
  }
  loop_->say_last();
  return loop_->exit_status();
}

void guard_process::wait(const guard_wait& what) {
  const short for_socket = what.room_to_send ? POLLIN | POLLOUT : POLLIN;
  const pollfd others[] = {
      {.fd = socket_.fd(), .events = for_socket, .revents = 0},
      {.fd = found_ ? found_->deaths() : tree_.exec_pipe(), .events = POLLIN, .revents = 0},
      {.fd = acceptor_ ? acceptor_->fd() : -1, .events = POLLIN, .revents = 0}};
  kernel_.wait(others, !what.only_look);
}

}  // namespace

int run_guard(const guard_options& options) {
  TENURE_CHECK(options.command.empty() == options.foreign.has_value());
  guard_process guard(options);
  return guard.open() ? guard.run() : process::exit_guard_unusable;
}

}  // namespace tenure::guard
