#include "settings/listen_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

namespace tenure::settings {

std::string text(const listen_address& address) {
  const bool brackets = address.host.contains(':');
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

bool is_ip_literal(std::string_view host) {
  in_addr address{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 || is_ipv6_literal(host);
}

bool is_ipv6_literal(std::string_view host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
}

bool is_loopback(std::string_view host) {
  const std::string name(host);
  if (::strcasecmp(name.c_str(), "localhost") == 0) return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) {
    return (ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT) == IN_LOOPBACKNET;
  }
  in6_addr v6{};
  return ::inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace tenure::settings
