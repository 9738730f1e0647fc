#include "api/change.hpp"

#include <algorithm>
#include <optional>

#include "api/election_status.hpp"

namespace tenure::api {
namespace {

bool same_lease(const std::optional<core::lease>& a, const std::optional<core::lease>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  // A term that ends earlier than announced is news for those who rely on it.
  return a->version == b->version && a->stop_at <= b->stop_at;
}

/// True if they show the same of other members, and of our absence there.
bool same_sight(const core::election_view& a, const core::election_view& b) {
  if (!a.seen || !b.seen) return a.seen.has_value() == b.seen.has_value();
  return a.seen->holders == b.seen->holders && a.seen->members == b.seen->members &&
         a.seen->in_line == b.seen->in_line && seen_gone(a) == seen_gone(b);
}

/// True if the same member comes next.
bool same_next(const core::election_view& a, const core::election_view& b) {
  if (!a.next || !b.next) return a.next.has_value() == b.next.has_value();
  return a.next->identity == b.next->identity;
}

bool same_view(const core::election_view& a, const core::election_view& b) {
  return a.phase == b.phase && same_lease(a.lease, b.lease) && a.sequencer == b.sequencer &&
         a.slot == b.slot && a.since == b.since && same_sight(a, b) && same_next(a, b) &&
         a.workload_running == b.workload_running && a.last_loss == b.last_loss &&
         a.paused == b.paused && a.held_back == b.held_back;
}

/// When the lease that an answer relies on expires unless it is renewed; `never` if none does.
core::time_point end_of(const core::election_view& view) {
  if (!view.lease) return core::never;
  const core::time_point last = view.lease->stop_at - core::duration(1);
  return held_by_us(view, last) ? view.lease->stop_at : core::never;
}

/// How many elections of `seen` have ended by time alone at `now`, up to `last` in the order of
/// their ends.
std::uint64_t turned(const snapshot& seen, core::time_point now,
                     const election_snapshot* last = nullptr) {
  const core::time_point until = last != nullptr ? end_of(last->view) : now;
  std::uint64_t count = 0;
  bool is_behind = false;
  for (std::size_t i = 0; i < seen.elections.size(); ++i) {
    const election_snapshot& one = seen.elections[i];
    const core::time_point end = end_of(one.view);
    if (end <= now && (end < until || (end == until && !is_behind))) ++count;
    is_behind = is_behind || &one == last;
  }
  return count;
}

/// How much the silence of the store adds to every index: more than all ends of elections do.
std::uint64_t numbers_of_silence(const snapshot& seen, core::time_point now) {
  return seen.contact.silent_from() <= now ? seen.elections.size() + 1 : 0;
}

}  // namespace

bool shows_same(const election_snapshot& a, const election_snapshot& b) {
  return same_view(a.view, b.view) && a.watched == b.watched &&
         a.since_unix_ms == b.since_unix_ms && a.slots == b.slots && a.campaigns == b.campaigns &&
         a.owns_workload == b.owns_workload && a.terms == b.terms && a.gone == b.gone;
}

bool shows_same(const snapshot& a, const snapshot& b) {
  return a.agent == b.agent && a.identity == b.identity && a.store == b.store &&
         a.cluster_id == b.cluster_id && a.contact.shows_same(b.contact) && a.health == b.health;
}

std::uint64_t index_of(const election_snapshot& election, const snapshot& seen,
                       core::time_point now) {
  const std::uint64_t silence = numbers_of_silence(seen, now);
  if (end_of(election.view) > now) return election.index + silence;
  return seen.index + turned(seen, now, &election) + silence;
}

std::uint64_t index_of(const snapshot& seen, core::time_point now) {
  return seen.index + turned(seen, now) + numbers_of_silence(seen, now);
}

std::string version_id(const std::string& agent, std::uint64_t index) {
  return agent + "-" + std::to_string(index);
}

core::time_point next_turn(const snapshot& seen, core::time_point now) {
  core::time_point next = core::never;
  const auto consider = [&](core::time_point end) {
    if (end > now) next = std::min(next, end);
  };
  for (std::size_t i = 0; i < seen.elections.size(); ++i) {
    consider(end_of(seen.elections[i].view));
  }
  consider(seen.contact.silent_from());
  return next;
}

}  // namespace tenure::api
