#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace tenure::servers {

/// A request to a server on loopback, without TLS, on a connection of its own; for what a test
/// does as operator, and independent of the client that is under test.
class plain_http {
 public:
  /// Sends it whole. `headers`: further lines, each ended by CRLF.
  plain_http(std::uint16_t port, std::string_view method, std::string_view path,
             std::string_view body = {}, std::string_view headers = "Connection: close\r\n");

  /// The bytes received once they hold `wanted` `times` over, the server has closed, or `at_most`
  /// is over. Head and body unchanged, so a chunked body has its chunk sizes in it.
  std::string read_until(std::string_view wanted, std::size_t times,
                         std::chrono::milliseconds at_most);

  /// Sends more, e.g. a chunk.
  void send(std::string_view bytes);

 private:
  base::unique_fd fd_;
  std::string come_;
};

/// The whole answer, empty if none came within a second.
std::string ask(std::uint16_t port, std::string_view method, std::string_view path,
                std::string_view body = {});

/// What follows the head, with chunks put together.
std::string body_of(const std::string& answer);

}  // namespace tenure::servers
