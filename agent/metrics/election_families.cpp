#include "metrics/election_families.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "metrics/family.hpp"
#include "metrics/registry.hpp"

namespace tenure::metrics {
namespace {

using api::election_snapshot;

/// The most elections whose samples are in memory at a time, besides the page itself: some hundred
/// kB.
constexpr std::size_t elections_in_a_piece = 128;

constexpr std::array phases{core::phase::observer, core::phase::candidate, core::phase::pending,
                            core::phase::active,   core::phase::draining,  core::phase::stopped};

/// One election, and the facts for its samples.
struct subject {
  const election_snapshot& election;
  const api::snapshot& seen;
  const api::instant& at;

  [[nodiscard]] api::election_status status() const { return api::status_of(election, seen, at); }
  /// What the watch has shown counts only while the store answers: an agent that is cut off may be
  /// far behind.
  [[nodiscard]] bool knows_holders() const {
    return api::held_by_us(election.view, at.now) ||
           api::is_vouched_for(election, seen.contact, at.now);
  }
};

using samples = std::vector<sample>;

sample about(const subject& one, double value) {
  return {.labels = {{"election", one.election.name}}, .value = value};
}

void state(const subject& one, samples& out) {
  const core::phase now = one.status().phase;
  for (const core::phase p : phases) {
    out.push_back(about(one, p == now ? 1 : 0));
    out.back().labels.push_back({"state", std::string(core::name(p))});
  }
}

void active(const subject& one, samples& out) {
  out.push_back(about(one, one.election.view.valid_at(one.at.now) ? 1 : 0));
}

void master_status(const subject& one, samples& out) {
  out.push_back({.labels = {{"name", one.election.name}},
                 .value = one.election.view.valid_at(one.at.now) ? 1.0 : 0.0});
}

void workload_running(const subject& one, samples& out) {
  if (!one.election.owns_workload) return;
  out.push_back(about(one, one.election.view.workload_running ? 1 : 0));
}

void newest_version(const subject& one, samples& out) {
  if (!one.knows_holders()) return;
  const api::election_status is = one.status();
  if (is.holders.empty()) return;
  out.push_back(about(one, static_cast<double>(core::number(is.holders.back().version))));
}

void holder_info(const subject& one, samples& out) {
  if (!one.knows_holders()) return;
  for (core::holder& h : one.status().holders) {
    out.push_back(about(one, 1));
    out.back().labels.push_back({"holder", std::move(h.identity)});
  }
}

void slots(const subject& one, samples& out) {
  out.push_back(about(one, one.election.slots));
}

void stop_in(const subject& one, samples& out) {
  const core::election_view& view = one.election.view;
  if (!view.lease || !api::held_by_us(view, one.at.now)) return;
  using seconds = std::chrono::duration<double>;
  out.push_back(about(one, seconds(view.lease->stop_at - one.at.now).count()));
}

/// The one after the newest term that has ended.
void last_outage(const subject& one, samples& out) {
  if (!one.knows_holders() || !one.election.terms) return;
  const api::term_list& all = *one.election.terms;
  const auto ended = std::ranges::find(all.rbegin(), all.rend(), true, &api::past_term::ended);
  if (ended == all.rend() || !ended->outage_after) return;
  const api::outage& what = *ended->outage_after;
  const std::int64_t ms = what.lasted_ms.value_or(one.at.unix_ms - what.from_unix_ms);
  out.push_back(about(one, std::chrono::duration<double>(std::chrono::milliseconds(ms)).count()));
}

/// `active` is there from the start, so that its first count is visible as an increase.
void transitions(const subject& one, samples& out) {
  bool was_active = false;
  for (const api::transition_count& t : one.election.transitions) {
    out.push_back(about(one, static_cast<double>(t.count)));
    out.back().labels.push_back({"to", std::string(core::name(t.to))});
    out.back().labels.push_back({"reason", std::string(core::name(t.why))});
    was_active = was_active || t.to == core::phase::active;
  }
  if (was_active) return;
  out.push_back(about(one, 0));
  out.back().labels.push_back({"to", std::string(core::name(core::phase::active))});
  out.back().labels.push_back({"reason", std::string(core::name(core::loss_reason::none))});
}

struct election_family {
  title what;
  kind is;
  void (*samples_of)(const subject& one, samples& out);
};

constexpr std::array families{
    election_family{{"tenure_election_state", "1 for the state that this member is in, else 0."},
                    kind::gauge,
                    state},
    election_family{{"tenure_election_active",
                     "1 while this member may act as holder, by the clock of this very answer."},
                    kind::gauge,
                    active},
    election_family{{"tenure_election_version",
                     "Fencing version of the newest holder; absent if there is none, or if it is "
                     "not known."},
                    kind::gauge,
                    newest_version},
    election_family{{"tenure_election_holder_info",
                     "1 for each holder; absent if there is none, or if it is not known."},
                    kind::gauge,
                    holder_info},
    election_family{
        {"tenure_election_slots", "Members that may hold at a time."}, kind::gauge, slots},
    election_family{{"tenure_election_transitions_total",
                     "Changes of this member's state, by the new state and its reason."},
                    kind::counter,
                    transitions},
    election_family{{"tenure_election_last_outage_seconds",
                     "How long no member was active after the newest ended term, or has not been "
                     "until now; absent if it is not known."},
                    kind::gauge,
                    last_outage},
    election_family{{"tenure_lease_stop_in_seconds",
                     "Time until this member stops if no further renewal is acknowledged; absent "
                     "while it holds nothing."},
                    kind::gauge,
                    stop_in},
    election_family{{"tenure_workload_running",
                     "1 while the workload runs; absent if nobody here starts or stops one."},
                    kind::gauge,
                    workload_running},
    election_family{{"leader_election_master_status",
                     "The same as tenure_election_active, for dashboards of client-go: 1 is the "
                     "master, 0 a backup."},
                    kind::gauge,
                    master_status},
};

void write_family(const election_family& one, const api::snapshot& seen, const clock_reader& at,
                  std::string& page) {
  bool begun = false;
  for (std::size_t from = 0; from < seen.elections.size(); from += elections_in_a_piece) {
    const std::size_t to = std::min(from + elections_in_a_piece, seen.elections.size());
    const api::instant now = at();
    family piece{.what = one.what, .is = one.is};
    for (std::size_t i = from; i < to; ++i) {
      one.samples_of({.election = seen.elections[i], .seen = seen, .at = now}, piece.samples);
    }
    if (piece.samples.empty()) continue;
    if (std::exchange(begun, true)) {
      write_more(piece, page);
    } else {
      write(piece, page);
    }
  }
}

}  // namespace

void write_elections(const api::snapshot& seen, const clock_reader& at, std::string& page) {
  for (const election_family& one : families) write_family(one, seen, at, page);
}

}  // namespace tenure::metrics
