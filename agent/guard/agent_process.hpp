#pragma once

#include <sys/types.h>

#include <array>
#include <expected>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "guard/agent_child.hpp"
#include "guard/guard_socket.hpp"

namespace tenure::guard {

/// Starts agents as children of the guard, each with its own socket.
class agent_process final : public agent_launcher {
 public:
  /// Agents talk over `socket`, and share both pages.
  agent_process(guard_socket& socket, const base::unique_fd& page,
                const base::unique_fd& worker_page)
      : socket_(socket), page_(page), worker_page_(worker_page) {}

  /// Prepares arguments and environment.
  void prepare(const std::vector<std::string>& argv, bool keeps_hup_ignored);

  [[nodiscard]] std::expected<pid_t, const char*> launch() override;
  void signal(pid_t agent, int signo) override;

 private:
  guard_socket& socket_;
  const base::unique_fd& page_;
  const base::unique_fd& worker_page_;
  bool keeps_hup_ignored_ = false;
  std::vector<std::string> arguments_;
  std::vector<char*> argv_;
  std::vector<char*> environment_;
  std::array<char, 64> fds_{};  ///< "TENURE_GUARD_FDS=..."
};

/// The name that `ps` shows for an agent, which differs from its guard's.
inline constexpr const char* agent_name = "tenure-agent";

}  // namespace tenure::guard
