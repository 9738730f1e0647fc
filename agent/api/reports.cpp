#include "api/reports.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <ranges>
#include <string_view>
#include <utility>

#include "api/change.hpp"
#include "api/obstacle.hpp"

namespace tenure::api {
namespace {

constexpr std::string_view standby = "standby";

std::optional<std::int64_t> whole_ms(const std::optional<core::duration>& d) {
  if (!d) return std::nullopt;
  return std::chrono::floor<std::chrono::milliseconds>(*d).count();
}

std::optional<std::int64_t> aside_for_ms(const election_snapshot& election, const instant& at) {
  const core::time_point until = election.view.aside_until;
  if (until <= at.now || until == core::never) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(until - at.now).count();
}

wire::store_report store_of(const snapshot& seen, const instant& at) {
  return {.kind = seen.store,
          .reachable = seen.contact.reachable(at.now),
          .last_answer_ms = whole_ms(seen.contact.silence(at.now)),
          .why = seen.contact.why(at.now)};
}

std::optional<past_term> last_term_of(const election_snapshot& election) {
  if (!election.terms) return std::nullopt;
  const auto ended =
      std::ranges::find(election.terms->rbegin(), election.terms->rend(), true, &past_term::ended);
  return ended == election.terms->rend() ? std::nullopt : std::optional(*ended);
}

/// Who comes next: nobody is known to while the store does not say who holds.
std::string next_of(const election_snapshot& election, const election_status& is) {
  const auto& next = election.view.next;
  return next && is.holders_known ? next->identity : "";
}

/// What a member says of itself. Who holds has said before its term whether it is ready.
void add_readiness(const core::readiness& says, bool is_standby, wire::member_report& out) {
  out.priority = says.priority;
  if (!is_standby) return;
  out.ready = says.since_unix_ms != 0;
  if (*out.ready) out.ready_since_unix_ms = says.since_unix_ms;
}

/// The members: those that the store lists, and the holders, listed or not.
std::optional<std::vector<wire::member_report>> members_of(const election_snapshot& election,
                                                           const election_status& is,
                                                           const snapshot& seen) {
  if (!election.view.seen || !election.view.seen->members) return std::nullopt;
  std::vector<wire::member_report> out;
  std::ptrdiff_t holders = 0;
  const auto add = [&](const std::string& who, std::string_view state) {
    const auto end = out.begin() + holders;
    const auto there = std::ranges::find(out.begin(), end, who, &wire::member_report::identity);
    if (there != end) return there;
    out.push_back({.identity = who, .state = std::string(state), .is_self = who == seen.identity});
    return std::prev(out.end());
  };
  const auto has_vanished = [&](const core::holder& h) {
    return election.gone && std::ranges::any_of(*election.gone, [&](const gone_member& one) {
             return one.identity == h.identity;
           });
  };
  for (const core::holder& h : is.holders) {
    const std::string_view others = !is.holders_known ? "unknown"
                                    : has_vanished(h) ? "vanished"
                                                      : "active";
    add(h.identity, h.ours ? core::name(is.phase) : others);
    holders = std::ssize(out);
  }
  for (const core::member& one : *election.view.seen->members) {
    const bool is_self = one.identity == seen.identity;
    const bool ours_and_busy = is_self && is.phase != core::phase::candidate && election.campaigns;
    const bool known = is.holders_known || is_self;
    const auto shown = add(one.identity, ours_and_busy ? core::name(is.phase)
                                         : known       ? standby
                                                       : "unknown");
    if (one.says) add_readiness(*one.says, shown->state == standby, *shown);
  }
  return out;
}

/// Why a term is not valid, in words.
std::string refusal_text(const term_question& asked, const verdict& what,
                         const election_snapshot& election,
                         const std::optional<core::holder>& shown) {
  const std::string version = asked.version == core::no_version
                                  ? "the term with this sequencer"
                                  : "version " + std::to_string(core::number(asked.version));
  const std::string of = " of election \"" + election.name + "\"";
  const std::string now = !shown ? "; nobody holds it now"
                                 : "; " + shown->identity + " holds it now, under version " +
                                       std::to_string(core::number(shown->version));
  switch (what.is) {
    case validity::not_granted:
      return version + of + " has not been granted by this store" + now;
    case validity::other_holder:
      return version + of + " is not held by " + asked.holder.value_or("") + now;
    case validity::other_sequencer:
      return version + of + " is in force by another sequencer" + now;
    case validity::ending:
      return version + of + " is being given up, and nobody may act under it any more" + now;
    default:
      return version + of + " is over" + now;
  }
}

}  // namespace

wire::election_report report_of(const election_snapshot& election, const snapshot& seen,
                                const instant& at) {
  const election_status is = status_of(election, seen, at);
  const core::loss_reason loss = election.view.last_loss;
  wire::election_report out{
      .election = election.name,
      .identity = seen.identity,
      .agent = seen.agent,
      .index = index_of(election, seen, at.now),
      .state = std::string(core::name(is.phase)),
      .is_self = is.is_self,
      .holder = is.holder,
      .holders = is.holders,
      .sequencer = is.sequencer,
      .since_unix_ms = is.since_unix_ms,
      .last_loss = loss == core::loss_reason::none ? "" : std::string(core::name(loss)),
      .last_term = last_term_of(election),
      .slots = election.slots,
      .next = next_of(election, is),
      .in_line = election.view.seen && election.view.seen->in_line,
      .members = members_of(election, is, seen),
      .paused = election.view.paused,
      .health = seen.health,
      .cluster_id = seen.cluster_id,
      .holder_known = is.holders_known,
      .holder_age_ms = whole_ms(is.holders_age),
      .expires_in_ms = is.expires_in_ms,
      .aside_for_ms = aside_for_ms(election, at),
      .not_campaigning = obstacle_of(election, seen, at),
      .as_of_unix_ms = at.unix_ms,
      .store = store_of(seen, at)};
  if (election.gone) out.gone = *election.gone;
  if (election.owns_workload) out.workload_running = election.view.workload_running;
  return out;
}

wire::history_report history_of(const election_snapshot& election, const snapshot& seen,
                                const instant& at, std::size_t limit) {
  wire::history_report out{.election = election.name,
                           .identity = seen.identity,
                           .agent = seen.agent,
                           .complete_since_unix_ms = seen.started_unix_ms,
                           .holder_known = holders_known(election, seen.contact, at.now),
                           .store = store_of(seen, at),
                           .as_of_unix_ms = at.unix_ms};
  if (!election.terms) return out;
  for (const past_term& one : *election.terms | std::views::reverse) {
    if (out.terms.size() == limit) break;
    out.terms.push_back(one);
  }
  return out;
}

wire::older_status older_status_of(const election_snapshot& election, const snapshot& seen,
                                   const instant& at) {
  const election_status is = status_of(election, seen, at);
  const bool ours_but_idle = is.holder && is.holder->identity == seen.identity && !is.is_self;
  const auto shown = ours_but_idle ? std::nullopt : is.holder;
  return {.name = shown ? shown->identity : "",
          .is_leader = is.is_self,
          .node = seen.identity,
          .as_of_unix_ms = at.unix_ms,
          .election = election.name,
          .version = shown ? std::optional(shown->version) : std::nullopt};
}

wire::verification verification_of(const term_question& asked, const verdict& what,
                                   const election_snapshot& election, const snapshot& seen,
                                   const instant& at) {
  const auto age = std::chrono::floor<std::chrono::milliseconds>(what.age).count();
  wire::verification out{.valid = what.is == validity::valid,
                         .election = election.name,
                         .asked = asked,
                         .holders = what.holders,
                         .source = std::string(name(what.from)),
                         .as_of_unix_ms = at.unix_ms - age,
                         .age_ms = age,
                         .expires_in_ms = what.expires_in_ms,
                         .identity = seen.identity,
                         .store = store_of(seen, at),
                         .cluster_id = seen.cluster_id};
  const auto in_question = std::ranges::find_if(
      what.holders, [&](const core::holder& one) { return is_about(asked, one); });
  if (in_question != what.holders.end()) {
    out.holder = *in_question;
  } else if (!what.holders.empty()) {
    out.holder = what.holders.front();
  }
  if (out.valid) return out;
  out.reason = name(what.is);
  out.message = refusal_text(asked, what, election, out.holder);
  out.action = "refuse requests stamped with it";
  return out;
}

}  // namespace tenure::api
