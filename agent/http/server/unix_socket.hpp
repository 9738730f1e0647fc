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

/// A Unix socket with a file name. Only its owner and root can connect to it. Removes its file at
/// the end, unless somebody has put another one there.
class unix_socket {
 public:
  /// Opens a non-blocking socket that children do not inherit. Replaces the file of an agent that
  /// has died; a socket that answers is `in_use`, and a file that is not a socket is left alone.
  static std::expected<unix_socket, listen_error> open(const std::string& path);

  unix_socket(unix_socket&& other) noexcept;
  unix_socket& operator=(unix_socket&&) = delete;
  ~unix_socket();

  /// Gives the listening descriptor away. The file stays until this object is destroyed.
  [[nodiscard]] base::unique_fd take() { return std::move(fd_); }

 private:
  unix_socket() = default;

  base::unique_fd fd_;
  std::string path_;  ///< empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Deletes the sockets of dead agents in a directory. Precondition: only our user and root can
/// write to it.
void remove_abandoned_sockets(const std::string& directory);

/// True if somebody listens on it, however busy.
bool is_served(const std::string& path);

/// The process that has connected; nothing if this is not a Unix socket.
std::optional<peer_process> peer_of(int connected);

}  // namespace tenure::http
