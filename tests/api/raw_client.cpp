#include "raw_client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace tenure::tests {

raw_client::raw_client(const settings::listen_address& server, int receive_buffer,
                       const char* from) {
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  const bool is_v6 = ::inet_pton(AF_INET6, server.host.c_str(), &v6.sin6_addr) == 1;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port = htons(server.port);
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_.reset(::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer > 0) {
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  if (from != nullptr) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, from, &own.sin_addr), 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }
  const auto* to =
      is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  connected_ = socket_ && ::connect(socket_.get(), to, is_v6 ? sizeof v6 : sizeof v4) == 0;
}

raw_client::raw_client(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  connected_ =
      socket_ && ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool raw_client::read_more() {
  pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  if (::poll(&ready, 1, static_cast<int>(timeout)) != 1) {
    ADD_FAILURE() << "the server neither answered nor closed; so far: " << received_.substr(0, 500);
    return false;
  }
  std::array<char, 65536> chunk{};
  const ssize_t size = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
  if (size <= 0) return false;
  received_.append(chunk.data(), static_cast<std::size_t>(size));
  return true;
}

reply raw_client::receive(bool has_body) {
  reply out;
  std::size_t head_end = received_.find("\r\n\r\n");
  while (head_end == std::string::npos) {
    if (!read_more()) return out;
    head_end = received_.find("\r\n\r\n");
  }
  head_end += 4;
  out.head = received_.substr(0, head_end);

  constexpr std::string_view length_name = "Content-Length: ";
  std::size_t length = 0;
  const std::size_t at = out.head.find(length_name);
  if (has_body && at != std::string::npos) {
    const char* digits = out.head.data() + at + length_name.size();
    std::from_chars(digits, out.head.data() + out.head.size(), length);
  }
  while (received_.size() < head_end + length) {
    if (!read_more()) return out;
  }
  out.body = received_.substr(head_end, length);
  received_.erase(0, head_end + length);
  std::from_chars(out.head.data() + 9, out.head.data() + 12, out.status);
  return out;
}

std::string raw_client::receive_through(std::string_view words) {
  std::size_t at = received_.find(words);
  while (at == std::string::npos) {
    const std::size_t searched = received_.size() - std::min(received_.size(), words.size());
    if (!read_more()) {
      ADD_FAILURE() << "\"" << words << "\" did not come, but: " << received_.substr(0, 500);
      return {};
    }
    at = received_.find(words, searched);
  }
  const std::string out = received_.substr(0, at + words.size());
  received_.erase(0, out.size());
  return out;
}

void raw_client::end_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
}

std::size_t raw_client::read_to_end() {
  std::size_t total = received_.size();
  received_.clear();
  while (read_more()) {
    total += received_.size();
    received_.clear();
  }
  return total;
}

bool raw_client::was_reset() const {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error != 0;
}

std::string get(std::string_view path, std::string_view more_headers) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" +
         std::string(more_headers) + "\r\n";
}

}  // namespace tenure::tests
