#include <algorithm>

#include "core/backoff.hpp"
#include "core/election.hpp"
#include "core/sometimes.hpp"

/// How an election reacts to its watch.
namespace tenure::core {
namespace {

constexpr backoff watch_pauses{.first = std::chrono::milliseconds(20),
                               .most = std::chrono::seconds(5)};
/// How long a free lease is left to the heir; a live heir takes it in milliseconds.
constexpr duration heir_patience = std::chrono::seconds(2);

}  // namespace

void election::on(const moment& at, const event::observed& e, effects& out) {
  if (view_.since == never) return;
  const observation& seen = e.what;
  const bool changed = !view_.seen || view_.seen->holders != seen.holders ||
                       view_.seen->retry_at != seen.retry_at || view_.seen->agreed != seen.agreed ||
                       view_.seen->identity_in_use != seen.identity_in_use;
  const bool room = seen.holders.size() < settings_.slots;
  note_heir(seen, at);
  note_order(seen, room, at);
  note_acceptance(seen, at, out);
  if (view_.seen != seen) {
    view_.seen = seen;
    out.add(command::publish{});
  }
  // Not our own version: the watch may show it before the answer to our acquire arrives. With
  // several slots the same is true of later grants to others.
  if (settings_.slots == 1 && !seen.holders.empty() && !seen.holders.back().ours) {
    remember(seen.holders.back().version);
  }

  const loss_reason how_lost = room ? loss_reason::revoked : loss_reason::taken_over;
  if (const core::lease* lease = held()) {
    if (seen_gone(lease->version)) lose(*lease, how_lost, duration::zero(), at, out);
  } else if (auto* d = in<state::draining>()) {
    // A found workload gets no more time. Any other loses its grace if another member holds
    // already: no lock-delay came between, because an operator had deleted the key.
    if (d->workload && seen_gone(d->workload->version) && (!d->lease || !room)) {
      TENURE_SOMETIMES(drain_loses_its_grace);
      stop(*d, at.now, how_lost, out);
    }
  } else if (auto* c = in<state::candidate>()) {
    if (c->found && seen_gone(c->found->version)) {
      TENURE_SOMETIMES(found_term_seen_gone);
      give_up(how_lost, at.now, at, out);
    } else {
      wait_for(*c, seen, changed, room, at);
    }
  }
}

/// The first observation may show an old release; a newer one in a later observation is fresh.
void election::note_heir(const observation& seen, const moment& at) {
  if (!view_.seen || !seen.last_release) return;
  const release_record& said = *seen.last_release;
  // A store with a record for each slot shows an older one again once the newest is deleted. By
  // both numbers: of two slots, the older term may be released last, and a clock may be set back.
  if (const auto& before = view_.seen->last_release;
      before && said.version <= before->version && said.at_unix_ms <= before->at_unix_ms) {
    if (said != *before) TENURE_SOMETIMES(older_release_seen_again);
    return;
  }
  const std::string& heir = said.heir;
  heir_first_until_ = time_point::min();
  if (heir.empty()) return;
  if (heir != settings_.identity) {
    heir_first_until_ = at.now + heir_patience;
  } else if (aside_until_ != never) {
    // This member is named as the heir: its own recent resignation no longer counts.
    if (at.now < aside_until_) TENURE_SOMETIMES(heir_stood_aside);
    aside_until_ = time_point::min();
  }
}

/// The first observation may show an old acceptance, for an earlier restore than the one whose
/// versions we have seen.
void election::note_acceptance(const observation& seen, const moment& at, effects& out) {
  const bool is_news = view_.seen && seen.agreed.accepted_unix_ms > accepted_unix_ms_;
  accepted_unix_ms_ = std::max(accepted_unix_ms_, seen.agreed.accepted_unix_ms);
  if (!is_news) return;
  const core::version before{number(std::max(seen.agreed.versions_from, core::version{1})) - 1};
  highest_seen_ = std::min(highest_seen_, before);
  inherited_ = std::min(inherited_, before);
  ended_ = std::min(ended_, before);
  out.add(command::forget_grants{.before = before});
  if (!view_.regressed) return;
  TENURE_SOMETIMES(acceptance_frees_a_member);
  view_.regressed.reset();
  if (aside_until_ != never) aside_until_ = time_point::min();
  if (auto* d = in<state::draining>()) d->aside = duration::zero();
  auto* c = in<state::candidate>();
  if (c != nullptr && std::holds_alternative<state::pause>(c->acquire)) {
    c->acquire = state::pause{.until = at.now};
  }
}

/// Decides when a candidate tries next, from what its watch shows.
void election::wait_for(state::candidate& c, const observation& seen, bool changed, bool room,
                        const moment& at) {
  if (auto* acquire = std::get_if<state::acquiring>(&c.acquire)) {
    if (room) TENURE_SOMETIMES(seen_free_while_acquiring);
    acquire->seen_free = acquire->seen_free || room;
    return;
  }
  auto& pause = std::get<state::pause>(c.acquire);
  const bool shows_ours = std::ranges::any_of(seen.holders, &holder::ours);
  if (room) {
    c.maybe_held = c.maybe_held || shows_ours;
    // A watch that breaks and shows the same again must not undo the pause after a failure.
    if (changed || pause.failures == 0) pause = {.until = turn(at)};
  } else if ((changed || !c.maybe_held) && shows_ours) {
    // An acquire that timed out may have been carried out after all; another acquire will tell.
    TENURE_SOMETIMES(doubtful_acquire_was_carried_out);
    pause.until = at.now;
    c.maybe_held = true;
  } else if (c.maybe_held) {
    pause.until = std::min(pause.until, seen.retry_at);
  } else {
    pause = {.until = std::max(behind(seen.retry_at, at), at.now + refused_pause)};
  }
}

void election::on(const moment& at, const event::watch_failed&, effects& out) {
  if (view_.phase == phase::stopped || view_.since == never) return;
  // A watch that lived longer than the longest pause was fine.
  if (at.now - watched_from_ >= watch_pauses.most) watch_failures_ = 0;
  ++watch_failures_;
  watched_from_ = at.now + watch_pauses.after(watch_failures_, at.entropy);
  out.add(command::watch{.not_before = watched_from_});
}

}  // namespace tenure::core
