#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/clock.hpp"
#include "core/election_event.hpp"
#include "core/election_view.hpp"
#include "core/vocabulary.hpp"

/// What an election keeps in each phase of its life. Entering a phase creates its state and leaving
/// the phase destroys it, so no state is left over from another phase.
namespace tenure::core {

namespace state {

/// A request to the store that is not answered yet.
struct request {
  attempt number{};
  time_point deadline = never;  ///< from then on its outcome counts as unknown
  std::uint32_t failures = 0;   ///< earlier tries in a row whose outcome is unknown
};

/// The pause before the next request.
struct pause {
  time_point until = never;    ///< `never`: until an event ends it
  std::uint32_t failures = 0;  ///< tries in a row whose outcome is unknown
};

/// The acquire that is not answered yet.
struct acquiring {
  request sent;
  bool seen_free = false;  ///< the watch has shown a free lease meanwhile
};

/// A candidate is always either waiting for its next acquire or for the answer to one.
using acquire_try = std::variant<pause, acquiring>;

/// `monostate`: nothing to release, as far as we know.
using release_try = std::variant<std::monostate, pause, request>;

/// True if the request in flight is try `number`.
[[nodiscard]] bool awaits(const acquire_try& acquire, attempt number);
[[nodiscard]] bool awaits(const std::optional<request>& acquire, attempt number);
[[nodiscard]] bool awaits(const release_try& release, attempt number);

/// When the next try is due, or when the request in flight counts as unknown; `never` if there is
/// neither.
[[nodiscard]] time_point due(const release_try& release);

/// Tries in a row whose outcome is unknown.
[[nodiscard]] std::uint32_t failures_of(const release_try& release);

/// Only watches.
struct observer {
  static constexpr core::phase is = phase::observer;
};

/// Waits for the lease, or campaigns for it.
struct candidate {
  static constexpr core::phase is = phase::candidate;

  acquire_try acquire{};
  bool maybe_held = false;  ///< an acquire ended unknown: the store may count us as the holder
  release_try release{};
  /// The workload that an earlier agent left running, until the store confirms its term or it must
  /// stop.
  std::optional<event::workload_found> found{};
};

/// Holds the lease and lets lock_delay pass.
struct pending {
  static constexpr core::phase is = phase::pending;

  core::lease lease;
  time_point until = never;  ///< when lock_delay has passed
};

/// `none`: API clients are the workload.
enum class workload_state : std::uint8_t { none, starting, running };

/// Holds the lease; the workload may run.
struct active {
  static constexpr core::phase is = phase::active;

  core::lease lease;
  workload_state workload = workload_state::none;
};

/// The workload was asked to stop and is not dead yet.
struct stopping {
  core::version version = no_version;  ///< the version it was started under
  bool ran = false;                    ///< it was seen to run
  bool stuck = false;                  ///< its end may take any time, see `workload_stuck`
  time_point kill_by =
      never;  ///< when the order in force kills; `never`: an earlier agent gave the order
};

/// Stops the workload, then releases the lease.
struct draining {
  static constexpr core::phase is = phase::draining;

  loss_reason why = loss_reason::none;
  bool last = false;  ///< the election is stopped afterwards
  std::optional<stopping> workload{};
  /// API clients that are the workload may still act until then.
  time_point quiet_until = time_point::min();
  /// The lease of a workload that nobody can see runs out by then.
  time_point unseen_until = time_point::min();

  std::optional<core::lease> lease{};
  bool gone = false;                 ///< we no longer hold the lease, or do nothing about it
  bool lost = false;                 ///< the store said that we no longer hold it
  bool clean = false;                ///< no workload of an earlier term can still run
  std::optional<request> acquire{};  ///< sent as a candidate, not answered yet
  bool maybe_held = false;           ///< as in `candidate`
  release_try release{};

  duration aside{};    ///< how long to stand aside afterwards
  duration rest{};     ///< the same, because the workload was unhealthy
  std::string heir{};  ///< the member that should hold next; empty: any member
};

/// The end: nothing is held and nothing runs.
struct stopped {
  static constexpr core::phase is = phase::stopped;

  bool paused = false;  ///< it was paused before it stopped
};

}  // namespace state

using election_state = std::variant<state::observer, state::candidate, state::pending,
                                    state::active, state::draining, state::stopped>;

[[nodiscard]] phase phase_of(const election_state& s);

}  // namespace tenure::core
