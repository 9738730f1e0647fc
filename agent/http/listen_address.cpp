#include "http/listen_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace tenure::http {
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

}  // namespace tenure::http
