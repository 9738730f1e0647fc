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

std::optional<core::holder> find(const std::vector<core::holder>& among, core::version version) {
  const auto found = std::ranges::find(among, version, &core::holder::version);
  return found == among.end() ? std::nullopt : std::optional(*found);
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
  if (const auto match = find(known.holders, asked.version)) {
    return !asked.holder || *asked.holder == match->identity ? validity::valid
                                                             : validity::other_holder;
  }
  if (find(known.shown, asked.version)) return validity::ending;

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

std::string_view name(validity what) {
  static constexpr std::array<std::string_view, 6> names{"valid",       "superseded",   "not_held",
                                                         "not_granted", "other_holder", "ending"};
  TENURE_CHECK(is_certain(what));
  return names[static_cast<std::size_t>(what)];
}

verdict judge(const term_question& asked, const election_snapshot& election, const snapshot& seen,
              const instant& at) {
  const core::election_view& view = election.view;
  const std::string& identity = seen.identity;
  verdict out;
  if (held_by_us(view, at.now) && (election.slots == 1 || view.lease->version == asked.version)) {
    const std::vector<core::holder> ours{
        {.identity = identity, .version = view.lease->version, .ours = true}};
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
