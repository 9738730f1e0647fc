#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "core/clock.hpp"
#include "net/http_message.hpp"

/// `GET /v1/elections[/{name}]?index=N&wait=30s`, and the same with If-None-Match: an answer when
/// there is something that the reader has not seen.
namespace tenure::api {

/// How long a reader waits that says what it has seen by `index`, but not for how long.
inline constexpr core::duration default_wait = std::chrono::seconds(30);
inline constexpr core::duration longest_wait = std::chrono::minutes(10);

/// What a reader has seen, and how long it would wait for something else.
struct condition {
  std::optional<std::uint64_t> index{};
  std::optional<std::string> etags{};  ///< as If-None-Match has them
  core::duration wait = core::duration::zero();
};

/// The error says what is wrong with the query.
std::expected<condition, std::string> read_condition(const net::request& asked);

/// True if one of the reader's ETags is that of this index, so that the answer is a 304.
bool matches(const condition& reader, const std::string& agent, std::uint64_t index);

/// True if the reader has not seen `index` of this run of the agent.
bool has_news(const condition& reader, const std::string& agent, std::uint64_t index);

}  // namespace tenure::api
