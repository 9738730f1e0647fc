#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {

/// The grace that the guard of guard_stage gives a workload it stops by itself.
inline constexpr std::chrono::milliseconds grace_of_the_stage{300};

/// True while the process exists and is not a zombie.
bool runs(pid_t pid);

/// The test's end of a connection to one scripted agent (scripted_agent.hpp has the orders).
class agent_line {
 public:
  explicit agent_line(base::unique_fd socket);

  void tell(const std::string& order);

  /// The agent's next line; "(nothing)" if it hangs up or sends nothing in time.
  std::string hear();

  /// Reads lines until one starts with `beginning`, and returns it.
  std::string hear(const std::string& beginning);

  /// Arms `version` for an hour, starts it and returns the id of the workload's first process.
  pid_t start(int version, const std::string& environment = "");

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& session() const { return session_; }
  /// The newest term that its session was granted before it started.
  [[nodiscard]] int last_term() const { return last_term_; }
  /// What it has found: "nothing", "running 7", "stopping 7" or "ended 7 STATUS".
  [[nodiscard]] const std::string& found() const { return found_; }

 private:
  base::unique_fd socket_;
  std::string unread_;
  pid_t pid_ = 0;
  std::string session_;
  int last_term_ = 0;
  std::string found_;
};

/// A guard that runs a command, in a directory of its own. Ends everything that a test leaves
/// behind.
class stage {
 public:
  /// Put in front of the guard's command line: e.g. {"unshare", "--pid", "--fork"}.
  using prefix = std::vector<std::string>;

  /// `err`: its stderr, -1: closed; by default the file "stderr".
  explicit stage(const std::vector<std::string>& command, const prefix& before = {},
                 std::optional<int> err = std::nullopt);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// A shell script as the workload. $DIR is the stage's directory.
  static std::vector<std::string> shell(const std::string& script);

  /// Waits for the (next) agent to report.
  agent_line agent();

  [[nodiscard]] pid_t guard() const { return guard_; }
  void signal_guard(int signo) const;

  /// Waits for the guard's end; returns its exit status, or 128 + signal.
  int end();

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// The text of a file there; empty if there is none.
  [[nodiscard]] std::string read(const std::string& file) const;
  [[nodiscard]] bool has(const std::string& file) const;

  /// Descendants of a workload that was started with `mark()` in its environment, anywhere. Zombies
  /// do not count.
  [[nodiscard]] std::vector<pid_t> marked() const;
  [[nodiscard]] std::string mark() const;

 private:
  /// Processes with this entry (NAME=value) in their environment.
  [[nodiscard]] static std::vector<pid_t> with_variable(const std::string& entry);

  tests::temporary_directory directory_;
  base::unique_fd listener_;
  pid_t guard_ = -1;
};

}  // namespace tenure::tests
