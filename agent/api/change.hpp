#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "api/snapshot.hpp"
#include "core/clock.hpp"

/// What counts as a change for waiting clients, and how changes are numbered.
///
/// An index says "what I have seen". It grows when an answer about an election changes, except by
/// time alone: a renewal is not a change, and neither is a smaller `expires_in_ms`. The numbers
/// have gaps.
///
/// Some changes are not published: at its stop_at a term is over in every answer, and a store that
/// is silent for too long counts as unreachable, whether or not the election thread has turned
/// since. So publications leave gaps in the numbers. Each election whose stop_at has passed takes
/// one number, in the order of the instants. The silence of the store, which every election shows,
/// moves all indexes by more than that.
namespace tenure::api {

/// The distance between two published indexes, for this many elections.
constexpr std::uint64_t index_step(std::size_t elections) {
  return 2 * (elections + 1);
}

/// True if answers about both show the same, apart from time. Extend it with every member of the
/// snapshot that answers show.
bool shows_same(const election_snapshot& a, const election_snapshot& b);

/// The same for what every election shows of the agent.
bool shows_same(const snapshot& a, const snapshot& b);

/// The index of one of the elections of `seen`, as of `now`.
std::uint64_t index_of(const election_snapshot& election, const snapshot& seen,
                       core::time_point now);

/// The index of all elections together, as of `now`.
std::uint64_t index_of(const snapshot& seen, core::time_point now);

/// "7f3a-12": what this run of the agent has shown at an index. Identifies an event, and is part of
/// an ETag.
std::string version_id(const std::string& agent, std::uint64_t index);

/// When time alone will next change an index; `never` if it will not.
core::time_point next_turn(const snapshot& seen, core::time_point now);

}  // namespace tenure::api
