#include "workload/guard_hearing.hpp"

#include <algorithm>
#include <utility>

#include "core/timing.hpp"

namespace tenure::workload {

static_assert(guard_hangs_after <= core::min_ttl, "within the shortest lease; docs/safety.md 2");

void guard_hearing::await() {
  if (timer_.when() == core::never) look_in(guard_hangs_after, page_.kill_at.load());
}

void guard_hearing::look_in(core::duration wait, std::int64_t asked) {
  timer_.after(wait, [this, wait, asked] { look(wait, asked); });
}

void guard_hearing::look(core::duration waited, std::int64_t asked) {
  const std::int64_t heard = page_.armed.load();
  // A term that is over by now may have had a later deadline than the one that followed.
  asked = std::min(asked, page_.kill_at.load());
  if (heard < asked && waited != second_look_after) return look_in(second_look_after, asked);
  if (heard < asked) {
    look_in(guard_hangs_after, asked);
    if (!std::exchange(hangs_, true)) tell_(false);
    return;
  }
  if (heard < page_.kill_at.load()) await();
  if (std::exchange(hangs_, false)) tell_(true);
}

}  // namespace tenure::workload
