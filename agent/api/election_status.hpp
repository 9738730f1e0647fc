#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "core/store_contact.hpp"
#include "core/vocabulary.hpp"

namespace tenure::api {

/// The instant of an answer, on both clocks.
struct instant {
  core::time_point now;      ///< decides which leases are valid
  std::int64_t unix_ms = 0;  ///< for people
};

/// The state of an election at one instant: what an answer may claim.
struct election_status {
  /// The phase; "draining" from stop_at on, even if the election thread has not turned since.
  core::phase phase = core::phase::candidate;
  /// This member may act as holder at this instant.
  bool is_self = false;
  /// The holders according to the store, lowest version first. Includes ourselves only while the
  /// store says that the lease is ours and stop_at is ahead; so also in `pending` and in an orderly
  /// end, when `is_self` is false. Empty if the election is vacant, or if nothing is known of
  /// others yet.
  std::vector<core::holder> holders;
  /// The holder to show: ourselves if we are one of them.
  std::optional<core::holder> holder;
  /// True: `holders` is the present state. False: it is what was last seen, if anything; no holders
  /// then does not mean that the election is vacant.
  bool holders_known = false;
  /// The age of the news behind `holders`: zero if it is only our own lease; nothing if there was
  /// no news.
  std::optional<core::duration> holders_age;
  /// The store's proof of `holder`'s term, if that is ours.
  std::optional<std::string> sequencer;
  /// For ourselves, until stop_at, which is reliable; for others, as the store says, if it does.
  /// Rounded down, never negative.
  std::optional<std::int64_t> expires_in_ms;
  /// When `phase` began, by the wall clock; nothing before the election has begun.
  std::optional<std::int64_t> since_unix_ms;
};

/// Whole milliseconds; zero for a negative time.
std::int64_t milliseconds_of(core::duration span);

/// True while, as far as we know, the store counts us as the holder, and stop_at is ahead.
bool held_by_us(const core::election_view& view, core::time_point now);

/// True if the watch has shown a state that is newer than our grant and does not contain it: the
/// term was lost, or released while we were giving it up.
bool seen_gone(const core::election_view& view);

/// When the state that the watch shows of an election was last known to be true; nothing if it has
/// shown nothing yet.
std::optional<core::time_point> known_at(const election_snapshot& election,
                                         const core::store_contact& contact);

/// True if the watch has shown something and the store still confirms it.
bool is_vouched_for(const election_snapshot& election, const core::store_contact& contact,
                    core::time_point now);

/// Only `election_status::holders_known`.
bool holders_known(const election_snapshot& election, const core::store_contact& contact,
                   core::time_point now);

/// Precondition: `election` is one of `seen`.
election_status status_of(const election_snapshot& election, const snapshot& seen,
                          const instant& at);

}  // namespace tenure::api
