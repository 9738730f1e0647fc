#include "runtime/snapshots.hpp"

#include <algorithm>
#include <utility>

#include "api/change.hpp"
#include "api/election_status.hpp"

namespace tenure::runtime {
namespace {

/// True if, by the clock alone, clients may have seen the store as silent, and it answers again.
bool answers_again(const core::store_contact& before, const core::store_contact& after,
                   core::time_point now) {
  return before.silent_from() <= now && after.silent_from() > now;
}

/// True if, by the clock alone, clients may have seen the term as over, and it is not.
bool came_back(const api::election_snapshot& before, const api::election_snapshot& after,
               core::time_point now) {
  return before.view.lease && after.view.lease && before.view.lease->stop_at <= now &&
         after.view.lease->stop_at > before.view.lease->stop_at;
}

}  // namespace

snapshots::snapshots(api::published& onto, owner whose, std::vector<settings::election> elections,
                     bool campaigns)
    : onto_(onto) {
  next_.agent = std::move(whose.agent);
  next_.identity = std::move(whose.identity);
  next_.started_unix_ms = whose.started_unix_ms;
  next_.store = std::move(whose.store);
  for (settings::election& e : elections) {
    api::election_snapshot shown;
    shown.name = std::move(e.name);
    shown.slots = e.slots;
    shown.campaigns = campaigns;
    if (!campaigns) shown.view.phase = core::phase::observer;
    next_.elections.push_back(std::move(shown));
  }
}

void snapshots::clients_are_the_workload() {
  for (std::size_t i = 0; i < next_.elections.size(); ++i) {
    next_.elections.edit(i).owns_workload = false;
  }
}

void snapshots::store_opened(std::string cluster_id) {
  next_.store_opened = true;
  next_.cluster_id = std::move(cluster_id);
}

void snapshots::stopping() {
  next_.stopping = true;
}

void snapshots::guard_gone() {
  next_.guard_alive = false;
}

void snapshots::health(api::health_report what) {
  next_.health = std::move(what);
}

void snapshots::changed(core::election_index which) {
  if (changed_.empty() || changed_.back() != which) changed_.push_back(which);
}

void snapshots::phase_changed(core::election_index which, std::int64_t unix_ms) {
  next_.elections.edit(core::place(which)).since_unix_ms = unix_ms;
  changed(which);
}

void snapshots::transition(core::election_index which, const core::command::transition& what) {
  auto& counts = next_.elections.edit(core::place(which)).transitions;
  const auto same = std::ranges::find_if(counts, [&](const api::transition_count& one) {
    return one.to == what.to && one.why == what.why;
  });
  if (same != counts.end()) {
    ++same->count;
  } else {
    counts.push_back({.to = what.to, .why = what.why, .count = 1});
  }
}

bool snapshots::watch_showed(core::election_index which, core::time_point now) {
  api::election_snapshot& shown = next_.elections.edit(core::place(which));
  shown.seen_at = now;
  if (std::exchange(shown.watched, true)) return false;
  changed(which);
  return true;
}

void snapshots::terms_changed(core::election_index which,
                              std::shared_ptr<const api::term_list> terms) {
  next_.elections.edit(core::place(which)).terms = std::move(terms);
  changed(which);
}

void snapshots::members_gone(core::election_index which,
                             std::shared_ptr<const api::gone_list> gone) {
  next_.elections.edit(core::place(which)).gone = std::move(gone);
  changed(which);
}

void snapshots::watch_broke(core::election_index which) {
  api::election_snapshot& shown = next_.elections.edit(core::place(which));
  if (!std::exchange(shown.watched, false)) return;
  shown.seen_at = std::max(shown.seen_at, next_.contact.showed_at());
  changed(which);
}

bool snapshots::is_vouched_for(core::election_index which, core::time_point now) const {
  return api::is_vouched_for(next_.elections[core::place(which)], next_.contact, now);
}

void snapshots::publish(const core::lease_group& from, core::time_point now) {
  for (const core::election_index which : changed_) {
    next_.elections.edit(core::place(which)).view = from.at(which).view();
  }
  number(now);
  changed_.clear();
  published_ = std::make_shared<const api::snapshot>(next_.share());
  onto_.publish(published_);
}

/// Gives the next index to elections that show something new since the last publication.
void snapshots::number(core::time_point now) {
  const std::uint64_t index = next_.index + api::index_step(next_.elections.size());
  const auto renumber = [&](std::size_t place) {
    next_.elections.edit(place).index = index;
    next_.index = index;
  };
  if (!published_ || !api::shows_same(*published_, next_) ||
      answers_again(published_->contact, next_.contact, now)) {
    for (std::size_t i = 0; i < next_.elections.size(); ++i) renumber(i);
    return;
  }
  for (const core::election_index which : changed_) {
    const api::election_snapshot& before = published_->elections[core::place(which)];
    const api::election_snapshot& after = next_.elections[core::place(which)];
    if (!api::shows_same(before, after) || came_back(before, after, now)) {
      renumber(core::place(which));
    }
  }
}

}  // namespace tenure::runtime
