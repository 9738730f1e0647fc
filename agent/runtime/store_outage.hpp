#pragma once

#include <cstdint>
#include <optional>

#include "core/clock.hpp"

namespace tenure::runtime {

/// What a store is asked to do.
enum class store_request : std::uint8_t { acquire, renewal, release, watch };

const char* name(store_request what);

/// Since when the store does not do what it is asked.
///
/// It ends when what has failed succeeds again, or what tells as much: a request that is denied for
/// good must not end and begin with each success of the others. Not thread-safe.
class store_outage {
 public:
  /// True if it begins with this.
  bool failed(store_request what, core::time_point now);

  [[nodiscard]] bool lasts() const { return failing_ != 0; }

  /// How long it has lasted, if it ends with this.
  std::optional<core::duration> done(store_request what, core::time_point now);

 private:
  unsigned failing_ = 0;  ///< a bit for each request
  core::time_point since_{};
};

}  // namespace tenure::runtime
