#include "api/long_poll.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/admission.hpp"
#include "api/change.hpp"
#include "base/duration_text.hpp"
#include "base/number_text.hpp"

namespace tenure::api {
namespace {

std::unexpected<problem> bad_wait(std::string message) {
  return std::unexpected(
      bad_query(std::move(message), "ask e.g. /v1/elections/db?index=7&wait=30s"));
}

bool is_repeated(const http::request& asked, std::string_view name) {
  return std::ranges::count(asked.target.query, name, &http::parameter::name) > 1;
}

}  // namespace

std::expected<condition, problem> read_condition(const http::request& asked) {
  condition out{.etags = asked.if_none_match};
  for (const std::string_view name : {"index", "wait"}) {
    if (is_repeated(asked, name))
      return bad_wait("\"" + std::string(name) + "\" is given more than once");
  }
  if (const std::string* index = asked.query_value("index")) {
    out.index = base::read_number<std::uint64_t>(*index);
    if (!out.index) return bad_wait("\"" + *index + "\" is not an index: a whole number");
    out.wait = default_wait;
  }
  if (const std::string* wait = asked.query_value("wait")) {
    const auto read = base::read_duration(*wait, longest_wait);
    if (!read) {
      return bad_wait("wait is \"" + *wait + "\", which is no duration up to " +
                      core::text(longest_wait));
    }
    if (!out.index && !out.etags) {
      return bad_wait("wait needs what has been seen: an index, or an ETag in If-None-Match");
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

std::optional<long_poll> wants_to_wait(const http::request& asked, const snapshot& seen,
                                       const std::vector<std::string>& hosts) {
  const std::vector<std::string>& path = asked.target.segments;
  const bool is_list = path.size() == 2;
  if ((!is_list && path.size() != 3) || path[0] != "v1" || path[1] != "elections") {
    return std::nullopt;
  }
  if (asked.method != "GET" && asked.method != "HEAD") return std::nullopt;
  if (asked.target.query.empty()) return std::nullopt;
  auto reader = read_condition(asked);
  if (!reader || reader->wait == core::duration::zero() || refusal(asked, hosts)) {
    return std::nullopt;
  }
  long_poll out{.reader = std::move(*reader)};
  if (is_list) return out;
  out.place = seen.elections.find(path[2]);
  if (!out.place) return std::nullopt;
  return out;
}

bool has_news(const long_poll& of, const snapshot& seen, core::time_point now) {
  const std::uint64_t index =
      of.place ? index_of(seen.elections[*of.place], seen, now) : index_of(seen, now);
  const bool known = !of.reader.index || *of.reader.index == index;
  const bool cached = !of.reader.etags || matches(of.reader, seen.agent, index);
  return !known || !cached;
}

}  // namespace tenure::api
