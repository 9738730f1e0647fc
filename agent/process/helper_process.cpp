#include "process/helper_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/unique_fd.hpp"
#include "core/check.hpp"
#include "process/environment.hpp"
#include "process/helper_supervisor.hpp"
#include "process/pidfd.hpp"

namespace tenure::process {
namespace {

/// Blocks every signal of this thread while the object lives: no signal may reach a child before it
/// has dropped our handlers.
class signals_held_back {
 public:
  signals_held_back() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_held_back() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_held_back(const signals_held_back&) = delete;
  signals_held_back& operator=(const signals_held_back&) = delete;

 private:
  sigset_t before_{};
};

/// Ends with a null pointer. Most programs use the first of two entries for a variable, so added
/// entries replace ours.
std::vector<char*> with_own_environment(std::vector<std::string>& added) {
  std::vector<char*> all = own_environment();
  for (const std::string& entry : added) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('=') + 1);
    std::erase_if(all, [&](const char* one) { return std::string_view(one).starts_with(name); });
  }
  for (std::string& entry : added) all.push_back(entry.data());
  all.push_back(nullptr);
  return all;
}

/// Returns the keeper's id, or -1 with errno set.
pid_t fork_keeper(const check_task& what, const base::unique_fd& report_to) {
  using job = keeper_request::job;
  std::vector<std::string> words;
  std::vector<std::string> added;
  std::string beside;
  keeper_request asked{.parent = ::getpid(), .report_to = report_to.get()};
  if (const auto* command = std::get_if<run_command>(&what)) {
    TENURE_CHECK(!command->argv.empty());
    words = command->argv;
    added = command->environment;
  } else if (const auto* seen = std::get_if<look_at_file>(&what)) {
    asked.what = job::look;
    asked.path = seen->path.c_str();
  } else if (const auto* made = std::get_if<write_file>(&what)) {
    beside = made->path + new_file_suffix;
    asked.what = job::write;
    asked.path = made->path.c_str();
    asked.new_path = beside.c_str();
    asked.text = made->text.c_str();
  } else {
    asked.what = job::remove;
    asked.path = std::get<remove_file>(what).path.c_str();
  }
  const std::vector<char*> argv = pointers_to(words);
  std::vector<char*> environment = with_own_environment(added);
  asked.argv = argv.data();
  asked.environment = environment.data();
  // If it were ignored, the kernel would reap our children, and their ids could be reused.
  ::signal(SIGCHLD, SIG_DFL);
  const signals_held_back none_reaches_it;
  const pid_t pid = ::fork();
  if (pid == 0) keep_check(asked);
  return pid;
}

check_outcome outcome_of(const check_report& what) {
  switch (what.kind) {
    case check_report::what::ended:
      return command_ended{.status = what.value};
    case check_report::what::not_executed:
      return command_not_executed{.error = what.value};
    case check_report::what::found:
      return file_found{.modified_unix_ms = what.modified_unix_ms};
    case check_report::what::not_found:
      return file_not_found{.error = what.value};
    case check_report::what::done:
      return file_done{};
    case check_report::what::not_done:
      return file_not_done{.error = what.value};
  }
  return check_killed{};
}

}  // namespace

struct helper_process::state : std::enable_shared_from_this<state> {
  state(const boost::asio::any_io_executor& where, handler to_call, base::unique_fd from)
      : done(std::move(to_call)), reports(std::move(from)), keeper(where) {}

  /// Returns 0 or an errno value: a kernel before 5.3, or no descriptor left.
  int watch() {
    base::unique_fd pidfd = open_pidfd(pid);
    if (!pidfd) return errno;
    boost::system::error_code error;
    keeper.assign(pidfd.get(), error);
    if (error) return error.value();
    static_cast<void>(pidfd.release());
    return 0;
  }

  void await_end() {
    keeper.async_wait(boost::asio::posix::descriptor_base::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& error) {
                        if (!error && self->done) self->ended();
                      });
  }

  void ended() {
    if (::waitpid(pid, nullptr, WNOHANG) == 0) return await_end();
    pid = 0;
    check_report report{};
    const bool whole = ::read(reports.get(), &report, sizeof report) == sizeof report;
    std::exchange(done, nullptr)(whole && !killed ? outcome_of(report) : check_killed{});
  }

  void kill() {
    if (pid == 0) return;
    killed = true;
    ::kill(pid, end_signal);
  }

  handler done;  ///< empty once called, or if nobody waits
  base::unique_fd reports;
  boost::asio::posix::stream_descriptor keeper;  ///< a pidfd: readable when it has ended
  pid_t pid = 0;                                 ///< 0 once it was reaped
  int end_signal = SIGKILL;
  bool killed = false;
};

std::expected<std::unique_ptr<helper_process>, int> helper_process::start(
    const boost::asio::any_io_executor& where, const check_task& what, handler done) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::unexpected(errno);
  auto made = std::make_shared<state>(where, std::move(done), base::unique_fd(ends[0]));
  const base::unique_fd theirs(ends[1]);
  made->pid = fork_keeper(what, theirs);
  if (made->pid < 0) return std::unexpected(errno);
  if (std::holds_alternative<run_command>(what)) made->end_signal = keeper_end_signal;
  if (const int error = made->watch(); error != 0) {
    // It has hardly started, so this does not wait long.
    ::kill(made->pid, SIGKILL);
    ::waitpid(made->pid, nullptr, 0);
    return std::unexpected(error);
  }
  made->await_end();
  return std::unique_ptr<helper_process>(new helper_process(std::move(made)));
}

helper_process::helper_process(std::shared_ptr<state> of) : state_(std::move(of)) {}

helper_process::~helper_process() {
  state_->kill();
  state_->done = nullptr;
  boost::system::error_code ignored;
  state_->keeper.close(ignored);
}

void helper_process::kill() {
  state_->kill();
}

}  // namespace tenure::process
