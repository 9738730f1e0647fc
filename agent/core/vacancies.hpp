#pragma once

#include <algorithm>
#include <cstdint>

namespace tenure::core {

/// How many free slots of an election are in doubt: the last holder did not release its slot after
/// its workload's death, so that workload may still run.
///
/// Nobody knows which of the free slots a new holder gets. If any is in doubt, the new holder waits
/// for lock_delay, which settles one doubt; otherwise it does not wait. So each doubt is waited for
/// once, and there are never more workloads that run or may run than slots.
///
/// Not thread-safe.
class vacancies {
 public:
  constexpr explicit vacancies(std::uint32_t doubtful) : doubtful_(doubtful) {}

  /// A new holder takes a free slot. True if it does not have to wait.
  constexpr bool taken() {
    if (doubtful_ == 0) return true;
    --doubtful_;
    return false;
  }

  /// A slot has become free. `cleanly`: its holder released it and its workload is dead.
  constexpr void freed(bool cleanly) {
    if (!cleanly) ++doubtful_;
  }

  /// There are `free` free slots; no more can be in doubt.
  constexpr void limit(std::uint32_t free) { doubtful_ = std::min(doubtful_, free); }

  [[nodiscard]] constexpr std::uint32_t doubtful() const { return doubtful_; }

 private:
  std::uint32_t doubtful_;
};

}  // namespace tenure::core
