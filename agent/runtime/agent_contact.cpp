#include <utility>

#include "runtime/agent_loop.hpp"

/// The part of the loop that knows how the store answers.
namespace tenure::runtime {

/// Called from within the store, in the middle of whatever the loop does. So the news is published
/// by a later turn, together with all that comes until then.
void agent_loop::hear(const core::contact_event& what) {
  if (ended_) return;
  contact_.take(loop_.now(), what);
  snapshots_.contact(contact_);
  if (std::exchange(contact_is_news_, true)) return;
  loop_.post([this] {
    contact_is_news_ = false;
    if (ended_) return;
    dirty_ = true;
    carry_out();
  });
}

}  // namespace tenure::runtime
