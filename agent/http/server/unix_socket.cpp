#include "http/server/unix_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error_text.hpp"
#include "base/trusted_open.hpp"
#include "http/server/listening_socket.hpp"

namespace tenure::http {
namespace {

std::unexpected<listen_error> failed(const std::string& path, listen_failure kind,
                                     const std::string& why) {
  return std::unexpected(
      listen_error{.kind = kind, .text = "cannot listen on unix:" + path + ": " + why});
}

std::unexpected<listen_error> failed(const std::string& path, int error) {
  const bool forbidden = error == EACCES || error == EPERM || error == EROFS;
  return failed(path, forbidden ? listen_failure::not_permitted : listen_failure::other,
                base::error_text(error));
}

struct socket_name {
  sockaddr_un address{};

  explicit socket_name(const std::string& path) {
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

base::unique_fd new_socket() {
  return base::unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Two agents that start at once must not take each other's new socket for an old one. The other
/// agent needs microseconds; a program that keeps the directory locked is waited for no longer than
/// `lock_tries`.
base::unique_fd lock_directory_of(const std::string& path) {
  constexpr int lock_tries = 50;
  constexpr int pause_ms = 10;
  const std::string directory = std::filesystem::path(path).parent_path().string();
  base::unique_fd out(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; out && tries < lock_tries; ++tries) {
    if (::flock(out.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    ::poll(nullptr, 0, pause_ms);
  }
  return out;
}

/// Makes room at `path` if a socket without a listener is there.
std::expected<void, listen_error> remove_stale(const std::string& path, const socket_name& name) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return failed(path, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return failed(path, listen_failure::bad_address, "there is a file that is not a socket");
  }
  const base::unique_fd probe = new_socket();
  if (!probe) return failed(path, errno);
  // A socket with a full queue answers EAGAIN, and is alive.
  const int result = ::connect(probe.get(), name.get(), sizeof name.address);
  if (result == 0 || errno == EAGAIN) {
    return failed(path, listen_failure::in_use, "it is in use by another process");
  }
  if (errno != ECONNREFUSED && errno != ENOENT) return failed(path, errno);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(path, errno);
  return {};
}

}  // namespace

std::expected<unix_socket, listen_error> unix_socket::open(const std::string& path) {
  if (path.empty() || path.size() >= sizeof sockaddr_un{}.sun_path || path.contains('\0')) {
    return failed(
        path, listen_failure::bad_address,
        "a socket's path has 1 to " + std::to_string(sizeof sockaddr_un{}.sun_path - 1) + " bytes");
  }
  const socket_name name(path);
  const base::unique_fd alone = lock_directory_of(path);
  if (auto free = remove_stale(path, name); !free) return std::unexpected(std::move(free.error()));

  unix_socket out;
  out.fd_ = new_socket();
  if (!out.fd_) return failed(path, errno);
  const int error = base::bind_with_mode(out.fd_.get(), name.address, S_IRUSR | S_IWUSR);
  if (error == EADDRINUSE) {
    return failed(path, listen_failure::in_use, "another process has just begun to use it");
  }
  if (error != 0) return failed(path, error);
  struct stat made{};
  if (::lstat(path.c_str(), &made) == 0) {
    out.path_ = path;
    out.device_ = made.st_dev;
    out.inode_ = made.st_ino;
  }
  if (::listen(out.fd_.get(), listen_backlog) != 0) return failed(path, errno);
  return out;
}

unix_socket::unix_socket(unix_socket&& other) noexcept
    : fd_(std::move(other.fd_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

unix_socket::~unix_socket() {
  struct stat found{};
  if (path_.empty() || ::lstat(path_.c_str(), &found) != 0) return;
  if (found.st_dev == device_ && found.st_ino == inode_) ::unlink(path_.c_str());
}

bool is_served(const std::string& path) {
  if (path.empty() || path.size() >= sizeof sockaddr_un{}.sun_path) return false;
  const socket_name name(path);
  const base::unique_fd probe = new_socket();
  if (!probe) return false;
  return ::connect(probe.get(), name.get(), sizeof name.address) == 0 || errno == EAGAIN;
}

void remove_abandoned_sockets(const std::string& directory) {
  // An agent that makes a socket keeps the directory locked until it listens.
  const base::unique_fd alone = lock_directory_of(directory + "/");
  std::error_code failed;
  for (std::filesystem::directory_iterator one(directory, failed), end; !failed && one != end;
       one.increment(failed)) {
    const std::string path = one->path().string();
    if (one->path().extension() != ".sock" || path.size() >= sizeof sockaddr_un{}.sun_path) {
      continue;
    }
    static_cast<void>(remove_stale(path, socket_name(path)));
  }
}

std::optional<peer_process> peer_of(int connected) {
  const auto who = base::peer_of(connected);
  if (!who) return std::nullopt;
  return peer_process{.uid = who->uid, .pid = who->pid};
}

}  // namespace tenure::http
