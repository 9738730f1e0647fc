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

/// Of the socket in this directory; nothing if its path is too long for one.
[[nodiscard]] std::optional<sockaddr_un> guard_socket_address(const std::string& directory);

/// Where agents come in that the guard has not started itself: a socket in a directory that two
/// containers share.
///
/// Whoever comes in can end the workload, so only processes of the guard's own user and root may,
/// and those of one more user if told so; the kernel says who they are.
class guard_listener {
 public:
  struct options {
    std::string directory;  ///< made if it is missing
    std::optional<uid_t> agent_uid{};
  };

  /// Fails, with what to do about it, if the directory cannot be used or another guard uses it.
  [[nodiscard]] std::expected<void, std::string> open(const options& with);

  /// -1: there is no door.
  [[nodiscard]] int fd() const { return socket_.get(); }

  /// The next agent; none: nobody is waiting, or `knocks` of them were answered. Each one that is
  /// answered is taken off that. Turns away those of other users. Allocates nothing.
  [[nodiscard]] base::unique_fd let_in(int& knocks);

  /// Hands both pages to an agent that was let in. False if it is gone already.
  [[nodiscard]] static bool welcome(const base::unique_fd& agent, const base::unique_fd& page,
                                    const base::unique_fd& worker_page);

  /// Tells an agent that another one is here, and closes.
  static void turn_away_for_another(base::unique_fd agent);

 private:
  base::unique_fd lock_;
  base::unique_fd socket_;
  std::optional<uid_t> agent_uid_;
};

/// A guard's door, with what it hands to the agents that come in.
class guard_acceptor final : public agent_acceptor {
 public:
  /// Agents talk over `socket`, and share both pages.
  guard_acceptor(guard_socket& socket, const base::unique_fd& page,
                 const base::unique_fd& worker_page)
      : socket_(socket), page_(page), worker_page_(worker_page) {}

  /// As `guard_listener::open`.
  [[nodiscard]] std::expected<void, std::string> open(const guard_listener::options& with) {
    return door_.open(with);
  }
  [[nodiscard]] int fd() const { return door_.fd(); }

  [[nodiscard]] bool next(int& knocks) override;
  [[nodiscard]] bool welcome() override;
  void turn_away() override;

 private:
  guard_socket& socket_;
  const base::unique_fd& page_;
  const base::unique_fd& worker_page_;
  guard_listener door_;
  base::unique_fd agent_;  ///< that has come, until it is welcome or turned away
};

}  // namespace tenure::guard
