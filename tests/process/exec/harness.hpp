#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/process_name.hpp"
#include "support/temporary_directory.hpp"

/// Real processes for the tests: the shipped binary, started as a user would.
namespace tenure::tests {

/// While it lives, these variables ("KEY=VALUE") are in the environment of every program that is
/// started. One at a time.
class shared_environment {
 public:
  explicit shared_environment(std::vector<std::string> variables);
  ~shared_environment();
  shared_environment(const shared_environment&) = delete;
  shared_environment& operator=(const shared_environment&) = delete;
};

/// A program with its output in files. Ended with all its descendants when it goes out of scope.
class program {
 public:
  /// `environment` ("KEY=VALUE") is added to ours, from which every TENURE_ variable is removed.
  /// Commands find the agents whose output is in the same directory. `errors`, if given, is the
  /// descriptor for its stderr.
  program(const std::vector<std::string>& words, const std::filesystem::path& output,
          const std::vector<std::string>& environment = {}, std::optional<int> errors = {});
  ~program();
  program(program&&) = delete;
  program& operator=(program&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signo) const;
  /// The exit status, 128 + N if signal N ended it; nothing if it never ended.
  std::optional<int> wait();
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  [[nodiscard]] bool said(const std::string& words) const;
  // Of an agent:
  /// "http://127.0.0.1:PORT" of its API, once it has said so; else empty.
  [[nodiscard]] std::string api() const;
  /// GET `path` on the API; status line, headers and body. Empty if there is no answer.
  [[nodiscard]] std::string get(const std::string& path) const;
  /// POST, with this token unless it is empty.
  [[nodiscard]] std::string post(const std::string& path, const std::string& body,
                                 const std::string& token) const;

 private:
  [[nodiscard]] std::string exchange(const std::string& request) const;

  pid_t pid_ = -1;
  std::filesystem::path output_;
  std::optional<int> status_;
};

/// Runs a program to its end.
struct finished {
  int status;
  std::string out;
  std::string err;
};
finished run(const std::vector<std::string>& words, const temporary_directory& in,
             const std::vector<std::string>& environment = {});

/// `tenure exec`; one member of the election "test".
class member {
 public:
  struct options {
    std::string identity = "a";
    std::string ttl = "2s";
    std::string listen = "127.0.0.1:0";  ///< for the API
    std::string store = "sqlite";
    std::string endpoint = {};              ///< empty: a file in the member's directory
    std::vector<std::string> more = {};     ///< further flags
    std::vector<std::string> command = {};  ///< default: the stamper
    std::vector<std::string> before = {};   ///< in front of the command line of `tenure`
    std::optional<int> errors = {};         ///< a descriptor for its stderr
  };
  member(const temporary_directory& in, const options& o);

  program& process() { return process_; }
  [[nodiscard]] const program& process() const { return process_; }
  [[nodiscard]] std::optional<pid_t> agent() const;
  [[nodiscard]] std::optional<pid_t> workload() const;
  [[nodiscard]] std::string get(const std::string& path) const { return process_.get(path); }
  [[nodiscard]] std::string post(const std::string& path, const std::string& body,
                                 const std::string& token) const {
    return process_.post(path, body, token);
  }
  [[nodiscard]] bool is_active() const;
  [[nodiscard]] std::string api() const { return process_.api(); }
  /// SIGKILL to guard, agent and workload at once.
  void pull_the_plug();

 private:
  std::string identity_;
  program process_;
};

/// One life of the stamper: it ran at least from `first` to `last` (CLOCK_BOOTTIME, nanoseconds).
struct stamped_run {
  std::string identity;
  std::uint64_t version = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// All lives, oldest first.
std::vector<stamped_run> stamped_runs(const temporary_directory& in);
/// How many of them ran at one instant, at most.
std::size_t most_at_once(const std::vector<stamped_run>& runs);
/// True if no two runs overlap.
bool never_two_at_once(const std::vector<stamped_run>& runs);
/// True if each run has a larger version than the previous one.
bool versions_grow(const std::vector<stamped_run>& runs);
/// Waits until a stamper of `identity` runs under a version larger than `above`.
std::optional<stamped_run> runs_as(const temporary_directory& in, const std::string& identity,
                                   std::uint64_t above = 0);

/// Its children that have not been waited for, without those that wait in a guard's place.
std::vector<pid_t> children_of(pid_t pid);
bool is_alive(pid_t pid);
std::string tenure_binary();
std::string stamper_binary();
/// A copy of it in `in`, for users who may not see where the tests were built: below /root, for
/// one.
std::string stamper_for_all(const temporary_directory& in);

}  // namespace tenure::tests
