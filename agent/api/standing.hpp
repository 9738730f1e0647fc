#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::api {

/// When an answer is written, on both clocks.
struct instant {
  core::time_point now;      ///< decides what is valid
  std::int64_t unix_ms = 0;  ///< for people
};

/// Where an election stands at one instant: what an answer may claim.
struct standing {
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
  /// The store's proof of `holder`'s term, if that is ours.
  std::optional<std::string> sequencer;
  /// For ourselves until stop_at, which is what may be relied upon; for others by the store's
  /// word, if it gives one. Rounded down, never negative.
  std::optional<std::int64_t> expires_in_ms;
  /// Wall clock of the beginning of `phase`; nothing before the election has begun.
  std::optional<std::int64_t> since_unix_ms;
};

/// True while the store counts us as the holder, as far as we know, and stop_at is ahead.
bool held_by_us(const core::election_view& view, core::time_point now);

/// True if the watch has shown a state that is newer than our grant and in which it is missing:
/// lost, or released, while we were giving it up anyway.
bool seen_gone(const core::election_view& view);

/// `standing::expires_in_ms` alone.
std::optional<std::int64_t> expires_in_ms(const election_snapshot& election, const instant& at);

/// `identity`: what the store shows of us as holder.
standing standing_of(const election_snapshot& election, const std::string& identity,
                     const instant& at);

}  // namespace tenure::api
