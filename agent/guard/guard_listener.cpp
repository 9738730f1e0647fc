#include "guard/guard_listener.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error_text.hpp"
#include "base/trusted_open.hpp"
#include "guard/guard_protocol.hpp"
#include "process/pidfd.hpp"

namespace tenure::guard {
namespace {

/// Long enough that connections of strangers do not keep our agent out.
constexpr int agents_waiting = 128;

constexpr std::size_t most_fds = 3;

/// Sends a message with the descriptors in `fds` before the first that is -1.
template <guard_message M>
bool send_with(int socket, const M& what, std::array<int, most_fds> fds) {
  const M complete = sealed(what);
  iovec bytes{.iov_base = const_cast<M*>(&complete), .iov_len = sizeof complete};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> space{};
  msghdr all{};
  all.msg_iov = &bytes;
  all.msg_iovlen = 1;
  const auto size =
      static_cast<std::size_t>(std::ranges::find(fds, -1) - fds.begin()) * sizeof(int);
  if (size > 0) {
    all.msg_control = space.data();
    all.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&all);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), fds.data(), size);
  }
  return ::sendmsg(socket, &all, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

std::unexpected<std::string> cannot(const std::string& what, const std::string& path,
                                    const std::string& remedy) {
  return std::unexpected("cannot " + what + " " + path + ": " + base::error_text(errno) + "; " +
                         remedy);
}

}  // namespace

std::optional<sockaddr_un> guard_socket_address(const std::string& directory) {
  const std::string path = directory + "/" + guard_socket_name;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, address.sun_path);
  return address;
}

std::expected<void, std::string> guard_listener::open(const options& with) {
  const std::string socket_path = with.directory + "/" + guard_socket_name;
  const std::string lock_path = with.directory + "/" + guard_lock_name;
  const auto address = guard_socket_address(with.directory);
  if (!address) {
    return std::unexpected(
        "the path of the directory is too long for a socket: " + with.directory + "; it may have " +
        std::to_string(sizeof address->sun_path - 2 - std::strlen(guard_socket_name)) + " bytes");
  }
  if (::mkdir(with.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return cannot("create the directory", with.directory, "mount a volume there (an emptyDir)");
  }
  // Others may be able to write to it, as to every emptyDir. They can then keep agent and guard
  // apart, but not pose as either: both check the other's user and the lock's.
  const auto directory =
      base::open_trusted(AT_FDCWD, with.directory.c_str(), O_RDONLY,
                         {.type = S_IFDIR, .not_for = 0, .owner = with.agent_uid, .named = true});
  if (!directory) return std::unexpected(base::text(with.directory, directory.error()));
  auto lock = base::open_trusted(directory->get(), guard_lock_name, O_RDWR | O_CREAT, {});
  if (!lock) {
    return std::unexpected(base::text(lock_path, lock.error()) +
                           "; the user of this process needs to be able to write to it");
  }
  lock_ = std::move(*lock);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected("another guard uses " + with.directory +
                           "; give each main container a directory of its own");
  }
  // Left by a guard that was killed; we hold the lock, so nobody uses it.
  ::unlinkat(directory->get(), guard_socket_name, 0);
  socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // `accept` checks the user that the kernel reports; the mode only keeps others from connecting.
  if (!socket_ ||
      (errno = base::bind_with_mode(socket_.get(), *address, with.agent_uid ? 0666 : 0600)) != 0) {
    return cannot("create the socket", socket_path, "the file system must allow sockets");
  }
  if (::listen(socket_.get(), agents_waiting) != 0) {
    return cannot("listen on", socket_path, "check the limits of this container");
  }
  agent_uid_ = with.agent_uid;
  return {};
}

base::unique_fd guard_listener::accept(int& connections) {
  for (; connections > 0; --connections) {
    base::unique_fd agent(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!agent) return {};
    const auto who = base::peer_of(agent.get());
    if (who && base::is_trusted_user(who->uid, agent_uid_)) {
      --connections;
      return agent;
    }
    static_cast<void>(send_with(agent.get(),
                                message::turned_away{.reason = message::turned_away::other_user,
                                                     .guard_uid = ::geteuid(),
                                                     .agent_uid = who ? who->uid : 0},
                                {-1, -1, -1}));
  }
  return {};
}

bool guard_listener::welcome(const base::unique_fd& agent, const base::unique_fd& page,
                             const base::unique_fd& worker_page) {
  constexpr pid_t first_of_namespace = 1;
  // Without pidfds the agent does without.
  const base::unique_fd first = process::open_pidfd(first_of_namespace);
  return send_with(agent.get(), message::welcome{}, {page.get(), worker_page.get(), first.get()});
}

void guard_listener::turn_away_for_another(base::unique_fd agent) {
  static_cast<void>(send_with(agent.get(),
                              message::turned_away{.reason = message::turned_away::another_agent},
                              {-1, -1, -1}));
}

bool guard_acceptor::next(int& connections) {
  agent_ = listener_.accept(connections);
  return static_cast<bool>(agent_);
}

bool guard_acceptor::welcome() {
  const bool there = guard_listener::welcome(agent_, page_, worker_page_);
  if (there) socket_.attach(std::move(agent_));
  agent_.reset();
  return there;
}

void guard_acceptor::turn_away() {
  guard_listener::turn_away_for_another(std::move(agent_));
}

}  // namespace tenure::guard
