#include <algorithm>

#include "core/election.hpp"

/// What people order an election to do.
namespace tenure::core {

void election::on(const moment& at, const event::resign& e, effects& out) {
  switch (view_.phase) {
    case phase::observer:
    case phase::candidate:
      if (!found_) {
        aside_until_ = std::max(aside_until_, later(at.now, e.aside));
        break;
      }
      [[fallthrough]];
    case phase::pending:
    case phase::active:
      aside_ = e.aside;
      heir_ = e.heir;
      give_up(loss_reason::resigned, drained_by(at), at, out);
      break;
    case phase::draining:
      aside_ = std::max(aside_, e.aside);
      break;
    case phase::stopped:
      break;
  }
}

void election::on(const moment&, const event::resume&, effects&) {
  aside_ = duration::zero();
  aside_until_ = time_point::min();
  rest_ = duration::zero();
  rest_until_ = time_point::min();
}

void election::on(const moment& at, const event::shutdown& e, effects& out) {
  if (ending_) return;
  ending_ = true;
  switch (view_.phase) {
    case phase::pending:
    case phase::active:
    case phase::observer:
    case phase::candidate:
      give_up(e.why, drained_by(at), at, out);
      break;
    case phase::draining:
    case phase::stopped:
      break;
  }
}

void election::on(const moment&, const event::woke&, effects&) {}

void election::on(const moment&, const event::slept&, effects&) {}

}  // namespace tenure::core
