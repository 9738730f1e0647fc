#include "http/server/request_reader.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/number_text.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

using allocator = std::pmr::polymorphic_allocator<char>;
using parser = beast_http::request_parser<beast_http::string_body, allocator>;

/// Enough for the headers of nearly all requests; the rest allocate.
constexpr std::size_t fields_bytes = 2048;

constexpr std::string_view head_end = "\r\n\r\n";

constexpr rejection bad_request(std::string_view message) {
  return {.status = 400,
          .code = "bad_request",
          .message = message,
          .action = "send an HTTP/1.1 request, e.g. GET /v1/elections"};
}

constexpr rejection headers_too_large{
    .status = 431,
    .code = "headers_too_large",
    .message = "request line and headers are larger than this listener accepts",
    .action = "send fewer or shorter headers"};

constexpr rejection body_too_large{
    .status = 413,
    .code = "body_too_large",
    .message = "the request body is larger than this listener accepts",
    .action = "send a smaller body"};

rejection explain(const beast::error_code& error) {
  if (error == beast_http::error::body_limit) return body_too_large;
  if (error == beast_http::error::bad_method) return bad_request("the method is not a word");
  if (error == beast_http::error::bad_field) {
    return bad_request("a header has no colon right behind its name, or a name that is not a word");
  }
  if (error == beast_http::error::bad_value) {
    return bad_request("a header has a value that is not well-formed");
  }
  if (error == beast_http::error::bad_content_length) {
    return bad_request("Content-Length is not a number");
  }
  if (error == beast_http::error::multiple_content_length) {
    return bad_request("there is more than one Content-Length header");
  }
  if (error == beast_http::error::bad_transfer_encoding) {
    return bad_request("a request with a Transfer-Encoding is not read; send a Content-Length");
  }
  return bad_request("this is not HTTP/1.1");
}

/// Finds errors that Beast accepts, or reports only once the head is complete, which may never
/// happen. Empty: none.
std::string_view wrong_in(std::string_view head) {
  // A client that speaks TLS never completes a head, and could not read our answer.
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  if (!head.empty() && !is_letter(head.front())) return "this is not HTTP/1.1";
  for (std::size_t at = head.find('\n'); at != head.npos; at = head.find('\n', at + 1)) {
    if (head[at - 1] != '\r') return "a line does not end in CR LF";
    const std::string_view next = head.substr(at + 1, 1);
    if (next == " " || next == "\t") return "a header is folded";
  }
  return {};
}

/// Makes a request of the head that Beast has parsed. Each step returns an error, or an empty text.
class checked_head {
 public:
  std::string_view check(const parser& parsed) {
    const auto& fields = parsed.get();
    const std::string_view target = fields.target();
    if (!std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7F'; })) {
      return "the target has a blank, a control character or a byte outside ASCII in it";
    }
    auto taken_apart = parse_target(target);
    if (!taken_apart) return taken_apart.error();
    request& to = out.what;
    to.method = std::string_view(fields.method_string());
    to.target = std::move(*taken_apart);
    for (const auto& field : fields) {
      if (const auto wrong = take(field); !wrong.empty()) return wrong;
    }
    out.head = to.method == "HEAD";
    out.http_1_0 = fields.version() == 10;
    // An HTTP/1.0 client need not know that a connection can be kept open.
    out.last = out.http_1_0 || !parsed.keep_alive();
    if (!host_ && !out.http_1_0) return "the Host header is missing";
    if (length.value_or(0) > 0 && to.method != "POST") return "only a POST has a body";
    to.host = to.target.host ? to.target.host : std::move(host_);
    return {};
  }

  received_request out;
  std::optional<std::uint64_t> length;

 private:
  std::string_view take(const parser::value_type::value_type& field) {
    request& to = out.what;
    const std::string_view value = field.value();
    switch (field.name()) {
      case beast_http::field::host:
        return once(host_, value, "there is more than one Host header");
      case beast_http::field::origin:
        return once(to.origin, value, "there is more than one Origin header");
      case beast_http::field::content_type:
        return once(to.content_type, value, "there is more than one Content-Type header");
      case beast_http::field::authorization:
        return once(to.authorization, value, "there is more than one Authorization header");
      case beast_http::field::accept:
        return add(to.accept, value);
      case beast_http::field::if_none_match:
        return add(to.if_none_match, value);
      case beast_http::field::content_length:
        // Beast accepts "5, 5", and a repeated equal length, as one.
        if (length) return "there is more than one Content-Length header";
        length = base::read_number<std::uint64_t>(value);
        return length ? std::string_view() : "Content-Length is not a number";
      case beast_http::field::transfer_encoding:
        return "a request with a Transfer-Encoding is not read; send a Content-Length";
      case beast_http::field::unknown:
        if (!beast::iequals(field.name_string(), "Last-Event-ID")) return {};
        return once(to.last_event_id, value, "there is more than one Last-Event-ID header");
      default:
        return {};
    }
  }

  static std::string_view once(std::optional<std::string>& into, std::string_view value,
                               std::string_view if_not) {
    if (into) return if_not;
    into.emplace(value);
    return {};
  }

  /// Appends to a list that continues in another header of the same name.
  static std::string_view add(std::optional<std::string>& into, std::string_view value) {
    if (into) {
      into->append(", ").append(value);
    } else {
      into.emplace(value);
    }
    return {};
  }

  std::optional<std::string> host_;
};

}  // namespace

read_result read_request(std::string_view bytes, const request_limits& limits) {
  const std::string_view within = bytes.substr(0, limits.header_bytes);
  const std::size_t found = within.find(head_end);
  const bool complete = found != within.npos;
  const std::string_view head = complete ? within.substr(0, found + head_end.size()) : within;
  if (const auto wrong = wrong_in(head); !wrong.empty()) return bad_request(wrong);
  if (!complete && bytes.size() >= limits.header_bytes) return headers_too_large;
  if (!complete) return incomplete{.at_least = bytes.size() + 1};

  std::array<std::byte, fields_bytes> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  parser parsed(std::piecewise_construct, std::tuple<>(), std::tuple(allocator(&memory)));
  parsed.header_limit(static_cast<std::uint32_t>(
      std::min<std::size_t>(limits.header_bytes, std::numeric_limits<std::uint32_t>::max())));
  parsed.body_limit(limits.body_bytes);
  beast::error_code error;
  parsed.put(asio::buffer(head), error);
  if (error) return explain(error);
  checked_head checked;
  if (const auto wrong = checked.check(parsed); !wrong.empty()) return bad_request(wrong);

  received_request& out = checked.out;
  out.size = head.size() + checked.length.value_or(0);
  if (bytes.size() < out.size) return incomplete{.at_least = out.size};
  if (!parsed.is_done()) {
    parsed.eager(true);
    parsed.put(asio::buffer(bytes.substr(head.size(), out.size - head.size())), error);
    if (error) return explain(error);
    out.what.body = std::move(parsed.get().body());
  }
  return std::move(out);
}

response to_response(const rejection& why) {
  response out{.status = why.status};
  out.body.append(R"({"error":{"code":")").append(why.code);
  out.body.append(R"(","message":")").append(why.message);
  out.body.append(R"(","action":")").append(why.action).append("\"}}\n");
  return out;
}

}  // namespace tenure::http
