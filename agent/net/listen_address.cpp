#include "net/listen_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>

namespace tenure::net {
namespace {

std::unexpected<std::string> refused(std::string_view words, const char* why) {
  return std::unexpected("\"" + std::string(words) + "\" is not an address to listen on: " + why +
                         "; write it like 127.0.0.1:4040 or [::1]:4040");
}

}  // namespace

bool is_ip_literal(std::string_view host) {
  const std::string name(host);
  in6_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

std::string text(const listen_address& address) {
  const bool brackets = address.host.contains(':');
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::expected<listen_address, std::string> parse_listen_address(std::string_view words) {
  const std::size_t colon = words.rfind(':');
  if (colon == std::string_view::npos) return refused(words, "it has no port");
  std::string_view host = words.substr(0, colon);
  const std::string_view port = words.substr(colon + 1);

  listen_address out;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (error != std::errc{} || end != port.data() + port.size()) {
    return refused(words, "the port is not a number from 0 to 65535");
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!host.contains(':')) return refused(words, "brackets are for IPv6");
  } else if (host.contains(':')) {
    return refused(words, "an IPv6 address needs brackets");
  }
  if (host.empty()) host = "0.0.0.0";
  if (host != "localhost" && !is_ip_literal(host)) {
    return refused(words, "the host is neither an IP address nor localhost");
  }
  out.host = std::string(host);
  return out;
}

}  // namespace tenure::net
