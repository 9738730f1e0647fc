#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// A check of the workload's health in a process of its own, so that nothing that it touches (a
/// disk that hangs, a program that never ends) can hold the agent up.
namespace tenure::process {

/// Runs a program; looked up in PATH, without a shell, with /dev/null as stdin, stdout and stderr.
struct run_command {
  std::vector<std::string> argv;  ///< not empty
  /// "KEY=VALUE", on top of the agent's own.
  std::vector<std::string> environment{};
};

/// Looks when a file was last modified. A symbolic link is followed.
struct look_at_file {
  std::string path;
};

/// Writes a file whole: whoever opens it finds what was there before, or all of `text`. Needs to
/// write a file of the same name with `new_file_suffix` beside it.
struct write_file {
  std::string path;
  std::string text;
};
inline constexpr const char* new_file_suffix = ".new";

/// Removes a file; one that is not there is removed.
struct remove_file {
  std::string path;
};

using check_task = std::variant<run_command, look_at_file, write_file, remove_file>;

/// The program ended, and nothing that came out of it is left.
struct command_ended {
  int status;  ///< as waitpid gives it
};

struct command_not_executed {
  int error;  ///< errno
};

struct file_found {
  std::int64_t modified_unix_ms;
};

struct file_not_found {
  int error;  ///< errno; ENOENT, or why it could not be looked at
};

/// The file is as it was to be.
struct file_done {};

/// It is not, for this reason.
struct file_not_done {
  int error;  ///< errno
};

/// The check was killed, by `helper_process::kill` or by somebody else.
struct check_killed {};

using check_outcome = std::variant<command_ended, command_not_executed, file_found, file_not_found,
                                   file_done, file_not_done, check_killed>;

/// One check under way.
///
/// The agent's child is a small keeper, which has nothing of the agent but this check: it starts
/// the program, is the subreaper of all that comes out of it, and kills all of that when it is
/// told to, when the program has ended, or when the agent is gone. So no process of a check
/// outlives it, whatever it forks, and none is ever taken for a process of the workload.
///
/// Use it on its executor only. No handler is called from inside a call, and none after
/// destruction.
class helper_process {
 public:
  using handler = std::move_only_function<void(const check_outcome&)>;

  /// Forks. `done` is called once, when the keeper is gone. The error is an errno value. Call it
  /// on a thread that lives as long as the process: the keeper ends with it.
  static std::expected<std::unique_ptr<helper_process>, int> start(
      const boost::asio::any_io_executor& where, const check_task& what, handler done);

  /// Kills it as well, but does not wait: the keeper is reaped only once this process has ended.
  ~helper_process();
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  /// Kills all of it. `done` follows, but for as long as the kernel cannot end a process (state D)
  /// it does not.
  void kill();

 private:
  struct state;
  explicit helper_process(std::shared_ptr<state> of);
  std::shared_ptr<state> state_;
};

}  // namespace tenure::process
