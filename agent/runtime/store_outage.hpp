#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.hpp"

namespace tenure::runtime {

/// Kinds of requests to a store.
enum class store_request : std::uint8_t { acquire, renewal, release, watch };

const char* name(store_request what);

/// Since when the store does not do what it is asked.
///
/// It ends when the failed requests succeed again, or others that prove as much: a permanently
/// denied request must not end and begin the outage with each success of the others. Not
/// thread-safe.
class store_outage {
 public:
  static constexpr core::duration first_pause = std::chrono::seconds(10);

  /// True if this failure is to be told: the outage begins with it, or `why` is not what was told
  /// last. The latter at first after `first_pause`, then after twice as long each time: several
  /// servers may fail in turn, each for a reason of its own.
  bool failed(store_request what, const std::string& why, core::time_point now);

  [[nodiscard]] bool lasts() const { return failing_ != 0; }

  /// How long it has lasted, if it ends with this success.
  std::optional<core::duration> done(store_request what, core::time_point now);

 private:
  unsigned failing_ = 0;  ///< one bit per kind of request
  core::time_point since_{};
  std::string told_;  ///< the reason that was told last
  core::time_point tell_next_{};
  core::duration pause_{};
};

}  // namespace tenure::runtime
