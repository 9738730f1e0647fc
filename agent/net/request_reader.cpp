#include "net/request_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/number_text.hpp"
#include "net/header_text.hpp"
#include "net/request_body.hpp"

namespace tenure::net {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

rejection bad_request(std::string_view message) {
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

/// RFC 9110's tchar.
constexpr std::array<bool, 256> token_table = [] {
  std::array<bool, 256> out{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")) {
    out[static_cast<unsigned char>(c)] = true;
  }
  return out;
}();

bool is_token_char(char c) {
  return token_table[static_cast<unsigned char>(c)];
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_visible(char c) {
  return c > ' ' && c < '\x7F';
}

/// Of a value: text, blanks, and bytes above ASCII, which nobody takes for anything else.
bool is_value_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= ' ' ? byte != 0x7F : c == '\t';
}

/// True if the comma-separated `list` has `word` in it.
bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (same_word(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// Reads the head of one request. Each step returns what is wrong, empty if nothing is.
class head_reader {
 public:
  std::string_view read_request_line(std::string_view line) {
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == last) return "this is not HTTP/1.1";
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (!is_token(method)) return "the method is not a word";
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return "this is not HTTP/1.1";
    if (!std::ranges::all_of(target, is_visible)) {
      return "the target has a blank, a control character or a byte outside ASCII in it";
    }
    auto parsed = parse_target(target);
    if (!parsed) return parsed.error();
    out.what.method = method;
    out.what.target = std::move(*parsed);
    out.head = method == "HEAD";
    out.http_1_0 = version == "HTTP/1.0";
    return {};
  }

  std::string_view read_header(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(' ') || line.starts_with('\t')) return "a header is folded";
    if (colon == line.npos) return "a header has no colon";
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!is_token(name)) return "the name of a header is not a word";
    if (!std::ranges::all_of(value, is_value_char)) {
      return "a header has a control character in it";
    }
    return take(name, value);
  }

  /// When all headers were read.
  std::string_view finish() {
    if (!host_ && !out.http_1_0) return "the Host header is missing";
    if (chunked && length) return "there are both Content-Length and Transfer-Encoding";
    if (chunked && out.http_1_0) return "HTTP/1.0 has no Transfer-Encoding";
    // Nobody who speaks HTTP/1.0 has to know that a connection may be kept.
    out.last = out.last || out.http_1_0;
    request& to = out.what;
    to.host = to.target.host ? to.target.host : std::move(host_);
    return {};
  }

  received_request out;
  std::optional<std::uint64_t> length;
  bool chunked = false;

 private:
  std::string_view take(std::string_view name, std::string_view value) {
    // By length first: most headers are none of ours.
    switch (name.size()) {
      case 4:
        if (same_word(name, "Host"))
          return once(host_, value, "there is more than one Host header");
        break;
      case 6:
        if (same_word(name, "Origin")) {
          return once(out.what.origin, value, "there is more than one Origin header");
        }
        if (same_word(name, "Accept")) add(out.what.accept, value);
        break;
      case 10:
        if (same_word(name, "Connection")) out.last = out.last || lists(value, "close");
        break;
      case 12:
        if (same_word(name, "Content-Type")) {
          return once(out.what.content_type, value, "there is more than one Content-Type header");
        }
        break;
      case 13:
        if (same_word(name, "Authorization")) {
          return once(out.what.authorization, value, "there is more than one Authorization header");
        }
        if (same_word(name, "If-None-Match")) add(out.what.if_none_match, value);
        if (same_word(name, "Last-Event-ID")) {
          return once(out.what.last_event_id, value, "there is more than one Last-Event-ID header");
        }
        break;
      case 14:
        if (same_word(name, "Content-Length")) return take_length(value);
        break;
      case 17:
        if (same_word(name, "Transfer-Encoding")) return take_coding(value);
        break;
      default:
        break;
    }
    return {};
  }

  static std::string_view once(std::optional<std::string>& into, std::string_view value,
                               std::string_view if_not) {
    if (into) return if_not;
    into.emplace(value);
    return {};
  }

  /// A list that goes on in another header of the same name.
  static void add(std::optional<std::string>& into, std::string_view value) {
    if (into) {
      into->append(", ").append(value);
    } else {
      into.emplace(value);
    }
  }

  std::string_view take_length(std::string_view value) {
    if (length) return "there is more than one Content-Length header";
    length = core::read_number<std::uint64_t>(value);
    return length ? std::string_view() : "Content-Length is not a number";
  }

  std::string_view take_coding(std::string_view value) {
    if (chunked) return "there is more than one Transfer-Encoding header";
    if (!same_word(value, "chunked")) return "a Transfer-Encoding other than chunked is not known";
    chunked = true;
    return {};
  }

  std::optional<std::string> host_;
};

/// Where the head ends, or why it never will.
std::variant<incomplete, std::size_t, rejection> find_head(std::string_view bytes,
                                                           std::size_t limit) {
  // Whoever speaks TLS to us would otherwise wait for an answer until the deadline.
  if (!bytes.empty() && !is_token_char(bytes.front())) return bad_request("this is not HTTP/1.1");
  const std::size_t end = bytes.find(head_end);
  const bool fits = end != bytes.npos && end + head_end.size() <= limit;
  if (fits) return end;
  if (end != bytes.npos || bytes.size() >= limit) return headers_too_large;
  // Lines that end in LF alone would never come to an end that we know.
  for (std::size_t at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1)) {
    if (bytes[at - 1] != '\r') return bad_request("a line does not end in CR LF");
  }
  return incomplete{};
}

read_result read_body(std::string_view rest, std::size_t head_size, head_reader& head,
                      const request_limits& limits) {
  received_request& out = head.out;
  if (head.chunked) {
    const chunked_body body = read_chunked(rest, limits.body_bytes, out.what.body);
    switch (body.is) {
      case chunked_body::state::incomplete:
        return incomplete{};
      case chunked_body::state::malformed:
        return bad_request("the chunks of the body are not well-formed");
      case chunked_body::state::too_large:
        return body_too_large;
      case chunked_body::state::complete:
        break;
    }
    out.size = head_size + body.size;
    return std::move(out);
  }
  const std::uint64_t length = head.length.value_or(0);
  if (length > limits.body_bytes) return body_too_large;
  if (rest.size() < length) return incomplete{};
  out.what.body = rest.substr(0, length);
  out.size = head_size + length;
  return std::move(out);
}

}  // namespace

read_result read_request(std::string_view bytes, const request_limits& limits) {
  const auto found = find_head(bytes, limits.header_bytes);
  if (std::holds_alternative<incomplete>(found)) return incomplete{};
  if (const auto* why = std::get_if<rejection>(&found)) return *why;
  const std::size_t end = std::get<std::size_t>(found);

  std::string_view lines = bytes.substr(0, end);
  head_reader head;
  std::string_view wrong;
  for (bool first = true; wrong.empty() && (first || !lines.empty()); first = false) {
    const std::size_t size = std::min(lines.find(line_end), lines.size());
    const std::string_view line = lines.substr(0, size);
    // A CR or LF within it is a control character, and refused as such.
    wrong = first ? head.read_request_line(line) : head.read_header(line);
    lines.remove_prefix(std::min(size + line_end.size(), lines.size()));
  }
  if (wrong.empty()) wrong = head.finish();
  if (!wrong.empty()) return bad_request(wrong);
  const std::size_t head_size = end + head_end.size();
  return read_body(bytes.substr(head_size), head_size, head, limits);
}

response to_response(const rejection& why) {
  response out{.status = why.status};
  out.body.append(R"({"error":{"code":")").append(why.code);
  out.body.append(R"(","message":")").append(why.message);
  out.body.append(R"(","action":")").append(why.action).append("\"}}\n");
  return out;
}

}  // namespace tenure::net
