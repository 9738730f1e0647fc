#include "net/request_body.hpp"

#include <charconv>

namespace tenure::net {
namespace {

constexpr std::string_view line_end = "\r\n";
/// "ffffffff" is more than any limit here, and far from overflow.
constexpr std::size_t most_size_digits = 8;
/// What may stand around the bytes of a body before it is taken for an attempt to keep us busy.
constexpr std::size_t most_framing_bytes = 4 * 1024;

}  // namespace

chunked_body read_chunked(std::string_view bytes, std::size_t limit, std::string& body) {
  using state = chunked_body::state;
  const auto is = [](state s) { return chunked_body{.is = s}; };
  body.clear();
  std::string_view rest = bytes;
  while (true) {
    const std::size_t used = bytes.size() - rest.size();
    if (used - body.size() > most_framing_bytes) return is(state::too_large);

    std::size_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size, 16);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (digits > most_size_digits) return is(state::malformed);
    const std::string_view after = rest.substr(digits, line_end.size());
    if (!line_end.starts_with(after)) return is(state::malformed);
    if (after.size() < line_end.size()) return is(state::incomplete);
    if (digits == 0) return is(state::malformed);
    rest.remove_prefix(digits + line_end.size());

    if (size > limit - body.size()) return is(state::too_large);
    const bool last = size == 0;
    if (rest.size() < size) return is(state::incomplete);
    const std::string_view ending = rest.substr(size, line_end.size());
    if (!line_end.starts_with(ending)) return is(state::malformed);
    if (ending.size() < line_end.size()) return is(state::incomplete);
    body.append(rest.substr(0, size));
    rest.remove_prefix(size + line_end.size());
    if (last) return {.is = state::complete, .size = bytes.size() - rest.size()};
  }
}

}  // namespace tenure::net
