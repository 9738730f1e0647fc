#include "net/response_text.hpp"

#include <array>
#include <string_view>

#include "core/check.hpp"

namespace tenure::net {
namespace {

/// Clients go by the number; the words are for people with a packet dump.
std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

std::string date_text(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> out{};
  const std::size_t size = std::strftime(out.data(), out.size(), "%a, %d %b %Y %T GMT", &parts);
  return {out.data(), size};
}

void add_header(std::string& out, std::string_view name, std::string_view value) {
  constexpr std::string_view line_breaks("\r\n\0", 3);
  TENURE_CHECK(name.find_first_of(line_breaks) == std::string_view::npos);
  TENURE_CHECK(value.find_first_of(line_breaks) == std::string_view::npos);
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string response_text(const response& what, const framing& how, std::time_t now) {
  const bool has_body = what.status != 204 && what.status != 304;
  std::string out = "HTTP/1.1 " + std::to_string(what.status) + " ";
  out.append(reason_phrase(what.status)).append("\r\n");
  add_header(out, "Date", date_text(now));
  if (has_body) {
    add_header(out, "Content-Type", what.content_type);
    add_header(out, "Content-Length", std::to_string(what.body.size()));
  }
  for (const header& h : what.headers) add_header(out, h.name, h.value);
  if (how.last) add_header(out, "Connection", "close");
  out += "\r\n";
  if (has_body && !how.head) out += what.body;
  return out;
}

}  // namespace tenure::net
