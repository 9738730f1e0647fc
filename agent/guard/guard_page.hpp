#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::guard {

inline constexpr std::uint32_t guard_page_magic = 0x74'65'6e'75;  // "tenu"
inline constexpr std::uint32_t guard_page_layout = 1;

/// The memory that agent and guard share: one page of a memfd.
///
/// Instants are nanoseconds on CLOCK_BOOTTIME. The agent writes its deadlines, the guard reads them
/// when its timer fires; so a renewal reaches the guard even if the guard does not run in between,
/// and a dead agent moves nothing. All fields are lock-free.
struct guard_page {
  std::uint32_t magic = guard_page_magic;
  std::uint32_t layout = guard_page_layout;
  /// From this instant on nothing may run; 0: not armed. Written by the agent.
  std::atomic<std::int64_t> kill_at{0};
  /// The version of the term that kill_at belongs to. Written by the agent.
  std::atomic<std::uint64_t> version{0};
  /// The deadline that the guard's timer is set to. Written by the guard.
  std::atomic<std::int64_t> armed{0};
  /// From this instant on the workload must be ending; 0: written by an earlier release, which had
  /// only `kill_at`. Written by the agent.
  std::atomic<std::int64_t> stop_at{0};
  /// The newest version that the session of this guard's agents was granted. The agent writes it
  /// before it acts on the grant, so that it is not lost with the agent.
  std::atomic<std::uint64_t> granted{0};
  /// The agent's API port that the newest workload was given; 0: none. Written by the agent.
  std::atomic<std::uint32_t> api_port{0};

  struct deadlines {
    core::time_point stop_at;
    core::time_point kill_at;
  };

  /// The agent's side. A new term first clears the old deadline: a reader in between finds none,
  /// never the old deadline under the new version or the other way round. A reader between the two
  /// stores of one term finds the old `kill_at`, which is still valid.
  void arm(core::version of, const deadlines& until) {
    if (version.load() != core::number(of)) {
      kill_at.store(0);
      version.store(core::number(of));
    }
    stop_at.store(until.stop_at.time_since_epoch().count());
    kill_at.store(until.kill_at.time_since_epoch().count());
  }

  /// The guard's side: the deadlines of this term. Nothing if it is not armed, or if the page is
  /// changing or belongs to another term; the last known deadlines then stay in force.
  [[nodiscard]] std::optional<deadlines> deadlines_of(core::version of) const {
    if (version.load() != core::number(of)) return std::nullopt;
    const std::int64_t kill = kill_at.load();
    const std::int64_t stop = stop_at.load();
    if (version.load() != core::number(of) || kill == 0) return std::nullopt;
    return deadlines{.stop_at = core::time_point(core::duration(stop == 0 ? kill : stop)),
                     .kill_at = core::time_point(core::duration(kill))};
  }

  /// Clears a dead agent's deadlines. Precondition: nobody else writes.
  void disarm() {
    kill_at.store(0);
    stop_at.store(0);
    version.store(0);
    armed.store(0);
  }
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace tenure::guard
