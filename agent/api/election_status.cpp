#include "api/election_status.hpp"

#include <algorithm>

namespace tenure::api {
namespace {

using core::phase;

/// The holders that the watch has shown, without ourselves: the watch may lag, and after stop_at no
/// answer names us.
std::vector<core::holder> others(const core::election_view& view) {
  std::vector<core::holder> out;
  if (!view.seen) return out;
  std::ranges::remove_copy_if(view.seen->holders, std::back_inserter(out), &core::holder::ours);
  return out;
}

std::optional<std::int64_t> expires_in_ms(const election_snapshot& election, const instant& at) {
  const core::election_view& view = election.view;
  if (held_by_us(view, at.now)) return milliseconds_of(view.lease->stop_at - at.now);
  if (!view.seen || view.seen->expires_at == core::never) return std::nullopt;
  // The store's expiry is that of its oldest grant, which is the shown holder's if it is the only
  // one.
  const std::vector<core::holder>& holders = view.seen->holders;
  if (holders.size() != 1 || holders.front().ours) return std::nullopt;
  return milliseconds_of(view.seen->expires_at - at.now);
}

std::optional<core::duration> holders_age(const election_snapshot& election,
                                          const core::store_contact& contact,
                                          core::time_point now) {
  if (election.slots == 1 && held_by_us(election.view, now)) return core::duration::zero();
  const auto at = known_at(election, contact);
  if (!at) return std::nullopt;
  return std::max(core::duration::zero(), now - *at);
}

}  // namespace

std::int64_t milliseconds_of(core::duration span) {
  return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::milliseconds>(span).count());
}

bool held_by_us(const core::election_view& view, core::time_point now) {
  if (!view.lease || now >= view.lease->stop_at) return false;
  switch (view.phase) {
    case phase::pending:
    case phase::active:
      return true;
    case phase::draining:
      return !core::is_loss(view.last_loss) && !seen_gone(view);
    case phase::observer:
    case phase::candidate:
    case phase::stopped:
      break;
  }
  return false;
}

bool seen_gone(const core::election_view& view) {
  if (!view.seen || !view.lease || view.seen->as_of < view.lease->version) return false;
  return std::ranges::none_of(view.seen->holders, [&](const core::holder& h) {
    return h.ours && h.version == view.lease->version;
  });
}

std::optional<core::time_point> known_at(const election_snapshot& election,
                                         const core::store_contact& contact) {
  if (!election.view.seen || election.seen_at == core::never) return std::nullopt;
  return election.watched ? std::max(election.seen_at, contact.showed_at()) : election.seen_at;
}

bool is_vouched_for(const election_snapshot& election, const core::store_contact& contact,
                    core::time_point now) {
  return election.watched && election.view.seen && contact.reachable(now);
}

bool holders_known(const election_snapshot& election, const core::store_contact& contact,
                   core::time_point now) {
  // With several slots, our own lease says nothing about the others.
  if (election.slots == 1 && held_by_us(election.view, now)) return true;
  return is_vouched_for(election, contact, now);
}

election_status status_of(const election_snapshot& election, const snapshot& seen,
                          const instant& at) {
  const core::election_view& view = election.view;
  const std::string& identity = seen.identity;
  election_status out;
  out.phase = view.phase;
  out.is_self = view.valid_at(at.now);
  out.expires_in_ms = expires_in_ms(election, at);
  out.holders_known = holders_known(election, seen.contact, at.now);
  out.holders_age = holders_age(election, seen.contact, at.now);
  if (view.since != core::never) out.since_unix_ms = election.since_unix_ms;

  const bool may_run = view.phase == phase::pending || view.phase == phase::active;
  if (may_run && view.lease && at.now >= view.lease->stop_at) {
    out.phase = phase::draining;
    out.since_unix_ms = at.unix_ms - milliseconds_of(at.now - view.lease->stop_at);
  }

  if (held_by_us(view, at.now)) {
    out.holder = core::holder{
        .identity = identity, .version = view.lease->version, .ours = true, .slot = view.slot};
    out.sequencer = view.sequencer;
    // With one slot, another holder that the watch shows is the one before us.
    if (election.slots > 1) out.holders = others(view);
    out.holders.push_back(*out.holder);
    std::ranges::sort(out.holders, {}, &core::holder::version);
    return out;
  }
  out.holders = others(view);
  if (out.holders.empty()) return out;
  out.holder = out.holders.front();
  return out;
}

}  // namespace tenure::api
