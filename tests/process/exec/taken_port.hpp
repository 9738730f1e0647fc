#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.hpp"

namespace tenure::tests {

/// Occupies the port of "127.0.0.1:PORT", with or without a scheme before it.
class taken_port {
 public:
  explicit taken_port(const std::string& url) {
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    constexpr int yes = 1;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    taken_ = ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
             ::listen(fd_.get(), 1) == 0;
  }
  [[nodiscard]] bool is_taken() const { return taken_; }

 private:
  base::unique_fd fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  bool taken_ = false;
};

}  // namespace tenure::tests
