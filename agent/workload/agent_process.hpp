#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "os/unique_fd.hpp"

namespace tenure::workload {

/// The agent as a child of the guard: starts it, and after a crash again, after a pause.
class agent_process {
 public:
  /// Prepares arguments and environment.
  void prepare(const std::vector<std::string>& argv, bool keeps_hup_ignored);

  /// Starts an agent that talks to us over `theirs` and shares both pages. False if it could not be
  /// forked; it is due again after a pause. Allocates nothing.
  [[nodiscard]] bool start(core::time_point now, const os::unique_fd& theirs,
                           const os::unique_fd& page, const os::unique_fd& worker_page);

  /// It was reaped.
  void ended() { pid_ = 0; }

  /// It is to be started again after a pause, which doubles with every crash.
  void crashed(core::time_point now);

  [[nodiscard]] bool alive() const { return pid_ != 0; }
  /// 0 if it is not alive.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// When to start it; `never` while it runs, or if nobody wants it again.
  [[nodiscard]] core::time_point due() const { return due_; }
  void never_again() { due_ = core::never; }

 private:
  pid_t pid_ = 0;
  core::time_point started_at_{};
  core::time_point due_ = core::never;
  core::duration pause_{};
  bool keeps_hup_ignored_ = false;

  std::vector<std::string> arguments_;
  std::vector<char*> argv_;
  std::vector<char*> environment_;
  std::array<char, 64> fds_{};  ///< "TENURE_GUARD_FDS=..."
};

/// What `ps` shows of an agent instead of the program's name, so that it can be told from its
/// guard.
inline constexpr const char* agent_name = "tenure-agent";

/// The environment of this process without the variables that are between guard and agent.
[[nodiscard]] std::vector<char*> own_environment();

/// `arguments` as exec wants them; valid as long as they are.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& arguments);

}  // namespace tenure::workload
