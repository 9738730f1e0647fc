#include "workload/guard_hearing.hpp"

#include <utility>

#include "core/timing.hpp"

namespace tenure::workload {

static_assert(guard_hangs_after <= core::min_ttl, "within the shortest lease; docs/safety.md 2");

void guard_hearing::await() {
  const std::int64_t written = page_.kill_at.load();
  // An earlier deadline than before is that of another term, or of one that is over.
  if (timer_.when() != core::never && written >= asked_) return;
  asked_ = written;
  heard_before_ = page_.armed.load();
  look_in(guard_hangs_after);
}

void guard_hearing::look_in(core::duration wait) {
  timer_.after(wait, [this, wait] { look(wait); });
}

void guard_hearing::look(core::duration waited) {
  const std::int64_t heard = page_.armed.load();
  const std::int64_t written = page_.kill_at.load();
  // What was acknowledged before may be later than what is asked, and answers nothing.
  const bool is_answer = heard != heard_before_ || heard == asked_;
  const bool hears = heard == written || (is_answer && asked_ <= heard && heard < written);
  if (!hears && waited != second_look_after) return look_in(second_look_after);
  if (!hears) {
    look_in(guard_hangs_after);
    if (!std::exchange(hangs_, true)) tell_(false);
    return;
  }
  if (heard < written) await();
  if (std::exchange(hangs_, false)) tell_(true);
}

}  // namespace tenure::workload
