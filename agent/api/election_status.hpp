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

/// When an answer is written, on both clocks.
struct instant {
  core::time_point now;      ///< decides what is valid
  std::int64_t unix_ms = 0;  ///< for people
};

/// Where an election stands at one instant: what an answer may claim.
struct election_status {
  /// The phase; "draining" from stop_at on, even if the election thread has not turned since.
  core::phase phase = core::phase::candidate;
  /// This member may act as holder, now.
  bool is_self = false;
  /// Who holds by the store's word, lowest version first. Ourselves only while the lease is ours
  /// there and stop_at is ahead; that includes `pending` and an orderly end, when `is_self` is
  /// false. Empty if the election is vacant, or if nothing is known of others yet.
  std::vector<core::holder> holders;
  /// The one of them to show: ourselves if we are among them.
  std::optional<core::holder> holder;
  /// `holders` is what is so now. False: it is what was last seen, or nothing was; that the
  /// election is vacant does not follow from their being none.
  bool holders_known = false;
  /// How old the news is that `holders` rests on: zero if that is our own lease alone; nothing if
  /// there was none.
  std::optional<core::duration> holders_age;
  /// The store's proof of `holder`'s term, if that is ours.
  std::optional<std::string> sequencer;
  /// For ourselves until stop_at, which is what may be relied upon; for others by the store's
  /// word, if it gives one. Rounded down, never negative.
  std::optional<std::int64_t> expires_in_ms;
  /// Wall clock of the beginning of `phase`; nothing before the election has begun.
  std::optional<std::int64_t> since_unix_ms;
};

/// Whole milliseconds; none of a time that is over.
std::int64_t milliseconds_of(core::duration span);

/// True while the store counts us as the holder, as far as we know, and stop_at is ahead.
bool held_by_us(const core::election_view& view, core::time_point now);

/// True if the watch has shown a state that is newer than our grant and in which it is missing:
/// lost, or released, while we were giving it up anyway.
bool seen_gone(const core::election_view& view);

/// When what the watch has shown of an election was last known to be so; nothing if it has shown
/// nothing yet.
std::optional<core::time_point> known_at(const election_snapshot& election,
                                         const core::store_contact& contact);

/// True if the watch has shown something and the store vouches for it still.
bool is_vouched_for(const election_snapshot& election, const core::store_contact& contact,
                    core::time_point now);

/// `election_status::holders_known` alone.
bool holders_known(const election_snapshot& election, const core::store_contact& contact,
                   core::time_point now);

/// Precondition: `election` is one of `seen`.
election_status status_of(const election_snapshot& election, const snapshot& seen,
                          const instant& at);

}  // namespace tenure::api
