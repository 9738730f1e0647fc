#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/clock.hpp"
#include "core/election_event.hpp"
#include "core/election_view.hpp"
#include "core/vocabulary.hpp"

/// What an election keeps in each phase of its life. Entering a phase makes its state, and leaving
/// the phase destroys it: what a phase does not need cannot be left over in it.
namespace tenure::core {

namespace state {

/// A request to the store that is not answered yet.
struct request {
  attempt number{};
  time_point deadline = never;  ///< from then on its outcome counts as unknown
  std::uint32_t failures = 0;   ///< tries in a row before this one whose outcome is unknown
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

/// There is always a next try to acquire.
using acquire_try = std::variant<pause, acquiring>;

/// `monostate`: there is nothing to release, as far as is known.
using release_try = std::variant<std::monostate, pause, request>;

/// True if the request in flight is try `number`.
[[nodiscard]] bool awaits(const acquire_try& acquire, attempt number);
[[nodiscard]] bool awaits(const std::optional<request>& acquire, attempt number);
[[nodiscard]] bool awaits(const release_try& release, attempt number);

/// When the next try is due, or the one in flight counts as unknown; `never` if there is none.
[[nodiscard]] time_point due(const release_try& release);

/// Tries in a row whose outcome is unknown.
[[nodiscard]] std::uint32_t failures_of(const release_try& release);

/// Only watches.
struct observer {
  static constexpr core::phase is = phase::observer;
};

/// Waits for the lease, or asks for it.
struct candidate {
  static constexpr core::phase is = phase::candidate;

  acquire_try acquire{};
  bool maybe_held = false;  ///< an acquire ended unknown: the store may count us as the holder
  release_try release{};
  /// What an earlier agent has left running: until the store confirms its term, or it must stop.
  std::optional<event::workload_found> found{};
};

/// Holds the lease and lets lock_delay pass.
struct pending {
  static constexpr core::phase is = phase::pending;

  core::lease lease;
  time_point until = never;  ///< when lock_delay has passed
};

/// `none`: the readers of our answers are the workload.
enum class workload_state : std::uint8_t { none, starting, running };

/// Holds the lease; the workload may run.
struct active {
  static constexpr core::phase is = phase::active;

  core::lease lease;
  workload_state workload = workload_state::none;
};

/// The workload was told to stop, and is not dead yet.
struct stopping {
  core::version version = no_version;  ///< under which it was started
  bool ran = false;                    ///< it was seen to run
  bool stuck = false;                  ///< nobody knows how long its end takes
  time_point kill_by = never;          ///< of the order in force; `never`: an earlier agent gave it
};

/// Stops the workload, and then gives up the lease.
struct draining {
  static constexpr core::phase is = phase::draining;

  loss_reason why = loss_reason::none;
  bool last = false;  ///< the election is stopped afterwards
  std::optional<stopping> workload{};
  /// Readers of our answers may still act until then.
  time_point quiet_until = time_point::min();
  /// What is left of a workload that is out of sight has a lease until then.
  time_point unseen_until = time_point::min();

  std::optional<core::lease> lease{};
  bool gone = false;                 ///< the store has said that the lease is not ours any more
  bool clean = false;                ///< nothing of an earlier term can still run
  std::optional<request> acquire{};  ///< the candidate sent it, and it is not answered yet
  bool maybe_held = false;           ///< as in `candidate`
  release_try release{};

  duration aside{};    ///< how long to stand aside afterwards
  duration rest{};     ///< the same, as the workload was unhealthy
  std::string heir{};  ///< who is to hold next; empty: whoever comes first
};

/// The end: nothing is held and nothing runs.
struct stopped {
  static constexpr core::phase is = phase::stopped;

  bool paused = false;  ///< it was told to stand aside until `resume`
};

}  // namespace state

using election_state = std::variant<state::observer, state::candidate, state::pending,
                                    state::active, state::draining, state::stopped>;

[[nodiscard]] phase phase_of(const election_state& s);

}  // namespace tenure::core
