#include "core/backoff.hpp"
#include "core/election.hpp"

/// How a lease that our session holds, or may hold, is released.
namespace tenure::core {
namespace {

constexpr backoff release_pauses{.first = std::chrono::milliseconds(20),
                                 .most = std::chrono::seconds(1)};

void release_failed(state::release_try& release, const moment& at) {
  const std::uint32_t failures = state::failures_of(release) + 1;
  release = state::pause{.until = at.now + release_pauses.after(failures, at.entropy),
                         .failures = failures};
}

}  // namespace

/// Releases everything our session holds: an earlier agent's release may be under way, or the
/// workload is dead. A release of ours that is in flight is enough. If it were forgotten, it could
/// be carried out after the next grant, and end that.
void election::release_first(state::candidate& c, const moment& at) {
  c.maybe_held = true;
  if (!std::holds_alternative<state::request>(c.release)) {
    c.release = state::pause{.until = at.now};
  }
}

/// Sends a release unless one is in flight or waits for its next try.
void election::release_now(state::release_try& release, core::version version, bool clean,
                           const moment& at, effects& out) {
  if (const auto* sent = std::get_if<state::request>(&release)) {
    if (at.now < sent->deadline) return;
    release_failed(release, at);
  }
  const auto* pause = std::get_if<state::pause>(&release);
  if (pause != nullptr && at.now < pause->until) return;
  const state::request next{.number = next_attempt(),
                            .deadline = at.now + settings_.when.try_timeout(),
                            .failures = state::failures_of(release)};
  release = next;
  out.add(command::release{
      .number = next.number, .version = version, .clean = clean, .deadline = next.deadline});
}

void election::on(const moment&, const event::released& e, effects&) {
  if (auto* c = in<state::candidate>(); c != nullptr && state::awaits(c->release, e.number)) {
    c->release = {};
    c->maybe_held = false;
  }
  if (auto* d = in<state::draining>(); d != nullptr && state::awaits(d->release, e.number)) {
    d->release = {};
    d->maybe_held = false;
    d->gone = d->lost = true;
  }
}

void election::on(const moment& at, const event::release_unknown& e, effects&) {
  if (auto* c = in<state::candidate>(); c != nullptr && state::awaits(c->release, e.number)) {
    release_failed(c->release, at);
  }
  if (auto* d = in<state::draining>(); d != nullptr && state::awaits(d->release, e.number)) {
    release_failed(d->release, at);
  }
}

}  // namespace tenure::core
