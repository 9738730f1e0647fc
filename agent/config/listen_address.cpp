#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "config/values.hpp"

namespace tenure::config {
namespace {

constexpr const char* address_hint = "give ADDRESS:PORT, such as 127.0.0.1:4040, or off";

std::unexpected<mistake> wrong_address(std::string_view text, const std::string& why,
                                       std::string suggestion = address_hint) {
  return std::unexpected(mistake{"is " + quote(text) + why, std::move(suggestion)});
}

bool is_ipv4(const std::string& host) {
  in_addr out{};
  return ::inet_pton(AF_INET, host.c_str(), &out) == 1;
}

/// What is wrong with a host that is no IPv4 address, with what it probably was to be.
std::unexpected<mistake> wrong_host(std::string_view text, const std::string& host,
                                    const std::string& port) {
  if (host.empty() || host == "*") {
    return wrong_address(
        text, ", without an address",
        "give 127.0.0.1:" + port + " for this machine or 0.0.0.0:" + port + " for all");
  }
  if (is_ipv6(host)) {
    return wrong_address(text, ", an IPv6 address without brackets",
                         "write [" + host + "]:" + port);
  }
  return wrong_address(text, "; " + quote(host) + " is no IP address",
                       "give an IP address; names are not looked up, only localhost is known");
}

}  // namespace

bool is_ipv6(const std::string& host) {
  in6_addr out{};
  return ::inet_pton(AF_INET6, host.c_str(), &out) == 1;
}

parsed<listen_address> parse_listen(std::string_view text) {
  if (text == "off") return listen_address{};
  if (text.starts_with("unix:")) {
    return wrong_address(text, ", and Unix sockets are not supported yet",
                         "give ADDRESS:PORT, such as 127.0.0.1:4040");
  }
  if (text.contains("://")) return wrong_address(text, ", which is a URL");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (number) return wrong_host(text, "", std::string(text));
    return wrong_address(text, ", without a port");
  }
  const std::string port_text(text.substr(colon + 1));
  const parsed<std::uint32_t> port = parse_integer(port_text, 0, max_port);
  if (!port) return wrong_address(text, "; its port is not from 0 to 65535");

  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed && !is_ipv6(host)) {
    return wrong_address(text, "; " + quote(host) + " is no IPv6 address");
  }
  if (!bracketed && !is_ipv4(host)) return wrong_host(text, host, port_text);
  return listen_address{
      .enabled = true, .host = host, .port = static_cast<std::uint16_t>(*port), .explicit_ = false};
}

bool is_loopback(const listen_address& a) {
  in_addr v4{};
  if (::inet_pton(AF_INET, a.host.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT) == IN_LOOPBACKNET;
  }
  in6_addr v6{};
  return ::inet_pton(AF_INET6, a.host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string text(const listen_address& a) {
  if (!a.enabled) return "off";
  const std::string host = a.host.contains(':') ? "[" + a.host + "]" : a.host;
  return host + ":" + std::to_string(a.port);
}

}  // namespace tenure::config
