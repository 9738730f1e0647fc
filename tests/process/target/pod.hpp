#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "guard/target_check.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {

/// How the containers of a pod are told apart.
enum class apart { not_at_all, by_version_1, by_version_2, by_private_namespace };

using words = std::vector<std::string>;

/// A process with a connection as its stdin and stdout. The destructor closes the connection and
/// waits for the process: one that does not end by that has to be ended before.
class actor {
 public:
  explicit actor(const words& command);
  ~actor();
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Sends a line, and returns the answer.
  std::string ask(const std::string& order);
  /// The next line; "(nothing)" if there is none in time.
  std::string hear();
  /// Everything it prints until its end, and its exit status.
  std::string hear_all(int& status);

 private:
  pid_t pid_ = -1;
  base::unique_fd line_;
  std::string unread_;
};

/// A PID namespace as the containers of a pod share it, with a pause process as process 1, and each
/// container in a cgroup of its own if the machine allows that. All its processes end with it.
class pod {
 public:
  explicit pod(apart how = apart::not_at_all);
  ~pod();
  pod(const pod&) = delete;
  pod& operator=(const pod&) = delete;

  /// Why there is no pod; empty if there is one.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  /// Starts a command that ends with its stdin, in a container, which is created if needed: one
  /// letter a to f, which is every digit of its id. `below`: in a cgroup nested in it.
  std::unique_ptr<actor> start(char container, const words& command, const std::string& below = {});

  /// Starts a shell script that prints one line, the id of a process of the pod; lives as long as
  /// the pod.
  pid_t start_script(char container, const std::string& script, const words& before = {},
                     const std::string& below = {});

  /// Starts a command in a container and returns its id once it has replaced the shell that told
  /// the id: whoever looks sees the command. Lives as long as the pod.
  pid_t start_program(char container, const std::string& command, const words& before = {},
                      const std::string& below = {});

  /// The finder, which runs in container a. `before` is put in front of its command line.
  std::unique_ptr<actor> finder(const std::string& kind, const std::string& value,
                                const words& before = {});

  /// The output of `survey` there: what was found, or the problem's text. Sets `fault` for a
  /// problem.
  std::string survey(const std::string& kind, const std::string& value, const words& before = {});
  [[nodiscard]] int fault() const { return fault_; }

  /// True while that process of the pod exists and is not a zombie.
  [[nodiscard]] bool runs(pid_t pid) const;
  /// As /proc/PID/stat has it; 'X': there is no such process.
  [[nodiscard]] char state(pid_t pid) const;
  /// True while a process or zombie with that id exists.
  [[nodiscard]] bool has_process(pid_t pid) const;

  /// Sends a signal to a process of the pod.
  void signal(pid_t pid, int signo);

  /// A file that all containers see.
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] bool has(const std::string& name) const;
  /// Writes it, and returns its path; everybody may read it.
  std::string write(const std::string& name, const std::string& text) const;

  /// The name of the program behind `sh` here.
  [[nodiscard]] static std::string shell();

 private:
  /// The output of a shell script in the pod, outside the containers.
  [[nodiscard]] std::string ask_shell(const std::string& script) const;
  [[nodiscard]] std::string cgroup(char container, const std::string& below) const;
  [[nodiscard]] words inside(char container, const std::string& below, const words& command);

  apart how_;
  std::string missing_;
  std::string root_;  ///< the directory of our cgroups; empty: none
  tests::temporary_directory directory_;
  std::unique_ptr<actor> namespace_;
  pid_t pause_ = 0;
  std::vector<std::unique_ptr<actor>> actors_;
  int fault_ = 0;
};

/// The finder's answer when it has looked at everything and nothing is left.
inline constexpr auto nothing_left = "left=0 matching=0 stuck=0 denied=0 unreadable=0 complete=1";

/// Lets the finder kill as the guard does, until nothing is left; returns its last answer.
std::string killed(actor& finder);

/// A command prefix that runs the command as the user "nobody".
[[nodiscard]] words as_nobody();

}  // namespace tenure::tests
