#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/timing.hpp"
#include "core/vocabulary.hpp"

namespace tenure::core {

/// What this member says of itself, and how it orders the others.
struct succession_settings {
  std::int32_t priority = 0;         ///< see readiness
  std::int64_t started_unix_ms = 0;  ///< see readiness
  bool prefer_newer = false;  ///< with equal priority, the agent that started later comes first
  /// As the holder, make way for a member of higher priority that has been ready for a while.
  bool preempt = false;
};

/// True if `a` comes before `b`: the higher priority, with `prefer_newer` the one that started
/// later, then the one that has been ready longer, then the smaller name.
[[nodiscard]] bool comes_before(const member& a, const member& b, bool prefer_newer);

/// The order in which the members that are ready come next, after a hand-over as after a crash.
/// Each member computes it from the list that its watch shows, so two members may have different
/// ones for a moment. Nothing that keeps two workloads apart depends on it.
///
/// The entry of a holder is from before its term, and nobody writes another one if it crashes. So
/// it does not count until the member has written it again. Members that say nothing are of an
/// earlier release and count as ready from the beginning of time.
///
/// Not thread-safe.
class succession {
 public:
  /// The watch shows this. Call for each observation, in their order.
  void observe(const observation& seen, std::string_view identity, const succession_settings& self);

  /// Who comes next; null: nobody is known to be ready.
  [[nodiscard]] const std::optional<member>& next() const { return next_; }

  /// How many come before this member if it is ready.
  [[nodiscard]] std::size_t ahead() const { return ahead_; }

 private:
  void note_holders(const observation& seen);
  [[nodiscard]] bool counts(const member& one, const observation& seen) const;

  std::vector<member> spent_;  ///< entries of members that hold, or held when they wrote last
  std::optional<member> next_;
  std::size_t ahead_ = 0;
};

/// How long a member lets those before it come first when the lease has become free: the first one
/// not at all, the next ones so long that they see its grant before they try themselves. Each waits
/// for longer than the one before it, up to a bound, within which those that are left spread.
[[nodiscard]] duration pause_behind(std::size_t ahead, const timing& when, std::uint64_t entropy);

}  // namespace tenure::core
