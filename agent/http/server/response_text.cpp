#include "http/server/response_text.hpp"

#include <array>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <cstddef>
#include <memory_resource>
#include <tuple>
#include <utility>

#include "core/check.hpp"
#include "http/message_text.hpp"

namespace tenure::http {
namespace {

namespace beast_http = boost::beast::http;

using fields = beast_http::basic_fields<std::pmr::polymorphic_allocator<char>>;

/// Enough for the heads of nearly all answers; the rest allocate.
constexpr std::size_t head_bytes = 2048;

void check_line_breaks(std::string_view words) {
  TENURE_CHECK(words.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
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
  std::array<std::byte, head_bytes> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  beast_http::response<beast_http::empty_body, fields> head(std::piecewise_construct,
                                                            std::tuple<>(), std::tuple(&memory));
  head.result(what.status);
  head.insert(beast_http::field::date, date);
  if (has_body) {
    check_line_breaks(what.content_type);
    head.insert(beast_http::field::content_type, what.content_type);
  }
  if (has_body && sized) head.content_length(what.body.size());
  if (how.ends == body_end::by_last_chunk) head.chunked(true);
  for (const header& h : what.headers) {
    check_line_breaks(h.name);
    check_line_breaks(h.value);
    head.insert(h.name, h.value);
  }
  if (how.last) head.insert(beast_http::field::connection, "close");
  to.append("HTTP/1.1 ").append(std::to_string(what.status)).append(" ");
  to.append(head.reason()).append("\r\n");
  append_headers(to, head);
  if (has_body && sized && !how.head) to += what.body;
}

std::string response_text(const response& what, const framing& how, std::time_t now) {
  std::string out;
  append_response(out, what, how, date_text(now));
  return out;
}

}  // namespace tenure::http
