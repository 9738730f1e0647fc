#include "net/response_text.hpp"

#include <array>
#include <charconv>

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

void add_header(std::string& out, std::string_view name, std::string_view value) {
  constexpr std::string_view line_breaks("\r\n\0", 3);
  TENURE_CHECK(name.find_first_of(line_breaks) == std::string_view::npos);
  TENURE_CHECK(value.find_first_of(line_breaks) == std::string_view::npos);
  out.append(name).append(": ").append(value).append("\r\n");
}

void add_number(std::string& out, std::size_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

std::string date_text(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> out{};
  const std::size_t size = std::strftime(out.data(), out.size(), "%a, %d %b %Y %T GMT", &parts);
  return {out.data(), size};
}

void append_response(std::string& to, const response& what, const framing& how,
                     std::string_view date) {
  const bool has_body = what.status != 204 && what.status != 304;
  const bool sized = how.ends == body_end::by_length;
  to.append("HTTP/1.1 ");
  add_number(to, what.status);
  to.append(" ").append(reason_phrase(what.status)).append("\r\n");
  add_header(to, "Date", date);
  if (has_body) add_header(to, "Content-Type", what.content_type);
  if (has_body && sized) {
    to.append("Content-Length: ");
    add_number(to, what.body.size());
    to.append("\r\n");
  }
  if (how.ends == body_end::by_last_chunk) add_header(to, "Transfer-Encoding", "chunked");
  for (const header& h : what.headers) add_header(to, h.name, h.value);
  if (how.last) add_header(to, "Connection", "close");
  to += "\r\n";
  if (has_body && sized && !how.head) to += what.body;
}

std::string response_text(const response& what, const framing& how, std::time_t now) {
  std::string out;
  append_response(out, what, how, date_text(now));
  return out;
}

std::string chunk_head(std::size_t size) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  return std::string(digits.data(), end).append("\r\n");
}

}  // namespace tenure::net
