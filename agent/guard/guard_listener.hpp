#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include <expected>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "guard/agent_acceptor.hpp"
#include "guard/guard_socket.hpp"

namespace tenure::guard {

/// The socket of a guard in the directory that it shares with its agents.
inline constexpr const char* guard_socket_name = "guard.sock";
/// Locked by the guard for as long as it lives.
inline constexpr const char* guard_lock_name = "guard.lock";

/// The address of the socket in this directory; nothing if its path is too long.
[[nodiscard]] std::optional<sockaddr_un> guard_socket_address(const std::string& directory);

/// The socket for agents that the guard did not start, in a directory that two containers share.
///
/// A connected agent can end the workload, so only processes of the guard's own user, of root and
/// of one optional further user may connect; the kernel tells their user.
class guard_listener {
 public:
  struct options {
    std::string directory;  ///< created if missing
    std::optional<uid_t> agent_uid{};
  };

  /// Fails, with a message that says what to do, if the directory cannot be used or another guard
  /// uses it.
  [[nodiscard]] std::expected<void, std::string> open(const options& with);

  /// -1: there is no socket.
  [[nodiscard]] int fd() const { return socket_.get(); }

  /// The next agent; none: nobody is waiting, or `connections` is used up. Each accepted or
  /// rejected connection subtracts one from `connections`. Rejects other users. Allocates nothing.
  [[nodiscard]] base::unique_fd accept(int& connections);

  /// Sends an accepted agent both pages, and a pidfd of the first process of our PID namespace,
  /// whose end the kernel reports only when nothing in that namespace is left. False if it is gone
  /// already.
  [[nodiscard]] static bool welcome(const base::unique_fd& agent, const base::unique_fd& page,
                                    const base::unique_fd& worker_page);

  /// Tells an agent that the guard already has one, and closes.
  static void turn_away_for_another(base::unique_fd agent);

 private:
  base::unique_fd lock_;
  base::unique_fd socket_;
  std::optional<uid_t> agent_uid_;
};

/// A guard's listener, with what it passes to the agents that connect.
class guard_acceptor final : public agent_acceptor {
 public:
  /// Agents talk over `socket`, and share both pages.
  guard_acceptor(guard_socket& socket, const base::unique_fd& page,
                 const base::unique_fd& worker_page)
      : socket_(socket), page_(page), worker_page_(worker_page) {}

  /// As `guard_listener::open`.
  [[nodiscard]] std::expected<void, std::string> open(const guard_listener::options& with) {
    return listener_.open(with);
  }
  [[nodiscard]] int fd() const { return listener_.fd(); }

  [[nodiscard]] bool next(int& connections) override;
  [[nodiscard]] bool welcome() override;
  void turn_away() override;

 private:
  guard_socket& socket_;
  const base::unique_fd& page_;
  const base::unique_fd& worker_page_;
  guard_listener listener_;
  base::unique_fd agent_;  ///< accepted, until it is welcomed or turned away
};

}  // namespace tenure::guard
