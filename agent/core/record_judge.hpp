#pragma once

#include <cstdint>

#include "core/clock.hpp"

namespace tenure::core {

/// Says when a compare-and-set record may be taken over, for stores without expiry of their own
/// (client-go's rule for Lease objects).
///
/// A candidate trusts no time stamp of the other side. It measures on its own clock how long the
/// record has not *changed*, from when it received the change: the holder renewed before that.
///
/// Not thread-safe.
class record_judge {
 public:
  /// The record was received at `now`. `mark` differs for every write of it; `ttl` is the
  /// record's own.
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
