#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace tenure::sim {

/// Says when a compare-and-set record may be taken over, for a simulated store that does not expire
/// records itself (client-go's rule for Lease objects).
///
/// A candidate does not trust time stamps in the record. It measures on its own clock how long ago
/// it received the last *change*; the holder renewed before that.
///
/// Not thread-safe.
class record_judge {
 public:
  /// The record was received at `now`. `mark` differs for every write of the record; `ttl` is the
  /// one in the record.
  void saw(core::time_point now, std::uint64_t mark, core::duration ttl) {
    if (known_ && mark == mark_) return;
    known_ = true;
    mark_ = mark;
    expires_at_ = now + ttl;
  }

  /// From when on the record as last seen may be taken over; `never` before the first `saw`.
  [[nodiscard]] core::time_point expires_at() const { return known_ ? expires_at_ : core::never; }

 private:
  bool known_ = false;
  std::uint64_t mark_ = 0;
  core::time_point expires_at_ = core::never;
};

}  // namespace tenure::sim
