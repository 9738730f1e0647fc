#include <algorithm>

#include "core/election.hpp"
#include "core/sometimes.hpp"

/// What operators order an election to do.
namespace tenure::core {

void election::on(const moment& at, const event::resign& e, effects& out) {
  switch (view_.phase) {
    case phase::observer:
    case phase::candidate:
      if (!adopting()) {
        aside_until_ = std::max(aside_until_, later(at.now, e.aside));
        break;
      }
      [[fallthrough]];
    case phase::pending:
    case phase::active: {
      state::draining& d = give_up(loss_reason::resigned, drained_by(at), at, out);
      d.aside = e.aside;
      d.heir = e.heir;
      break;
    }
    case phase::draining: {
      auto* d = in<state::draining>();
      TENURE_SOMETIMES(resigned_while_draining);
      d->aside = std::max(d->aside, e.aside);
      break;
    }
    case phase::stopped:
      break;
  }
}

void election::on(const moment&, const event::resume&, effects&) {
  aside_until_ = time_point::min();
  rest_until_ = time_point::min();
  if (auto* d = in<state::draining>()) {
    d->aside = duration::zero();
    d->rest = duration::zero();
  }
  if (auto* s = in<state::stopped>()) s->paused = false;
}

void election::on(const moment& at, const event::shutdown& e, effects& out) {
  if (view_.phase == phase::stopped) return;
  auto* d = in<state::draining>();
  if (d != nullptr) TENURE_SOMETIMES(shut_down_while_draining);
  if (d == nullptr) d = &give_up(e.why, drained_by(at), at, out);
  d->last = true;
}

void election::on(const moment&, const event::woke&, effects&) {}

void election::on(const moment&, const event::slept&, effects&) {}

}  // namespace tenure::core
