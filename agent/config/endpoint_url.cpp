#include "config/endpoint_url.hpp"

#include <algorithm>

namespace tenure::config {
namespace {

constexpr std::string_view scheme_end = "://";
constexpr const char* example = "write it like http://10.0.0.1:2379 or https://[::1]:2379";

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// "https" of "HTTPS://host"; empty if there is none, or another one.
std::string http_scheme(std::string_view text) {
  const std::size_t end = text.find(scheme_end);
  if (end == text.npos) return {};
  std::string scheme = lower(text.substr(0, end));
  return scheme == "http" || scheme == "https" ? scheme : "";
}

std::unexpected<mistake> wrong_url(std::string_view text, const std::string& why,
                                   std::string suggestion = example) {
  return std::unexpected(mistake{quote_endpoint(text) + why, std::move(suggestion)});
}

/// The host and port between the scheme and the path of `text`.
parsed<endpoint_url> parse_authority(std::string_view text, std::string_view authority, bool tls) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t end = std::min(authority.find(bracketed ? ']' : ':'), authority.size());
  const std::string host(bracketed ? authority.substr(1, end - 1) : authority.substr(0, end));
  std::string_view rest = authority.substr(end);
  if (bracketed) {
    if (rest.empty() || !is_ipv6(host))
      return wrong_url(text, " has no IPv6 address in its brackets");
    rest.remove_prefix(1);
    if (!rest.empty() && !rest.starts_with(':')) {
      return wrong_url(text, " has something other than a port behind its bracket");
    }
  } else {
    if (is_ipv6(std::string(authority))) {
      return wrong_url(text, " has an IPv6 address without brackets");
    }
    if (host.empty()) return wrong_url(text, " has no host");
    if (!std::ranges::all_of(host, is_host_character)) {
      return wrong_url(text, " has a character in its host that no host can have");
    }
  }
  if (!rest.empty() && !parse_integer(rest.substr(1), 1, max_port)) {
    return wrong_url(text, " has a port that is not from 1 to 65535");
  }
  return endpoint_url{.tls = tls, .host = host};
}

}  // namespace

parsed<endpoint_url> parse_endpoint_url(std::string_view text) {
  if (has_user(text)) {
    return wrong_url(text, " has a user or a password in it",
                     "take it out, and sign in with user and password_file");
  }
  const std::string scheme = http_scheme(text);
  if (scheme.empty()) {
    if (text.contains(scheme_end)) return wrong_url(text, " is neither http nor https");
    return wrong_url(text, " does not say whether to use TLS", "put http:// or https:// in front");
  }
  if (text.find_first_of("?#") != text.npos) return wrong_url(text, " has a query or a fragment");
  if (!std::ranges::all_of(text, is_visible)) {
    return wrong_url(text, " has a blank or a character outside ASCII in it");
  }
  const std::string_view rest = text.substr(scheme.size() + scheme_end.size());
  return parse_authority(text, rest.substr(0, rest.find('/')), scheme == "https");
}

bool has_user(std::string_view endpoint) {
  return endpoint.contains('@');
}

std::string quote_endpoint(std::string_view endpoint) {
  // From the last @ on: a password may have one in it, and whatever else a URL is divided by.
  const std::size_t at = endpoint.rfind('@');
  std::string shown;
  if (at != endpoint.npos) {
    const std::string scheme = http_scheme(endpoint);
    shown = (scheme.empty() ? "" : scheme + std::string(scheme_end)) + "***";
    endpoint.remove_prefix(at);
  }
  if (at != endpoint.npos || endpoint.contains(scheme_end)) {
    endpoint = endpoint.substr(0, endpoint.find_first_of("?#"));
  }
  return quote(shown + std::string(endpoint));
}

bool is_loopback_host(std::string_view host) {
  return lower(host) == "localhost" ||
         is_loopback({.enabled = true, .host = std::string(host), .port = 0, .explicit_ = false});
}

}  // namespace tenure::config
