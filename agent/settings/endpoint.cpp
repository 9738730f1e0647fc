#include "settings/endpoint.hpp"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <array>

#include "base/number_text.hpp"
#include "settings/listen_address.hpp"

namespace tenure::settings {
namespace {

constexpr std::string_view unix_scheme = "unix:";
constexpr std::string_view scheme_end = "://";

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

std::string lower(std::string_view words) {
  std::string out(words);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// "https" in "HTTPS://host"; empty without a scheme, or with another one.
std::string http_scheme(std::string_view url) {
  const std::size_t end = url.find(scheme_end);
  if (end == url.npos) return {};
  std::string found = lower(url.substr(0, end));
  return found == "http" || found == "https" ? found : "";
}

/// The one spelling that equal addresses share.
std::string normal_ipv6(const std::string& host) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_pton(AF_INET6, host.c_str(), &address);
  ::inet_ntop(AF_INET6, &address, out.data(), out.size());
  return out.data();
}

class url_parser {
 public:
  url_parser(std::string_view url, std::uint16_t default_port, scheme given)
      : url_(url), default_port_(default_port), given_(given) {}

  parsed<endpoint> parse() {
    if (has_user(url_)) {
      return refused(" has a user or a password in it",
                     "take it out, and sign in with user and password_file");
    }
    const std::string found = http_scheme(url_);
    if (found.empty() && url_.contains(scheme_end)) return refused(" is neither http nor https");
    if (found.empty() && given_ == scheme::needed) {
      return refused(" does not say whether to use TLS", "put http:// or https:// in front");
    }
    if (url_.find_first_of("?#") != url_.npos) return refused(" has a query or a fragment");
    if (!std::ranges::all_of(url_, is_visible)) {
      return refused(" has a blank or a character outside ASCII in it");
    }
    out_.tls = found == "https";
    const std::string_view rest =
        found.empty() ? url_ : url_.substr(found.size() + scheme_end.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view base = rest.substr(slash);
    out_.base = base.substr(0, base.find_last_not_of('/') + 1);
    return authority(rest.substr(0, slash));
  }

 private:
  parsed<endpoint> authority(std::string_view words) {
    if (words.starts_with('[')) {
      const std::size_t end = words.find(']');
      const std::string host(words.substr(1, std::min(end, words.size()) - 1));
      if (end == words.npos || !is_ipv6_literal(host)) {
        return refused(" has no IPv6 address in its brackets");
      }
      out_.host = normal_ipv6(host);
      words.remove_prefix(end + 1);
      if (!words.empty() && !words.starts_with(':')) {
        return refused(" has something other than a port behind its bracket");
      }
      return port(words);
    }
    if (is_ipv6_literal(words)) return refused(" has an IPv6 address without brackets");
    const std::size_t colon = std::min(words.find(':'), words.size());
    out_.host = lower(words.substr(0, colon));
    if (const char* wrong = fault_of(out_.host); wrong != nullptr) return refused(wrong);
    return port(words.substr(colon));
  }

  /// What is wrong with a host that is not in brackets, or nullptr.
  static const char* fault_of(const std::string& host) {
    if (host.empty()) return " has no host";
    if (host.size() > host_bytes) return " has a host name that is too long";
    if (!std::ranges::all_of(host, is_name_character)) {
      return " has a character in its host that no host can have";
    }
    // The resolver would take "10.0.1" for 10.0.0.1.
    const std::size_t dot = host.rfind('.');
    const auto last = std::string_view(host).substr(dot == std::string::npos ? 0 : dot + 1);
    if (!last.empty() && std::ranges::all_of(last, is_digit) && !is_ip_literal(host)) {
      return " has a host that is neither an IPv4 address nor a name";
    }
    return nullptr;
  }

  parsed<endpoint> port(std::string_view words) {
    out_.port = default_port_;
    if (words.empty()) return out_;
    out_.port = base::read_number<std::uint16_t>(words.substr(1)).value_or(0);
    if (out_.port == 0) return refused(" has a port that is not from 1 to 65535");
    return out_;
  }

  [[nodiscard]] std::unexpected<mistake> refused(const char* why) const {
    const std::string number = std::to_string(default_port_);
    return refused(why, "write it like http://10.0.0.1:" + number + " or https://[::1]:" + number);
  }

  [[nodiscard]] std::unexpected<mistake> refused(const char* why, std::string suggestion) const {
    return wrong(quote_endpoint(url_) + why, std::move(suggestion));
  }

  std::string_view url_;
  std::uint16_t default_port_;
  scheme given_;
  endpoint out_;
};

}  // namespace

parsed<endpoint> parse_endpoint(std::string_view url, std::uint16_t default_port, scheme given) {
  return url_parser(url, default_port, given).parse();
}

parsed<endpoint> parse_local_endpoint(std::string_view url, std::uint16_t default_port) {
  if (!url.starts_with(unix_scheme)) {
    return parse_endpoint(url, default_port, scheme::assumed_http);
  }
  const std::string path(url.substr(unix_scheme.size()));
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (!path.starts_with('/') || path.size() > longest || !std::ranges::all_of(path, is_visible)) {
    return wrong(quote(url) + " does not name a Unix socket",
                 "write it like unix:/run/tenure.sock, an absolute path of at most " +
                     std::to_string(longest) + " characters");
  }
  return endpoint{.host = "localhost", .socket_path = path};
}

bool has_user(std::string_view url) {
  return url.contains('@');
}

std::string quote_endpoint(std::string_view url) {
  // From the last @ on: a password may contain one, and any other delimiter of a URL.
  const std::size_t at = url.rfind('@');
  std::string shown;
  if (at != url.npos) {
    const std::string found = http_scheme(url);
    shown = (found.empty() ? "" : found + std::string(scheme_end)) + "***";
    url.remove_prefix(at);
  }
  if (at != url.npos || url.contains(scheme_end)) url = url.substr(0, url.find_first_of("?#"));
  return quote(shown + std::string(url));
}

std::string text(const endpoint& where) {
  if (!where.socket_path.empty()) return std::string(unix_scheme) + where.socket_path;
  return (where.tls ? "https://" : "http://") + host_header(where) + where.base;
}

std::string host_header(const endpoint& where) {
  if (!where.socket_path.empty()) return where.host;
  return text(listen_address{.host = where.host, .port = where.port});
}

}  // namespace tenure::settings
