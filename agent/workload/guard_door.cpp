#include "workload/guard_door.hpp"

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

#include "os/error_text.hpp"
#include "workload/guard_protocol.hpp"

namespace tenure::workload {
namespace {

constexpr int agents_waiting = 4;

/// With as many descriptors as `fds` has room for, if they are not -1.
template <guard_message M>
bool send_with(int socket, const M& what, std::array<int, 2> fds) {
  const M complete = sealed(what);
  iovec bytes{.iov_base = const_cast<M*>(&complete), .iov_len = sizeof complete};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> space{};
  msghdr all{};
  all.msg_iov = &bytes;
  all.msg_iovlen = 1;
  if (fds[0] >= 0) {
    all.msg_control = space.data();
    all.msg_controllen = space.size();
    cmsghdr* head = CMSG_FIRSTHDR(&all);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(head), fds.data(), sizeof fds);
  }
  return ::sendmsg(socket, &all, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

std::unexpected<std::string> cannot(const std::string& what, const std::string& path,
                                    const std::string& remedy) {
  return std::unexpected("cannot " + what + " " + path + ": " + os::error_text(errno) + "; " +
                         remedy);
}

}  // namespace

std::optional<sockaddr_un> door_address(const std::string& directory) {
  const std::string path = directory + "/" + door_socket_name;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, address.sun_path);
  return address;
}

std::expected<void, std::string> guard_door::open(const options& with) {
  const std::string socket_path = with.directory + "/" + door_socket_name;
  const std::string lock_path = with.directory + "/" + door_lock_name;
  const auto address = door_address(with.directory);
  if (!address) {
    return std::unexpected(
        "the path of the directory is too long for a socket: " + with.directory + "; it may have " +
        std::to_string(sizeof address->sun_path - 2 - std::strlen(door_socket_name)) + " bytes");
  }
  if (::mkdir(with.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return cannot("make the directory", with.directory, "mount a volume there (an emptyDir)");
  }
  lock_.reset(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) {
    return cannot("write to", lock_path, "the user of this process needs to be able to");
  }
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected("another guard uses " + with.directory +
                           "; give each main container a directory of its own");
  }
  // What is left of a guard that was killed; the lock says that nobody uses it.
  ::unlink(socket_path.c_str());
  socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_ ||
      ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return cannot("make the socket", socket_path, "the file system must allow sockets");
  }
  // Who is let in is decided by the kernel's word; the mode keeps the rest from knocking.
  if (::chmod(socket_path.c_str(), with.agent_uid ? 0666 : 0600) != 0 ||
      ::listen(socket_.get(), agents_waiting) != 0) {
    return cannot("listen at", socket_path, "check the limits of this container");
  }
  agent_uid_ = with.agent_uid;
  return {};
}

bool guard_door::may_come_in(uid_t who) const {
  return who == ::geteuid() || who == 0 || who == agent_uid_;
}

os::unique_fd guard_door::let_in() {
  while (true) {
    os::unique_fd agent(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!agent) return {};
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(agent.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
        may_come_in(who.uid)) {
      return agent;
    }
    static_cast<void>(send_with(agent.get(),
                                message::turned_away{.reason = message::turned_away::other_user,
                                                     .guard_uid = ::geteuid(),
                                                     .agent_uid = who.uid},
                                {-1, -1}));
  }
}

bool guard_door::welcome(const os::unique_fd& agent, const os::unique_fd& page,
                         const os::unique_fd& worker_page) {
  return send_with(agent.get(), message::welcome{}, {page.get(), worker_page.get()});
}

void guard_door::turn_away_for_another(os::unique_fd agent) {
  static_cast<void>(send_with(
      agent.get(), message::turned_away{.reason = message::turned_away::another_agent}, {-1, -1}));
}

}  // namespace tenure::workload
