#include "api/history.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "api/codec.hpp"

namespace tenure::api {
namespace {

std::optional<std::size_t> limit_in(std::string_view text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out == 0) return std::nullopt;
  return out;
}

}  // namespace

net::response answer_history(const net::request& asked, const election_snapshot& election,
                             const snapshot& seen, const instant& at) {
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const net::parameter& one : asked.target.query) {
    const auto wanted = one.name == "limit" ? limit_in(one.value) : std::nullopt;
    if (!wanted) {
      return error_response(
          400, {.code = "bad_query",
                .message = "\"" + one.name + "=" + one.value + "\" is not a limit of the history",
                .action = "ask e.g. /v1/elections/db/history?limit=10"});
    }
    limit = std::min(limit, *wanted);
  }
  return history_response(election, seen, at, limit);
}

}  // namespace tenure::api
