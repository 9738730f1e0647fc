#pragma once

#include <optional>
#include <string>

#include "core/campaign_obstacle.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"

/// What an election shows of itself.
namespace tenure::core {

/// The lease as its acknowledged renewals have extended it. All instants on CLOCK_BOOTTIME.
struct lease {
  core::version version = no_version;
  time_point sent_at{};
  duration ttl{};
  time_point safe_until{};
  time_point kill_at{};
  time_point stop_at{};
};

/// A grant whose version is not above one that was seen: resources could not tell it from an
/// earlier holder's.
struct regression {
  core::version granted = no_version;
  core::version seen = no_version;  ///< at least as large as `granted`

  friend bool operator==(const regression&, const regression&) = default;
};

/// The public state of an election. The runtime copies it for the API.
struct election_view {
  core::phase phase = core::phase::candidate;
  std::optional<core::lease> lease;  ///< while one is or may be held
  std::string sequencer;
  std::uint32_t slot = 0;           ///< the slot of that lease; see core::holder
  time_point since = never;         ///< when the present phase began; `never` before `started`
  std::optional<observation> seen;  ///< the newest observation of the watch
  bool workload_running = false;
  loss_reason last_loss = loss_reason::none;
  time_point aside_until = time_point::min();  ///< no campaign before; `never`: until `resume`
  std::optional<member> next;   ///< who comes next, as far as the watch shows; see succession
  bool paused = false;          ///< it stands aside until `resume`
  core::held_back held_back{};  ///< why it does not campaign, as a candidate
  /// Set when a grant is given back because of its version; cleared when a larger version is
  /// granted or an operator accepts that versions restart lower.
  std::optional<regression> regressed{};

  /// True while this member may act as holder at `now`. Computed for every answer: a cached flag
  /// would outlive the lease.
  [[nodiscard]] bool valid_at(time_point now) const {
    return phase == core::phase::active && lease && now < lease->stop_at;
  }
};

}  // namespace tenure::core
