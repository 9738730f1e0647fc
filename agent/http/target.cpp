#include <algorithm>

#include "base/percent_text.hpp"
#include "http/http_message.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view absolute_prefix = "http://";

/// Decodes part of a query, where '+' may stand for a blank.
std::optional<std::string> form_decoded(std::string_view text) {
  std::string with_blanks(text);
  std::ranges::replace(with_blanks, '+', ' ');
  return base::percent_decoded(with_blanks);
}

/// Cuts everything up to `separator` off the front of `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

constexpr std::unexpected<std::string_view> bad_encoding{
    "a '%' in the target is not followed by two hexadecimal digits"};

}  // namespace

std::expected<request_target, std::string_view> parse_target(std::string_view target) {
  request_target out;
  if (target.starts_with(absolute_prefix)) {
    target.remove_prefix(absolute_prefix.size());
    const std::size_t end = std::min(target.find_first_of("/?"), target.size());
    out.host = std::string(target.substr(0, end));
    target.remove_prefix(end);
  } else if (target != "*" && !target.starts_with('/')) {
    return std::unexpected<std::string_view>("the target does not begin with '/'");
  }

  std::string_view query = target;
  std::string_view path = next_part(query, '?');
  out.path = path.empty() ? "/" : std::string(path);

  if (path.starts_with('/')) path.remove_prefix(1);
  while (!path.empty()) {
    auto segment = base::percent_decoded(next_part(path, '/'));
    if (!segment) return bad_encoding;
    out.segments.push_back(std::move(*segment));
  }
  while (!query.empty()) {
    std::string_view value = next_part(query, '&');
    if (value.empty()) continue;
    auto name = form_decoded(next_part(value, '='));
    auto content = form_decoded(value);
    if (!name || !content) return bad_encoding;
    out.query.push_back({.name = std::move(*name), .value = std::move(*content)});
  }
  return out;
}

const std::string* request::query_value(std::string_view name) const {
  const auto found = std::ranges::find(target.query, name, &parameter::name);
  return found == target.query.end() ? nullptr : &found->value;
}

}  // namespace tenure::http
