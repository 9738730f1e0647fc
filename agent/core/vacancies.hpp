#pragma once

#include <algorithm>
#include <cstdint>

namespace tenure::core {

/// How many free slots of an election are in doubt: the workload of their last holder may still
/// run, as that has not released its slot after its workload's death.
///
/// Nobody knows which of the free slots a newcomer gets. If any is in doubt it waits for
/// lock_delay, and by that for one of those that are; with none in doubt it need not wait. Each
/// doubt is so waited for once, and the workloads that run or may run are never more than the
/// slots.
///
/// Not thread-safe.
class vacancies {
 public:
  constexpr explicit vacancies(std::uint32_t doubtful) : doubtful_(doubtful) {}

  /// A holder comes into a free slot. True if it need not wait.
  constexpr bool taken() {
    if (doubtful_ == 0) return true;
    --doubtful_;
    return false;
  }

  /// A slot has become free. `cleanly`: its holder has released it, and nothing of it runs.
  constexpr void freed(bool cleanly) {
    if (!cleanly) ++doubtful_;
  }

  /// There are `free` slots; no more than these can be in doubt.
  constexpr void limit(std::uint32_t free) { doubtful_ = std::min(doubtful_, free); }

  [[nodiscard]] constexpr std::uint32_t doubtful() const { return doubtful_; }

 private:
  std::uint32_t doubtful_;
};

}  // namespace tenure::core
