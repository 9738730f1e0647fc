#include "base/event_loop.hpp"

#include <utility>

namespace tenure::base {

void timer::at(core::time_point when, event_loop::task what) {
  cancel();
  if (when == core::never) return;
  loop_.timers_.put(entry_, when, std::move(what));
  loop_.timers_changed();
}

void timer::after(core::duration wait, event_loop::task what) {
  at(core::later(loop_.now(), wait), std::move(what));
}

void timer::cancel() {
  if (when() == core::never) return;
  loop_.timers_.take_out(entry_);
  loop_.timers_changed();
}

}  // namespace tenure::base
