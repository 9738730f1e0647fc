#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "api/codec.hpp"
#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/http_message.hpp"

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
std::expected<condition, problem> read_condition(const http::request& asked);

/// True if one of the reader's ETags is that of this index, so that the answer is a 304.
bool matches(const condition& reader, const std::string& agent, std::uint64_t index);

/// A reader that waits.
struct long_poll {
  std::optional<std::size_t> place{};  ///< of the election; nothing: it asks for the list
  condition reader{};
};

/// The long poll in this request, if it is one and in order. Everything else, errors included, is
/// for `answer`.
std::optional<long_poll> wants_to_wait(const http::request& asked, const snapshot& seen,
                                       const std::vector<std::string>& hosts);

/// True if there is something at `now` that the reader has not seen.
bool has_news(const long_poll& of, const snapshot& seen, core::time_point now);

}  // namespace tenure::api
