#pragma once

#include <cstdint>
#include <optional>

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
  /// True if the outage begins with this failure.
  bool failed(store_request what, core::time_point now);

  [[nodiscard]] bool lasts() const { return failing_ != 0; }

  /// How long it has lasted, if it ends with this success.
  std::optional<core::duration> done(store_request what, core::time_point now);

 private:
  unsigned failing_ = 0;  ///< one bit per kind of request
  core::time_point since_{};
};

}  // namespace tenure::runtime
