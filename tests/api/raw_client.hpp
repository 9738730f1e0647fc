#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "settings/listen_address.hpp"
#include "support/patience.hpp"

namespace tenure::tests {

/// One answer as it came.
struct reply {
  int status = 0;  ///< 0: the connection ended, or nothing came
  std::string head;
  std::string body;
};

/// A client that sends the given bytes and knows as little HTTP as possible.
class raw_client {
 public:
  /// Connects to a loopback address. `receive_buffer`: of the kernel, for slow readers. `from`: the
  /// address that the client has, of IPv4.
  explicit raw_client(const settings::listen_address& server, int receive_buffer = 0,
                      const char* from = nullptr);
  /// Connects to a Unix socket.
  explicit raw_client(const std::string& path);

  [[nodiscard]] bool connected() const { return connected_; }
  /// False if the server has closed.
  bool send(std::string_view bytes);
  /// The next answer; `has_body`: false after a HEAD.
  reply receive(bool has_body = true);
  reply ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  /// Reads until `words` have come, and returns everything up to their end. Fails the test if the
  /// server closes before.
  std::string receive_through(std::string_view words);
  /// Says that nothing more will be sent, but reads on.
  void end_sending();
  /// Reads until the server closes, and returns how many bytes came. Fails the test if it does
  /// not close.
  std::size_t read_to_end();
  /// True if the server closes, having sent nothing more.
  bool closed_by_server() { return read_to_end() == 0; }
  /// True if the kernel has been told that bytes which we sent were thrown away.
  [[nodiscard]] bool was_reset() const;

 private:
  bool read_more();  ///< false at the end of the connection

  base::unique_fd socket_;
  bool connected_ = false;
  std::string received_;
};

/// "GET path" with a Host.
std::string get(std::string_view path, std::string_view more_headers = "");

}  // namespace tenure::tests
