#include "servers/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "http/server/listening_socket.hpp"
#include "support/next_client.hpp"

namespace tenure::servers {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;

base::unique_fd connect_to(std::uint16_t port) {
  base::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fd.reset();
  return fd;
}

/// The bytes received; empty at the end.
std::string_view receive(int fd, std::array<char, piece_bytes>& into) {
  pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
  ::poll(&readable, 1, -1);
  // Nobody holds the lock here; the analyzer does not see that waiting for a condition gives it
  // back. NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
  const auto size = ::recv(fd, into.data(), into.size(), 0);
  return {into.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
    ::poll(&writable, 1, -1);
    const auto size = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

tcp_proxy::tcp_proxy(std::uint16_t to, const std::string& host) : to_(to), host_(host) {
  auto opened = http::open_listening_socket({.host = host, .port = 0});
  if (!opened) {
    ADD_FAILURE() << opened.error().text;
    return;
  }
  listening_ = std::move(opened->fd);
  port_ = opened->bound.port;
  accepting_ = std::thread([this] { accept(); });
}

tcp_proxy::~tcp_proxy() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (link& one : links_) end(one);
  }
  changed_.notify_all();
  ::shutdown(listening_.get(), SHUT_RDWR);
  if (accepting_.joinable()) accepting_.join();
  for (link& one : links_) {
    one.up.join();
    one.down.join();
  }
}

std::string tcp_proxy::endpoint(const std::string& scheme) const {
  const bool ipv6 = host_.find(':') != std::string::npos;
  return scheme + "://" + (ipv6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(port_);
}

void tcp_proxy::accept() {
  while (auto client = tests::next_client(listening_.get())) {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    base::unique_fd server = refuses_ ? base::unique_fd() : connect_to(to_);
    if (!server) continue;
    link& one = links_.emplace_back();
    one.client = std::move(*client);
    one.server = std::move(server);
    one.up = std::thread([this, &one] { pump_up(one); });
    one.down = std::thread([this, &one] { pump_down(one); });
  }
}

bool tcp_proxy::may_pass(std::unique_lock<std::mutex>& lock, link& of, bool is_request) {
  if (delay_.count() > 0) changed_.wait_for(lock, delay_, [&] { return of.over; });
  changed_.wait(lock,
                [&] { return of.over || (!black_hole_ && (!is_request || !of.held || let_go_)); });
  return !of.over;
}

void tcp_proxy::pump_up(link& of) {
  std::array<char, piece_bytes> buffer{};
  for (;;) {
    const std::string_view piece = receive(of.client.get(), buffer);
    if (!lets_up(of, piece)) return;
    send_all(of.server.get(), piece);
  }
}

bool tcp_proxy::lets_up(link& of, std::string_view piece) {
  std::unique_lock lock(mutex_);
  if (piece.empty()) {
    // What was held is carried out for a client that has left.
    changed_.wait(lock, [&] { return of.over || !of.held || held_was_answered_; });
    end(of);
    return false;
  }
  of.sent += piece;
  if (!to_lose_.empty() && piece.contains(to_lose_)) {
    to_lose_.clear();
    of.loses = true;
  }
  if (!to_hold_.empty() && piece.contains(to_hold_)) {
    to_hold_.clear();
    of.held = true;
  }
  return may_pass(lock, of, true);
}

void tcp_proxy::pump_down(link& of) {
  std::array<char, piece_bytes> buffer{};
  for (;;) {
    std::string_view piece = receive(of.server.get(), buffer);
    const bool passes = lets_down(of, piece);
    changed_.notify_all();
    if (!passes) return;
    send_all(of.client.get(), piece);
  }
}

bool tcp_proxy::lets_down(link& of, std::string_view& piece) {
  std::unique_lock lock(mutex_);
  if (of.held && let_go_) held_was_answered_ = true;
  if (!piece.empty() && !of.loses && may_pass(lock, of, false)) {
    if (pieces_to_lose_.empty() || !piece.contains(pieces_to_lose_)) return true;
    ++lost_pieces_;
    piece = {};
    return true;
  }
  end(of);
  return false;
}

/// Wakes both of its threads, which then end.
void tcp_proxy::end(link& of) {
  of.over = true;
  ::shutdown(of.client.get(), SHUT_RDWR);
  ::shutdown(of.server.get(), SHUT_RDWR);
}

void tcp_proxy::black_hole() {
  const std::lock_guard lock(mutex_);
  black_hole_ = true;
}

void tcp_proxy::refuse() {
  const std::lock_guard lock(mutex_);
  refuses_ = true;
}

void tcp_proxy::delay(std::chrono::milliseconds each) {
  const std::lock_guard lock(mutex_);
  delay_ = each;
}

void tcp_proxy::heal() {
  {
    const std::lock_guard lock(mutex_);
    black_hole_ = false;
    refuses_ = false;
    delay_ = {};
    pieces_to_lose_.clear();
  }
  changed_.notify_all();
}

void tcp_proxy::cut() {
  cut("");
}

void tcp_proxy::cut(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    for (link& one : links_) {
      if (one.sent.contains(text)) end(one);
    }
  }
  changed_.notify_all();
}

void tcp_proxy::lose_reply_to(std::string text) {
  const std::lock_guard lock(mutex_);
  to_lose_ = std::move(text);
}

void tcp_proxy::lose_pieces(std::string text) {
  const std::lock_guard lock(mutex_);
  pieces_to_lose_ = std::move(text);
}

std::size_t tcp_proxy::lost_pieces() const {
  const std::lock_guard lock(mutex_);
  return lost_pieces_;
}

void tcp_proxy::hold_request(std::string text) {
  const std::lock_guard lock(mutex_);
  to_hold_ = std::move(text);
  let_go_ = false;
  held_was_answered_ = false;
}

void tcp_proxy::let_go() {
  {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
  }
  changed_.notify_all();
}

std::size_t tcp_proxy::count(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  std::size_t found = 0;
  for (const link& one : links_) {
    for (auto at = one.sent.find(text); at != std::string::npos; at = one.sent.find(text, at + 1)) {
      ++found;
    }
  }
  return found;
}

std::size_t tcp_proxy::open() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(links_, [](const link& one) { return !one.over; }));
}

bool tcp_proxy::held_was_answered() const {
  const std::lock_guard lock(mutex_);
  return held_was_answered_;
}

}  // namespace tenure::servers
