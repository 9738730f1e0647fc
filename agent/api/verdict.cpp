#include "api/verdict.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/check.hpp"

namespace tenure::api {
namespace {

/// The facts to judge by.
struct knowledge {
  source from;
  core::version as_of;                ///< the order of versions in the store is known up to here
  std::vector<core::holder> shown;    ///< according to the store
  std::vector<core::holder> holders;  ///< those of `shown` that may act
};

/// The holder of the term in question, by its version if that is given.
const core::holder* find(const std::vector<core::holder>& among, const term_question& asked) {
  const auto found =
      std::ranges::find_if(among, [&](const core::holder& one) { return is_about(asked, one); });
  return found == among.end() ? nullptr : &*found;
}

/// `shown`, without a term of our session that is not, or no longer, ours to act under.
std::vector<core::holder> who_may_act(const std::vector<core::holder>& shown,
                                      const core::election_view& view, core::time_point now) {
  std::vector<core::holder> out;
  std::ranges::copy_if(shown, std::back_inserter(out), [&](const core::holder& h) {
    return !h.ours || (view.lease && view.lease->version == h.version && held_by_us(view, now));
  });
  return out;
}

validity rule(const term_question& asked, const knowledge& known, std::uint32_t slots) {
  const bool is_cached = known.from == source::cache;
  if (const core::holder* const match = find(known.holders, asked)) {
    if (asked.holder && *asked.holder != match->identity) return validity::other_holder;
    if (!asked.sequencer || *asked.sequencer == match->sequencer) return validity::valid;
    // A term may go on by another one, which the watch has not shown yet.
    return is_cached ? validity::behind : validity::other_sequencer;
  }
  if (find(known.shown, asked) != nullptr) return validity::ending;
  // Sequencers have no order.
  if (asked.version == core::no_version) {
    return is_cached ? validity::behind : validity::not_held;
  }

  core::version newest = core::no_version;
  for (const core::holder& h : known.shown) newest = std::max(newest, h.version);
  // A store may queue candidates for a full election under a version that they have already.
  const bool may_wait = known.shown.size() >= slots && asked.version > newest;
  const bool is_ahead = asked.version > known.as_of;
  if (known.from != source::store && (is_ahead || may_wait)) return validity::behind;
  if (is_ahead) return validity::not_granted;
  return slots == 1 && asked.version < newest ? validity::superseded : validity::not_held;
}

}  // namespace

std::string_view name(source what) {
  static constexpr std::array<std::string_view, 3> names{"lease", "cache", "store"};
  return names[static_cast<std::size_t>(what)];
}

bool is_about(const term_question& asked, const core::holder& one) {
  return asked.version == core::no_version ? one.sequencer == asked.sequencer
                                           : one.version == asked.version;
}

std::string_view name(validity what) {
  static constexpr std::array<std::string_view, 7> names{
      "valid",        "superseded",      "not_held", "not_granted",
      "other_holder", "other_sequencer", "ending"};
  TENURE_CHECK(is_certain(what));
  return names[static_cast<std::size_t>(what)];
}

verdict judge(const term_question& asked, const election_snapshot& election, const snapshot& seen,
              const instant& at) {
  const core::election_view& view = election.view;
  const std::string& identity = seen.identity;
  verdict out;
  const core::holder own{.identity = identity,
                         .version = view.lease ? view.lease->version : core::no_version,
                         .ours = true,
                         .sequencer = view.sequencer};
  if (held_by_us(view, at.now) && (election.slots == 1 || is_about(asked, own))) {
    const std::vector<core::holder> ours{own};
    out.from = source::lease;
    out.is = rule(asked,
                  {.from = out.from, .as_of = view.lease->version, .shown = ours, .holders = ours},
                  election.slots);
    out.holders = ours;
    out.expires_in_ms = milliseconds_of(view.lease->stop_at - at.now);
    return out;
  }
  if (!is_vouched_for(election, seen.contact, at.now)) return out;

  const std::vector<core::holder>& shown = view.seen->holders;
  out.age = std::max(core::duration::zero(), at.now - *known_at(election, seen.contact));
  out.holders = who_may_act(shown, view, at.now);
  out.is = rule(
      asked, {.from = out.from, .as_of = view.seen->as_of, .shown = shown, .holders = out.holders},
      election.slots);
  // The store's statement ends there: later events have not been seen.
  if (out.is == validity::valid && at.now >= view.seen->expires_at) out.is = validity::expired;
  return out;
}

verdict judge(const term_question& asked, const election_snapshot& election, const instant& at,
              const fresh_view& fresh) {
  verdict out;
  out.from = source::store;
  out.age = std::max(core::duration::zero(), at.now - fresh.asked_at);
  out.holders = who_may_act(fresh.seen.holders, election.view, at.now);
  out.is = rule(asked,
                {.from = out.from,
                 .as_of = fresh.seen.as_of,
                 .shown = fresh.seen.holders,
                 .holders = out.holders},
                election.slots);
  return out;
}

}  // namespace tenure::api
