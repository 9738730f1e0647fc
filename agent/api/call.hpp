#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "api/long_poll.hpp"
#include "api/verdict.hpp"
#include "core/lease_group.hpp"
#include "core/member_order.hpp"

/// What a request may ask for. A call is valid: its election exists, its parameters are parsed, and
/// the client may make it. Places are indexes of elections in the snapshot, which stay the same for
/// the whole run of the agent.
namespace tenure::api {
namespace calls {

/// `GET /` from a browser.
struct page {};

/// `GET /` and `GET /api/leader` from clients of older sidecars.
struct older {
  bool at_root = false;  ///< the path at which browsers get the page
};

/// `GET /v1/elections` and `GET /v1/elections/{name}`.
struct status {
  std::optional<std::size_t> place{};  ///< nothing: all elections
  condition reader{};
};

/// `GET /v1/elections/{name}/history`.
struct history {
  std::size_t place = 0;
  std::size_t limit = 0;  ///< the most terms to return
};

/// `GET /v1/elections/{name}/verify`.
struct verify {
  std::size_t place = 0;
  term_question what{};
  bool fresh = false;  ///< read the store
};

/// `GET /livez` and the like.
struct probe {
  enum class kind : std::uint8_t { livez, readyz, leader, replica };
  kind what = kind::livez;
  std::size_t place = 0;  ///< only for `leader` and `replica`
};

/// `GET /v1/elections/{name}/events`, `GET /v1/events` and `GET /sse`.
struct events {
  enum class kind : std::uint8_t {
    one,    ///< an election
    all,    ///< every election of the agent
    older,  ///< the first one, as older sidecars show it
  };
  kind what = kind::one;
  std::size_t place = 0;  ///< only for `one`
  std::optional<std::string>
      last_id{};  ///< the last event that the reader got before it was cut off
};

/// `POST /v1/elections/{name}/resign` and the like.
struct order {
  core::election_index which{};
  core::order what{};
};

/// `GET /metrics`.
struct metrics {};

}  // namespace calls

/// Calls that a snapshot answers.
using read_call = std::variant<calls::page, calls::older, calls::status, calls::history,
                               calls::verify, calls::probe>;

using call = std::variant<read_call, calls::events, calls::order, calls::metrics>;

}  // namespace tenure::api
