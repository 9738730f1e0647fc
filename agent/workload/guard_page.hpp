#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::workload {

inline constexpr std::uint32_t guard_page_magic = 0x74'65'6e'75;  // "tenu"
inline constexpr std::uint32_t guard_page_layout = 1;

/// The memory that agent and guard share: one page of a memfd.
///
/// Instants are nanoseconds on CLOCK_BOOTTIME. The agent writes `kill_at`, the guard reads it
/// when its timer fires; so a renewal reaches the guard even if the guard is not scheduled in
/// between, and a dead agent moves nothing. All fields are lock-free.
struct guard_page {
  std::uint32_t magic = guard_page_magic;
  std::uint32_t layout = guard_page_layout;
  /// Nothing may run from this instant on; 0: not armed. Written by the agent.
  std::atomic<std::int64_t> kill_at{0};
  /// The version of the term that kill_at belongs to. Written by the agent.
  std::atomic<std::uint64_t> term{0};
  /// The deadline that the guard's timer is set to. Written by the guard.
  std::atomic<std::int64_t> armed{0};

  /// The agent's side. A new term first takes the deadline of the old one away: whoever looks in
  /// between finds none, never the old deadline under the new version or the other way round.
  void arm(core::version of, core::time_point deadline) {
    if (term.load() != core::number(of)) {
      kill_at.store(0);
      term.store(core::number(of));
    }
    kill_at.store(deadline.time_since_epoch().count());
  }

  /// The guard's side: the deadline of this term. None if it is not armed, or if the page is
  /// being changed or was changed to another term; the last one known then stays in force.
  [[nodiscard]] std::optional<core::time_point> deadline_of(core::version of) const {
    if (term.load() != core::number(of)) return std::nullopt;
    const std::int64_t deadline = kill_at.load();
    if (term.load() != core::number(of) || deadline == 0) return std::nullopt;
    return core::time_point(core::duration(deadline));
  }

  /// Forgets a dead agent's deadline. Nobody else may be writing.
  void disarm() {
    kill_at.store(0);
    term.store(0);
    armed.store(0);
  }
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace tenure::workload
