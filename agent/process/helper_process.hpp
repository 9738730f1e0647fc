#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// A task in a process of its own, e.g. a health check, so that a disk that hangs or a program that
/// never ends cannot block the agent.
namespace tenure::process {

/// Runs a program: looked up in PATH, without a shell, with /dev/null as stdin, stdout and stderr.
struct run_command {
  std::vector<std::string> argv;  ///< not empty
  /// "KEY=VALUE", in addition to the agent's own.
  std::vector<std::string> environment{};
};

/// Finds out when a file was last modified. Follows symbolic links.
struct look_at_file {
  std::string path;
};

/// Replaces a file in one step: a reader sees the old content or all of `text`. Writes a temporary
/// file beside it, with `new_file_suffix` added to the name.
struct write_file {
  std::string path;
  std::string text;
};
inline constexpr const char* new_file_suffix = ".new";

/// Removes a file. Succeeds if there is none.
struct remove_file {
  std::string path;
};

using check_task = std::variant<run_command, look_at_file, write_file, remove_file>;

/// The program ended, and no process that it started is left.
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
  int error;  ///< errno: ENOENT, or why the file could not be examined
};

/// The file was written or removed.
struct file_done {};

/// The file was not written or removed.
struct file_not_done {
  int error;  ///< errno
};

/// The check was killed, by `helper_process::kill` or by another process.
struct check_killed {};

using check_outcome = std::variant<command_ended, command_not_executed, file_found, file_not_found,
                                   file_done, file_not_done, check_killed>;

/// One running check.
///
/// The agent's child is a small keeper, which inherits nothing from the agent but this check: it
/// starts the program, is the subreaper of all its descendants, and kills all of them when `kill`
/// is called, when the program has ended, or when the agent is gone. So no process of a check
/// outlives the check, and none is ever taken for a process of the workload.
///
/// Use it on its executor only. No handler is called from inside a call, and none after
/// destruction.
class helper_process {
 public:
  using handler = std::move_only_function<void(const check_outcome&)>;

  /// Forks. Calls `done` once, when the keeper is gone. The error is an errno value. Call this on a
  /// thread that lives as long as the process: the keeper ends with that thread.
  static std::expected<std::unique_ptr<helper_process>, int> start(
      const boost::asio::any_io_executor& where, const check_task& what, handler done);

  /// Also kills the check, but does not wait: the keeper is reaped only after this process has
  /// ended.
  ~helper_process();
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  /// Kills the whole check. `done` follows once the kernel has ended every process, which may take
  /// any time for one that hangs (state D).
  void kill();

 private:
  struct state;
  explicit helper_process(std::shared_ptr<state> of);
  std::shared_ptr<state> state_;
};

}  // namespace tenure::process
