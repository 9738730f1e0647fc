#include "servers/plain_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tenure::servers {
namespace {

constexpr std::string_view end_of_line = "\r\n";
constexpr std::string_view end_of_head = "\r\n\r\n";

std::size_t count(std::string_view text, std::string_view wanted) {
  std::size_t found = 0;
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
    ++found;
  }
  return found;
}

std::string without_chunks(std::string_view text) {
  std::string body;
  while (true) {
    std::size_t size = 0;
    const auto error = std::from_chars(text.data(), text.data() + text.size(), size, 16).ec;
    const auto line = text.find(end_of_line);
    if (error != std::errc{} || size == 0 || line == std::string_view::npos) return body;
    text.remove_prefix(line + end_of_line.size());
    body.append(text.substr(0, size));
    text.remove_prefix(std::min(text.size(), size + end_of_line.size()));
  }
}

}  // namespace

plain_http::plain_http(std::uint16_t port, std::string_view method, std::string_view path,
                       std::string_view body, std::string_view headers)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    fd_.reset();
    return;
  }
  std::string request;
  request.append(method).append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\n");
  request.append(headers);
  const bool streams = headers.find("chunked") != std::string_view::npos;
  if (!streams) request.append("Content-Length: " + std::to_string(body.size()) + "\r\n");
  send(request.append("\r\n").append(body));
}

void plain_http::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string plain_http::read_until(std::string_view wanted, std::size_t times,
                                   std::chrono::milliseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (fd_ && count(come_, wanted) < times) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    std::array<char, 16 * 1024> bytes{};
    const auto got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) break;
    come_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return come_;
}

std::string ask(std::uint16_t port, std::string_view method, std::string_view path,
                std::string_view body) {
  // The server closes after its answer, and no answer has a NUL in it.
  return plain_http(port, method, path, body)
      .read_until(std::string_view("\0", 1), 1, std::chrono::seconds(1));
}

std::string body_of(const std::string& answer) {
  const auto head = answer.find(end_of_head);
  if (head == std::string::npos) return {};
  const std::string rest = answer.substr(head + end_of_head.size());
  const bool chunked = answer.substr(0, head).find("chunked") != std::string::npos;
  return chunked ? without_chunks(rest) : rest;
}

}  // namespace tenure::servers
