#include "http/client/local_url.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/check.hpp"

namespace tenure::http {
namespace {

constexpr std::uint16_t default_port = 80;

}  // namespace

local_url take_apart(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t path = std::min(url.find_first_of("/?", host), url.size());
  auto server = settings::parse_endpoint(url.substr(0, path), default_port);
  TENURE_CHECK(server.has_value());
  std::string target = url.substr(path);
  if (!target.starts_with('/')) target.insert(0, "/");
  return {.server = std::move(*server), .target = std::move(target)};
}

std::string subject_of(std::string_view method, const local_url& of) {
  return std::string(method) + ' ' + text(of.server) + of.target.substr(0, of.target.find('?'));
}

}  // namespace tenure::http
