#include "scripted_server.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>

#include "http/server/listening_socket.hpp"
#include "support/eventually.hpp"
#include "support/next_client.hpp"

namespace tenure::tests {
namespace {

std::size_t body_bytes(std::string_view head) {
  constexpr std::string_view name = "Content-Length: ";
  const std::size_t at = head.find(name);
  return at == std::string_view::npos ? 0
                                      : std::stoul(std::string(head.substr(at + name.size(), 9)));
}

/// Also of a connection that is closed: reading finds its end. (poll would wait for ever for none.)
bool readable_within(int fd, std::chrono::milliseconds limit) {
  if (fd < 0) return true;
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, static_cast<int>(limit.count())) > 0;
}

}  // namespace

std::string peer::request() {
  for (;;) {
    const std::size_t end = received_.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::string head = received_.substr(0, end + 4);
      if (head.contains("Transfer-Encoding: chunked")) {
        received_.erase(0, head.size());
        return head + piece();
      }
      const std::size_t size = head.size() + body_bytes(received_.substr(0, end));
      if (received_.size() >= size) {
        std::string out = received_.substr(0, size);
        received_.erase(0, size);
        return out;
      }
    }
    if (!receive()) return {};
  }
}

std::string peer::piece() {
  for (;;) {
    const std::size_t end = received_.find("\r\n");
    if (end != std::string::npos) {
      const std::size_t size = std::stoul(received_.substr(0, end), nullptr, 16);
      if (received_.size() >= end + 2 + size + 2) {
        std::string out = received_.substr(end + 2, size);
        received_.erase(0, end + 2 + size + 2);
        return out;
      }
    }
    if (!receive()) return {};
  }
}

bool peer::receive() {
  std::array<char, 4096> bytes{};
  if (!fd_ || !readable_within(fd_.get(), patience)) return false;
  const auto size = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  received_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

bool peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd waited{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    if (::poll(&waited, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) <= 0) {
      return false;
    }
    const auto size = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool peer::reply(std::string_view body) {
  return send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
              std::string(body));
}

bool peer::delivered() {
  return eventually([this] {
    int unacknowledged = 0;
    return ::ioctl(fd_.get(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
  });
}

bool peer::closed_within(std::chrono::milliseconds limit) {
  std::array<char, 4096> bytes{};
  while (fd_ && readable_within(fd_.get(), limit)) {
    if (::recv(fd_.get(), bytes.data(), bytes.size(), 0) <= 0) return true;
  }
  return false;
}

void peer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const std::lock_guard lock(ending_);
  fd_.reset();
}

void peer::close() {
  const std::lock_guard lock(ending_);
  ::shutdown(fd_.get(), SHUT_RDWR);
}

scripted_server::scripted_server(script what, const std::string& host) : script_(std::move(what)) {
  auto opened = http::open_listening_socket({.host = host, .port = 0});
  if (!opened) {
    ADD_FAILURE() << opened.error().text;
    return;
  }
  listening_ = std::move(opened->fd);
  where_ = {.host = host, .port = opened->bound.port};
  thread_ = std::thread([this] { accept(); });
}

scripted_server::~scripted_server() {
  ::shutdown(listening_.get(), SHUT_RDWR);
  if (thread_.joinable()) thread_.join();
  for (serving& one : serving_) one.end.close();
  for (serving& one : serving_) one.thread.join();
}

void scripted_server::accept() {
  while (auto client = next_client(listening_.get())) {
    serving& one = serving_.emplace_back(std::move(*client));
    const int number = ++connections_;
    one.thread = std::thread([this, &one, number] {
      script_(one.end, number);
      one.end.close();
    });
  }
}

}  // namespace tenure::tests
