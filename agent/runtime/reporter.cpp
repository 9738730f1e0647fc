#include "runtime/reporter.hpp"

#include <algorithm>
#include <utility>

#include "api/obstacle.hpp"
#include "runtime/lines.hpp"
#include "settings/store_kind.hpp"

namespace tenure::runtime {

reporter::reporter(parts with)
    : with_(std::move(with)),
      member_logs_(with_.elections.size()),
      lines_(with_.elections.size()),
      contact_(with_.settings.timing.ttl) {
  const settings::agent& s = with_.settings;
  for (const settings::election& one : with_.elections) {
    histories_.emplace_back(
        history::settings{.identity = s.identity,
                          .most = terms_kept(with_.elections.size()),
                          .slots = one.slots,
                          .ttl = s.timing.ttl,
                          .expiry_lag = settings::expiry_lag_of(s.store, s.timing.ttl),
                          .lock_delay = s.timing.lock_delay});
  }
}

void reporter::changed(core::election_index which) {
  with_.shown.changed(which);
  dirty_ = true;
}

void reporter::publish() {
  dirty_ = false;
  with_.shown.publish(driver_->elections(), with_.loop.now());
}

void reporter::publish_news() {
  if (dirty_) publish();
}

void reporter::step_ended() {
  publish_news();
}

void reporter::elections_open() {
  for (std::uint32_t i = 0; i < with_.elections.size(); ++i) {
    with_.shown.phase_changed(core::election_index{i}, wall_ms());
  }
  dirty_ = true;
}

void reporter::stopping() {
  stopping_ = true;
  with_.shown.stopping();
  dirty_ = true;
}

// --- the store -------------------------------------------------------------------------------

void reporter::store_reached(const stores::description& what) {
  for (const std::string& warning : what.warnings) {
    say_store_warning(with_.to, what.store, warning);
  }
  say_store_reached(with_.to, what, with_.settings.identity);
  with_.shown.store_opened(what.cluster_id);
}

/// Called from within the store, in the middle of a step. So a later turn publishes the news,
/// together with everything that happens until then.
void reporter::heard(const core::contact_event& what) {
  contact_.take(with_.loop.now(), what);
  with_.shown.contact(contact_);
  dirty_ = true;
  if (std::exchange(contact_is_news_, true)) return;
  with_.loop.post([this] {
    contact_is_news_ = false;
    publish_news();
  });
}

void reporter::store_failed(store_request what, const std::string& why) {
  if (!outage_.failed(what, why, with_.loop.now())) return;
  say_store_lost(
      with_.to, with_.settings.identity,
      {.store = with_.settings.store, .operation = name(what), .why = why, .safe_for = safe_for()});
}

void reporter::store_answered(store_request what) {
  const auto gone_for = outage_.done(what, with_.loop.now());
  if (!gone_for) return;
  say_store_back(with_.to, with_.settings.identity, with_.settings.store, *gone_for);
}

/// The time until the first workload must stop if nothing is renewed; nothing if no lease is held.
std::optional<core::duration> reporter::safe_for() const {
  core::time_point stop_at = core::never;
  const core::lease_group& all = driver_->elections();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const auto& lease = all.at(core::election_index{i}).view().lease;
    if (lease) stop_at = std::min(stop_at, lease->stop_at);
  }
  if (stop_at == core::never) return std::nullopt;
  return std::max(stop_at - with_.loop.now(), core::duration::zero());
}

void reporter::watch_broke(core::election_index which, const std::string& why) {
  store_failed(store_request::watch, why);
  with_.shown.watch_broke(which);
  heard(core::contact::watch_broke{why});
}

void reporter::watch_shows(core::election_index which, const core::observation& what) {
  with_.watch_works();
  store_answered(store_request::watch);
  const std::size_t i = core::place(which);
  lines_[i].observed(with_.to, speaker_of(which), election(which), what, now());
  if (with_.shown.watch_showed(which, with_.loop.now())) dirty_ = true;
  if (histories_[i].observed(what, instant())) {
    with_.shown.terms_changed(which, histories_[i].terms());
    dirty_ = true;
  }
  if (member_logs_[i].observed(what.members, wall_ms())) {
    with_.shown.members_gone(which, member_logs_[i].gone());
    dirty_ = true;
  }
}

void reporter::renewed(std::optional<core::duration> margin) {
  if (margin) with_.instruments.renewal_left(*margin);
}

// --- the elections ---------------------------------------------------------------------------

void reporter::held_back(core::election_index which, const core::held_back& before) {
  changed(which);
  const core::election_view& view = election(which).view();
  if (view.held_back.why == before.why || stopping_) return;
  const core::election_settings& s = election(which).settings();
  const std::string now = api::disagreement_text(view.held_back.why, view,
                                                 {.election = speaker_of(which).election,
                                                  .identity = s.identity,
                                                  .store = with_.settings.store,
                                                  .slots = s.slots});
  if (!now.empty() || core::is_disagreement(before.why)) {
    // In a roll-out members wait for those with the number before.
    const bool is_error = view.held_back.why != core::campaign_obstacle::other_slots;
    say_disagreement(with_.to, speaker_of(which), now, is_error);
  }
}

void reporter::phase_changed(core::election_index which, const core::command::transition& what,
                             const core::command::stop_workload* stop) {
  with_.shown.phase_changed(which, wall_ms());
  with_.shown.transition(which, what);
  // The transition starts our own workload, which cannot run yet.
  if (what.to == core::phase::active && election(which).view().workload_running) {
    with_.instruments.workload_adopted();
  }
  const auto outage = note_term(which, what);
  lines_[core::place(which)].changed(with_.to, speaker_of(which), election(which), what,
                                     stop != nullptr ? with_.way_to_stop(*stop) : term_end{},
                                     outage, now());
}

/// The time without an active member that has ended with it.
std::optional<api::outage> reporter::note_term(core::election_index which,
                                               const core::command::transition& what) {
  history& terms = histories_[core::place(which)];
  const std::optional<core::lease>& lease = election(which).view().lease;
  const bool began = what.from == core::phase::candidate &&
                     (what.to == core::phase::pending || what.to == core::phase::active);
  if (began && lease) {
    terms.began(lease->version, what.to == core::phase::active, instant());
  }
  std::optional<api::outage> outage;
  if (what.to == core::phase::active) outage = terms.active(instant());
  if (what.to == core::phase::draining) {
    terms.ending(what.why, lease ? lease->sent_at : core::never);
  }
  if (what.from == core::phase::draining) terms.ended(instant());
  with_.shown.terms_changed(which, terms.terms());
  return outage;
}

void reporter::releasing(core::election_index which) {
  lines_[core::place(which)].releasing(election(which).view().lease->safe_until);
}

void reporter::release_failed(core::election_index which) {
  lines_[core::place(which)].not_released();
  histories_[core::place(which)].not_released();
}

log::speaker reporter::speaker_of(core::election_index which) const {
  return {.election = with_.elections[core::place(which)].name,
          .identity = with_.settings.identity};
}

/// While the store does not answer, no line says who holds.
circumstances reporter::now() const {
  return {.now = with_.loop.now(), .store_answers = !outage_.lasts()};
}

// --- time ------------------------------------------------------------------------------------

void reporter::clocks_jumped(const clock_news& what) {
  const auto say = [&](auto line, const char* kind, core::duration how_long) {
    if (how_long == core::duration::zero()) return;
    const auto held_back = repeats_.let_through(kind, with_.loop.now());
    if (held_back) line(with_.to, with_.settings.identity, how_long, *held_back);
  };
  say(say_slept, "slept", what.slept);
  say(say_late, "late", what.late);
  say(say_wall_jumped, "wall clock", what.wall_jumped);
  if (what.late != core::duration::zero()) with_.instruments.was_late(what.late);
  if (what.wall_jumped != core::duration::zero()) with_.instruments.wall_clock_jumped();
  if (what.slept != core::duration::zero()) with_.instruments.slept(what.slept);
}

std::int64_t reporter::wall_ms() const {
  return with_.read_clocks().unix_ms();
}

}  // namespace tenure::runtime
