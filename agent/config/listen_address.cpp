#include "config/values.hpp"

namespace tenure::config {
namespace {

constexpr const char* address_hint = "give ADDRESS:PORT, such as 127.0.0.1:4040, or off";

std::unexpected<mistake> wrong_address(std::string_view text, const std::string& why,
                                       std::string suggestion = address_hint) {
  return std::unexpected(mistake{"is " + quote(text) + why, std::move(suggestion)});
}

/// What is wrong with a host that is not an IPv4 address, and what was probably meant.
std::unexpected<mistake> wrong_host(std::string_view text, const std::string& host,
                                    const std::string& port) {
  if (host.empty() || host == "*") {
    return wrong_address(
        text, ", without an address",
        "give 127.0.0.1:" + port + " for this machine or 0.0.0.0:" + port + " for all");
  }
  if (settings::is_ipv6_literal(host)) {
    return wrong_address(text, ", an IPv6 address without brackets",
                         "write [" + host + "]:" + port);
  }
  return wrong_address(text, "; " + quote(host) + " is not an IP address",
                       "give an IP address; names are not looked up, only localhost is known");
}

}  // namespace

parsed<std::optional<settings::listen_address>> parse_listen(std::string_view text) {
  if (text == "off") return std::nullopt;
  if (text.starts_with("unix:")) {
    return wrong_address(text, ", which is a Unix socket", "give its path as the setting socket");
  }
  if (text.contains("://")) return wrong_address(text, ", which is a URL");
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    if (number) return wrong_host(text, "", std::string(text));
    return wrong_address(text, ", without a port");
  }
  const std::string port_text(text.substr(colon + 1));
  const parsed<std::int64_t> port = parse_integer(port_text, 0, max_port);
  if (!port) return wrong_address(text, "; its port is not from 0 to 65535");

  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed && !settings::is_ipv6_literal(host)) {
    return wrong_address(text, "; " + quote(host) + " is not an IPv6 address");
  }
  const bool is_ipv4 = settings::is_ip_literal(host) && !settings::is_ipv6_literal(host);
  if (!bracketed && !is_ipv4) return wrong_host(text, host, port_text);
  return settings::listen_address{.host = host, .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace tenure::config
