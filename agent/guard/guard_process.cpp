#include "guard/guard_process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "base/memory.hpp"
#include "core/check.hpp"
#include "guard/agent_child.hpp"
#include "guard/agent_process.hpp"
#include "guard/file_reader.hpp"
#include "guard/foreign_processes.hpp"
#include "guard/foreign_workload.hpp"
#include "guard/guard_kernel.hpp"
#include "guard/guard_lines.hpp"
#include "guard/guard_listener.hpp"
#include "guard/guard_log.hpp"
#include "guard/guard_loop.hpp"
#include "guard/guard_socket.hpp"
#include "guard/log_writer.hpp"
#include "guard/shared_page.hpp"
#include "guard/started_workload.hpp"
#include "guard/target_check.hpp"
#include "guard/worker_page.hpp"
#include "guard/workload_tree.hpp"
#include "process/exec_status.hpp"

namespace tenure::guard {
namespace {

/// Says why the guard cannot start.
void complain(std::string_view what) {
  std::fprintf(stderr, "tenure guard: %.*s\n", static_cast<int>(what.size()), what.data());
}

const char* no_side_process(int error) {
  return error == EAGAIN
             ? "cannot start a process that waits in the guard's place; check the limits on "
               "processes"
             : "cannot start a process that waits in the guard's place; check the limits on open "
               "files and memory";
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
  void rehearse();
  [[nodiscard]] bool open_agents(bool hup_ignored);
  void wait(const guard_wait& what);

  const guard_options& options_;
  guard_kernel kernel_;
  shared_page page_;
  worker_page worker_page_;
  log_writer writer_;
  guard_log log_{writer_};
  guard_socket socket_;
  agent_process program_{socket_, page_.fd(), worker_page_.fd()};
  agent_child agent_{program_};
  std::optional<guard_acceptor> acceptor_;  ///< none: the guard starts its agent
  // One of the two is guarded.
  workload_tree tree_{writer_.process()};
  side_reader reader_;  ///< used for a foreign workload
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
  if (const int error = writer_.open(); error != 0) {
    complain(no_side_process(error));
    return false;
  }
  kernel_.keep_apart(writer_.process());
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
  // Reading a page back in would make us late just when memory is short. This uses what a kill will
  // need; there is no process to signal yet. If the limit on locked memory is too small, we run
  // without.
  if (!foreign_) rehearse();
  base::lock_memory();
  return true;
}

void guard_process::rehearse() {
  tree_.signal_all(0, 0);
  static_cast<void>(tree_.living(0));
  killed_words(true);
  ended_words(SIGKILL);
}

bool guard_process::open_workload(bool hup_ignored) {
  if (options_.foreign) {
    const bool has_to_read = options_.foreign->what.by != settings::target::kind::executable;
    if (const int error = has_to_read ? reader_.open() : 0; error != 0) {
      complain(no_side_process(error));
      return false;
    }
    for (std::size_t i = 0; i < side_reader::most_processes; ++i) {
      kernel_.keep_apart(reader_.process(i));
    }
    found_ = std::make_unique<foreign_processes>(reader_);
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
  const bool began = loop_->begin();
  if (began && options_.ready != nullptr) options_.ready();
  while (began && !loop_->finished()) {
    wait(loop_->prepare());
    loop_->act();
  }
  loop_->say_last();
  writer_.close();
  return began ? loop_->exit_status() : process::exit_guard_unusable;
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
