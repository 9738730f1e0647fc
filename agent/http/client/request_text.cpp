#include "http/client/request_text.hpp"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "http/chunk_text.hpp"
#include "http/header_text.hpp"
#include "http/message_text.hpp"

namespace tenure::http {
namespace {

namespace beast_http = boost::beast::http;

/// The characters that RFC 9110 allows in a method or the name of a header.
bool is_token(std::string_view words) {
  return !words.empty() && std::ranges::all_of(words, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

bool is_target(std::string_view words) {
  return words.starts_with('/') &&
         std::ranges::all_of(words, [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_header_value(std::string_view words) {
  return std::ranges::none_of(words, [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  });
}

/// Headers that the client adds itself: a second one could turn one request into two.
bool is_ours(const std::string& name) {
  return same_word(name, "Host") || same_word(name, "Content-Length") ||
         same_word(name, "Transfer-Encoding");
}

}  // namespace

const std::string* reply_head::value(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const header& h) { return same_word(h.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::expected<std::string, std::string> request_text(const client_request& what,
                                                     const settings::endpoint& where) {
  if (!is_token(what.method)) return std::unexpected("the method is not a word");
  if (!is_target(what.target)) {
    return std::unexpected("the target is not a path, or has a character that is not encoded");
  }
  beast_http::request<beast_http::empty_body> message;
  message.insert(beast_http::field::host, host_header(where));
  message.insert(beast_http::field::user_agent, "tenure");
  for (const header& h : what.headers) {
    if (!is_token(h.name)) return std::unexpected("a header has a name that is not a word");
    if (is_ours(h.name)) return std::unexpected("the header " + h.name + " is not the caller's");
    if (!is_header_value(h.value)) {
      return std::unexpected("the header " + h.name +
                             " has a line break or control character in it");
    }
    message.insert(h.name, h.value);
  }
  if (!what.body.empty() && message.count(beast_http::field::content_type) == 0) {
    message.insert(beast_http::field::content_type, "application/json");
  }
  const bool may_have_body = what.method != "GET" && what.method != "HEAD";
  if (what.open) {
    message.chunked(true);
  } else if (!what.body.empty() || may_have_body) {
    message.content_length(what.body.size());
  }

  std::string out = what.method + " " + where.base + what.target + " HTTP/1.1\r\n";
  append_headers(out, message);
  out += what.open ? chunk_text(what.body) : what.body;
  return out;
}

std::string summary(const client_request& what, const settings::endpoint& where) {
  // Does not repeat a text that cannot be sent.
  const std::string_view path = std::string_view(what.target).substr(0, what.target.find('?'));
  const std::string asked = is_token(what.method) && is_target(path)
                                ? what.method + " " + std::string(path)
                                : std::string("a request");
  return asked + " at " + text(where);
}

}  // namespace tenure::http
