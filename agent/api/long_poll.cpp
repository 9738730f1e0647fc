#include "api/long_poll.hpp"

#include <algorithm>
#include <string_view>

#include "api/change.hpp"
#include "core/duration_text.hpp"
#include "core/number_text.hpp"

namespace tenure::api {
namespace {

bool is_repeated(const net::request& asked, std::string_view name) {
  return std::ranges::count(asked.target.query, name, &net::parameter::name) > 1;
}

}  // namespace

std::expected<condition, std::string> read_condition(const net::request& asked) {
  condition out{.etags = asked.if_none_match};
  for (const std::string_view name : {"index", "wait"}) {
    if (is_repeated(asked, name))
      return std::unexpected("\"" + std::string(name) + "\" is given more than once");
  }
  if (const std::string* index = asked.query_value("index")) {
    out.index = core::read_number<std::uint64_t>(*index);
    if (!out.index) return std::unexpected("\"" + *index + "\" is not an index: a whole number");
    out.wait = default_wait;
  }
  if (const std::string* wait = asked.query_value("wait")) {
    const auto read = core::read_duration(*wait, longest_wait);
    if (!read) {
      return std::unexpected("wait is \"" + *wait + "\", which is no duration up to " +
                             core::text(longest_wait));
    }
    if (!out.index && !out.etags) {
      return std::unexpected(
          "wait needs what has been seen: an index, or an ETag in If-None-Match");
    }
    out.wait = *read;
  }
  return out;
}

bool matches(const condition& reader, const std::string& agent, std::uint64_t index) {
  if (!reader.etags) return false;
  const std::string_view all = *reader.etags;
  if (all == "*") return true;
  // Compared weakly: W/"x" and "x" are the same. No other tag can have this one in it, because a
  // tag has no quotes inside.
  const std::string quoted = "\"" + version_id(agent, index) + "\"";
  return all.find(quoted) != std::string_view::npos;
}

bool has_news(const condition& reader, const std::string& agent, std::uint64_t index) {
  const bool known = !reader.index || *reader.index == index;
  const bool cached = !reader.etags || matches(reader, agent, index);
  return !known || !cached;
}

}  // namespace tenure::api
