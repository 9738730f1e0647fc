#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"
#include "http/http_message.hpp"
#include "http/listen_error.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {

/// A socket in the file system that queues clients. Only its owner and root can connect to it. Its
/// file goes with it, unless somebody has put another there.
class unix_socket {
 public:
  /// Opens one, non-blocking and not inherited. The file of an agent that has died is replaced; one
  /// that answers is `in_use`, and anything but a socket is left alone.
  static std::expected<unix_socket, listen_error> open(const std::string& path);

  unix_socket(unix_socket&& other) noexcept;
  unix_socket& operator=(unix_socket&&) = delete;
  ~unix_socket();

  /// Gives the listening descriptor away. The file stays until this is destroyed.
  [[nodiscard]] base::unique_fd take() { return std::move(fd_); }

 private:
  unix_socket() = default;

  base::unique_fd fd_;
  std::string path_;  ///< empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Deletes the sockets in a directory whose agents have died. Precondition: only our user and root
/// can write to it.
void remove_abandoned_sockets(const std::string& directory);

/// True if somebody listens on it, however busy.
bool is_served(const std::string& path);

/// Who has connected; nothing if this is no Unix socket.
std::optional<peer_process> peer_of(int connected);

}  // namespace tenure::http
