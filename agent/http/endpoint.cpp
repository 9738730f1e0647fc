#include "http/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "base/number_text.hpp"
#include "http/listen_address.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view unix_scheme = "unix:";

/// The longest that DNS allows.
constexpr std::size_t host_bytes = 253;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
}

bool is_visible(char c) {
  return c > ' ' && c < 0x7f;
}

/// What can be repeated on a terminal.
std::string shown(std::string_view words) {
  std::string out(words);
  std::ranges::replace_if(out, [](char c) { return !is_visible(c); }, '.');
  return out;
}

std::string lower(std::string_view words) {
  std::string out(words);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// Of the address, the one spelling that equal addresses share.
std::string normal_ipv6(const std::string& host) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_pton(AF_INET6, host.c_str(), &address);
  ::inet_ntop(AF_INET6, &address, out.data(), out.size());
  return out.data();
}

class url_parser {
 public:
  url_parser(std::string_view url, std::uint16_t default_port)
      : url_(url), default_port_(default_port) {}

  std::expected<endpoint, std::string> parse() {
    if (url_.contains('@')) {
      return std::unexpected("an endpoint must not have a user or password in its URL; " +
                             example());
    }
    if (!std::ranges::all_of(url_, is_visible)) {
      return refused("it has a blank or a character that a URL cannot have");
    }
    if (url_.find_first_of("?#") != std::string_view::npos) {
      return refused("it has a query or a fragment");
    }
    std::string_view rest = url_;
    if (const std::size_t end = rest.find("://"); end != std::string_view::npos) {
      const std::string scheme = lower(rest.substr(0, end));
      if (scheme != "http" && scheme != "https") {
        return refused("the scheme is neither http nor https");
      }
      out_.tls = scheme == "https";
      rest.remove_prefix(end + 3);
    }
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view base = rest.substr(slash);
    out_.base = base.substr(0, base.find_last_not_of('/') + 1);
    return authority(rest.substr(0, slash));
  }

 private:
  std::expected<endpoint, std::string> authority(std::string_view words) {
    if (words.starts_with('[')) {
      const std::size_t end = words.find(']');
      if (end == std::string_view::npos) return refused("the bracket is not closed");
      const std::string host(words.substr(1, end - 1));
      if (!host.contains(':') || !is_ip_literal(host)) {
        return refused("what is in brackets is not an IPv6 address");
      }
      out_.host = normal_ipv6(host);
      words.remove_prefix(end + 1);
      if (!words.empty() && !words.starts_with(':')) {
        return refused("something other than a port follows the bracket");
      }
      return port(words);
    }
    if (std::ranges::count(words, ':') > 1) return refused("an IPv6 address needs brackets");
    const std::size_t colon = std::min(words.find(':'), words.size());
    out_.host = lower(words.substr(0, colon));
    if (const char* wrong = fault_of(out_.host); wrong != nullptr) return refused(wrong);
    return port(words.substr(colon));
  }

  /// What is wrong with a host that is not in brackets, or nullptr.
  static const char* fault_of(const std::string& host) {
    if (host.empty()) return "it has no host";
    if (host.size() > host_bytes) return "the host name is too long";
    if (!std::ranges::all_of(host, is_name_character)) {
      return "the host has a character that a host name cannot have";
    }
    // The resolver would take "10.0.1" for 10.0.0.1.
    const std::size_t dot = host.rfind('.');
    const auto last = std::string_view(host).substr(dot == std::string::npos ? 0 : dot + 1);
    if (!last.empty() && std::ranges::all_of(last, is_digit) && !is_ip_literal(host)) {
      return "the host is neither an IPv4 address nor a name";
    }
    return nullptr;
  }

  std::expected<endpoint, std::string> port(std::string_view words) {
    out_.port = default_port_;
    if (words.empty()) return out_;
    words.remove_prefix(1);
    out_.port = base::read_number<std::uint16_t>(words).value_or(0);
    if (out_.port == 0) return refused("the port is not a number from 1 to 65535");
    return out_;
  }

  /// A query may hold a secret: no more than what stands before it is repeated.
  std::unexpected<std::string> refused(const char* why) const {
    const std::string start = shown(url_.substr(0, url_.find_first_of("?#")));
    return std::unexpected("\"" + start + "\" is not an endpoint: " + why + "; " + example());
  }

  [[nodiscard]] std::string example() const {
    const std::string number = std::to_string(default_port_);
    return "write it like http://10.0.0.1:" + number + " or https://[::1]:" + number + "/prefix";
  }

  std::string_view url_;
  std::uint16_t default_port_;
  endpoint out_;
};

}  // namespace

std::expected<endpoint, std::string> parse_endpoint(std::string_view url,
                                                    std::uint16_t default_port) {
  return url_parser(url, default_port).parse();
}

std::expected<endpoint, std::string> parse_local_endpoint(std::string_view url,
                                                          std::uint16_t default_port) {
  if (!url.starts_with(unix_scheme)) return parse_endpoint(url, default_port);
  const std::string path(url.substr(unix_scheme.size()));
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (!path.starts_with('/') || path.size() > longest || !std::ranges::all_of(path, is_visible)) {
    return std::unexpected("\"" + shown(url) +
                           "\" does not name a Unix socket: write it like "
                           "unix:/run/tenure.sock, an absolute path of at most " +
                           std::to_string(longest) + " characters");
  }
  return endpoint{.host = "localhost", .socket_path = path};
}

std::string text(const endpoint& where) {
  if (!where.socket_path.empty()) return std::string(unix_scheme) + where.socket_path;
  return (where.tls ? "https://" : "http://") + host_header(where) + where.base;
}

std::string host_header(const endpoint& where) {
  if (!where.socket_path.empty()) return where.host;
  return text(listen_address{.host = where.host, .port = where.port});
}

}  // namespace tenure::http
