#include "http/server/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error_text.hpp"

namespace tenure::http {
namespace {

/// An address of either family, as the kernel wants it: one block of bytes.
struct socket_address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

std::optional<socket_address> to_socket_address(const settings::listen_address& where) {
  const std::string host = where.host == "localhost" ? "127.0.0.1" : where.host;
  socket_address out;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(where.port);
    out.size = sizeof v4;
    std::memcpy(&out.bytes, &v4, sizeof v4);
    return out;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(where.port);
    out.size = sizeof v6;
    std::memcpy(&out.bytes, &v6, sizeof v6);
    return out;
  }
  return std::nullopt;
}

/// sin_port and sin6_port are at the same place in both families.
std::uint16_t port_of(const socket_address& address) {
  sockaddr_in v4{};
  std::memcpy(&v4, &address.bytes, sizeof v4);
  return ntohs(v4.sin_port);
}

listen_failure kind_of(int error) {
  switch (error) {
    case EADDRINUSE:
      return listen_failure::in_use;
    case EACCES:
    case EPERM:
      return listen_failure::not_permitted;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return listen_failure::not_ours;
    default:
      return listen_failure::other;
  }
}

std::string explanation(listen_failure kind, int error) {
  switch (kind) {
    case listen_failure::in_use:
      return "it is in use by another process";
    case listen_failure::not_permitted:
      return "this user may not; ports below 1024 need CAP_NET_BIND_SERVICE";
    case listen_failure::not_ours:
      return "no network interface here has this address";
    case listen_failure::bad_address:
      return "it is not an IPv4 or IPv6 address";
    case listen_failure::other:
      break;
  }
  return base::error_text(error);
}

std::unexpected<listen_error> failed(const settings::listen_address& where, listen_failure kind,
                                     int error) {
  return std::unexpected(listen_error{
      .kind = kind, .text = "cannot listen on " + text(where) + ": " + explanation(kind, error)});
}

}  // namespace

std::expected<listening_socket, listen_error> open_listening_socket(
    const settings::listen_address& where) {
  auto address = to_socket_address(where);
  if (!address) return failed(where, listen_failure::bad_address, 0);
  const auto refused = [&] { return failed(where, kind_of(errno), errno); };

  const int family = address->bytes.ss_family;
  listening_socket out;
  out.fd.reset(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out.fd) return refused();
  const int on = 1;
  if (::setsockopt(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return refused();
  if (::bind(out.fd.get(), address->get(), address->size) != 0) return refused();
  if (::listen(out.fd.get(), listen_backlog) != 0) return refused();
  if (::getsockname(out.fd.get(), address->get(), &address->size) != 0) return refused();
  out.bound = {.host = where.host, .port = port_of(*address)};
  return out;
}

std::expected<base::unique_fd, int> accept_client(int listening) {
  base::unique_fd client(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client) return std::unexpected(errno);
  // An answer is written in one piece; waiting for more to send would only delay it.
  const int on = 1;
  ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return client;
}

std::string network_of(int client) {
  constexpr std::size_t network_bytes = 8;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(client, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return {};
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer).sin_addr;
    return {reinterpret_cast<const char*>(&v4), sizeof v4};
  }
  if (peer.ss_family != AF_INET6) return {};
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  const char* const bytes = reinterpret_cast<const char*>(&v6);
  // An IPv4 address on an IPv6 socket is in the last four bytes.
  return IN6_IS_ADDR_V4MAPPED(&v6) ? std::string(bytes + 12, 4) : std::string(bytes, network_bytes);
}

}  // namespace tenure::http
