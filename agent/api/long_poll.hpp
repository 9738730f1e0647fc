#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/change.hpp"
#include "core/clock.hpp"

/// `GET /v1/elections[/{name}]?index=N&wait=30s`, and the same with If-None-Match: an answer once
/// there is something that the client has not seen.
namespace tenure::api {

/// How long a client waits that gives an `index` but no time.
inline constexpr core::duration default_wait = std::chrono::seconds(30);
inline constexpr core::duration longest_wait = std::chrono::minutes(10);

/// What a client has seen, and how long it waits for something else.
struct condition {
  std::optional<std::uint64_t> index{};
  std::optional<std::string> etags{};  ///< as in If-None-Match
  core::duration wait = core::duration::zero();
};

/// True if one of the client's ETags is that of this index, so that the answer is a 304.
inline bool matches(const condition& reader, const std::string& agent, std::uint64_t index) {
  if (!reader.etags) return false;
  const std::string_view all = *reader.etags;
  if (all == "*") return true;
  // Weak comparison: W/"x" and "x" are the same. No other tag can contain this one, because a tag
  // has no quotes inside.
  const std::string quoted = "\"" + version_id(agent, index) + "\"";
  return all.find(quoted) != std::string_view::npos;
}

/// True if the client has not seen `index` of this run of the agent.
inline bool has_news(const condition& reader, const std::string& agent, std::uint64_t index) {
  const bool known = !reader.index || *reader.index == index;
  const bool cached = !reader.etags || matches(reader, agent, index);
  return !known || !cached;
}

}  // namespace tenure::api
