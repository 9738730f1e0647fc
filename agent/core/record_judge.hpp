#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace tenure::core {

/// Says when a compare-and-set record may be taken over, for stores that do not expire records
/// themselves (client-go's rule for Lease objects).
///
/// A candidate does not trust time stamps in the record. It measures on its own clock how long ago
/// it received the last *change*; the holder renewed before that.
///
/// Not thread-safe.
class record_judge {
 public:
  /// The record was received at `now`. `mark` differs for every write of the record; `ttl` is the
  /// one in the record.
  void saw(time_point now, std::uint64_t mark, duration ttl) {
    if (known_ && mark == mark_) return;
    known_ = true;
    mark_ = mark;
    expires_at_ = now + ttl;
  }

  /// From when on the record as last seen may be taken over; `never` before the first `saw`.
  [[nodiscard]] time_point expires_at() const { return known_ ? expires_at_ : never; }

 private:
  bool known_ = false;
  std::uint64_t mark_ = 0;
  time_point expires_at_ = never;
};

}  // namespace tenure::core
