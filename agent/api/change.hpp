#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "api/snapshot.hpp"
#include "core/clock.hpp"

/// What counts as a change for those who wait for one, and how it is numbered.
///
/// An index says "what I have seen". It grows when what an answer shows of an election changes, but
/// for what time alone does: a renewal is no change, and neither is a smaller `expires_in_ms`. The
/// numbers have gaps.
///
/// Some changes nobody publishes: at its stop_at a term is over in every answer, and a store that
/// has said nothing for too long is not reachable, whether or not the election thread has turned by
/// then. So publications leave room. Elections whose stop_at has passed take a number each, in the
/// order in which it has; the silence of the store, which is shown with every election, moves all
/// of them by more than that.
namespace tenure::api {

/// From one index that is published to the next, for so many elections.
constexpr std::uint64_t index_step(std::size_t elections) {
  return 2 * (elections + 1);
}

/// True if answers show the same of both, but for what follows from time. Extend it with every
/// member of the snapshot that is shown.
bool shows_same(const election_snapshot& a, const election_snapshot& b);

/// The same for what is shown of the agent in each of its elections.
bool shows_same(const snapshot& a, const snapshot& b);

/// The index of one of the elections of `seen`, as of `now`.
std::uint64_t index_of(const election_snapshot& election, const snapshot& seen,
                       core::time_point now);

/// The index of all of them together, as of `now`.
std::uint64_t index_of(const snapshot& seen, core::time_point now);

/// "7f3a-12": what this run of the agent has shown at an index. Names an event, and is in an ETag.
std::string version_id(const std::string& agent, std::uint64_t index);

/// When time alone will next give one of them another index; `never` if it will not.
core::time_point next_turn(const snapshot& seen, core::time_point now);

}  // namespace tenure::api
