#pragma once

#include <algorithm>

#include "core/clock.hpp"

namespace tenure::core {

struct state_reader;  // tests/explore: tells two states apart

/// How long a member stands aside after a term that ended because its workload was unhealthy, so
/// that a workload that always fails does not bounce the lease between members.
///
/// The first pause is the TTL, in which every other member has its chance; each further pause in a
/// row is twice as long.
class unhealthy_terms {
 public:
  /// No pause is longer, unless the TTL is.
  static constexpr duration longest_pause = std::chrono::minutes(5);
  /// A term that was active for this long was healthy: the next pause is a first one again.
  static constexpr duration well_after = std::chrono::minutes(5);

  /// A term ended that was active for `lasted` (zero if it never was). Returns the pause before the
  /// next campaign; zero if the term ended for another reason, which leaves the count as it is.
  [[nodiscard]] duration ended(bool unhealthy, duration lasted, duration ttl) {
    if (lasted >= well_after) last_pause_ = duration::zero();
    if (!unhealthy) return duration::zero();
    const duration most = std::max(ttl, longest_pause);
    last_pause_ = std::min(most, std::max(ttl, 2 * last_pause_));
    return last_pause_;
  }

 private:
  friend struct state_reader;

  duration last_pause_{};
};

}  // namespace tenure::core
