#pragma once

#include <optional>
#include <string>

#include "core/campaign_obstacle.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// What an election shows.
namespace tenure::core {

/// The lease as far as its acknowledged renewals reach. All instants on CLOCK_BOOTTIME.
struct lease {
  core::version version = no_version;
  time_point sent_at{};
  duration ttl{};
  time_point safe_until{};
  time_point kill_at{};
  time_point stop_at{};
};

/// A grant whose version resources could not tell from that of an earlier holder.
struct regression {
  core::version granted = no_version;
  core::version seen = no_version;  ///< at least as large, before

  friend bool operator==(const regression&, const regression&) = default;
};

/// What anybody may know of an election. Copied out by the runtime for those who serve answers.
struct election_view {
  core::phase phase = core::phase::candidate;
  std::optional<core::lease> lease;  ///< while one is held or may be
  std::string sequencer;
  time_point since = never;         ///< of the present phase; `never` before `started`
  std::optional<observation> seen;  ///< the newest that the watch has shown
  bool workload_running = false;
  loss_reason last_loss = loss_reason::none;
  time_point aside_until = time_point::min();  ///< no campaign before; `never`: until `resume`
  bool paused = false;                         ///< it was told to stand aside until `resume`
  core::held_back held_back{};                 ///< why it does not campaign, as a candidate
  /// Since a grant was given back because of its version, until a larger one is granted, or an
  /// operator has accepted that they begin anew.
  std::optional<regression> regressed{};

  /// True while this member may act as holder at `now`. Computed for every answer: a cached flag
  /// would outlive the lease.
  [[nodiscard]] bool valid_at(time_point now) const {
    return phase == core::phase::active && lease && now < lease->stop_at;
  }
};

}  // namespace tenure::core
