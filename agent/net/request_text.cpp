#include "net/request_text.hpp"

#include <algorithm>
#include <charconv>

#include "net/header_text.hpp"

namespace tenure::net {
namespace {

/// What RFC 9110 allows in a method or the name of a header.
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

/// Those that the client adds itself: a second one would make two requests out of one.
bool is_ours(const std::string& name) {
  return ::strcasecmp(name.c_str(), "Host") == 0 ||
         ::strcasecmp(name.c_str(), "Content-Length") == 0 ||
         ::strcasecmp(name.c_str(), "Transfer-Encoding") == 0;
}

void add(std::string& to, std::string_view name, std::string_view value) {
  to.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

const std::string* reply_head::value(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const header& h) { return same_word(h.name, name); });
  return found == headers.end() ? nullptr : &found->value;
}

std::expected<std::string, std::string> request_text(const client_request& what,
                                                     const endpoint& where) {
  if (!is_token(what.method)) return std::unexpected("the method is not a word");
  if (!is_target(what.target)) {
    return std::unexpected("the target is not a path, or has a character that is not encoded");
  }
  std::string out = what.method + " " + where.base + what.target + " HTTP/1.1\r\n";
  add(out, "Host", host_header(where));
  add(out, "User-Agent", "tenure");
  bool typed = false;
  for (const header& h : what.headers) {
    if (!is_token(h.name)) return std::unexpected("a header has a name that is not a word");
    if (is_ours(h.name)) return std::unexpected("the header " + h.name + " is not the caller's");
    if (!is_header_value(h.value)) {
      return std::unexpected("the header " + h.name +
                             " has a line break or control character in it");
    }
    typed = typed || ::strcasecmp(h.name.c_str(), "Content-Type") == 0;
    add(out, h.name, h.value);
  }
  if (!what.body.empty() && !typed) add(out, "Content-Type", "application/json");
  if (what.open) {
    add(out, "Transfer-Encoding", "chunked");
    return out.append("\r\n").append(chunk_text(what.body));
  }
  if (!what.body.empty() || (what.method != "GET" && what.method != "HEAD")) {
    add(out, "Content-Length", std::to_string(what.body.size()));
  }
  return out.append("\r\n").append(what.body);
}

std::string chunk_text(std::string_view bytes) {
  if (bytes.empty()) return {};
  char size[16];
  const auto end = std::to_chars(std::begin(size), std::end(size), bytes.size(), 16).ptr;
  std::string out(std::begin(size), end);
  return out.append("\r\n").append(bytes).append("\r\n");
}

std::string summary(const client_request& what, const endpoint& where) {
  // What cannot be sent is not repeated either.
  const std::string_view path = std::string_view(what.target).substr(0, what.target.find('?'));
  const std::string asked = is_token(what.method) && is_target(path)
                                ? what.method + " " + std::string(path)
                                : std::string("a request");
  return asked + " at " + text(where);
}

}  // namespace tenure::net
