#include <algorithm>

#include "stores/sqlite/columns.hpp"
#include "stores/sqlite/lease_table.hpp"

/// What the rows say, within a transaction that `lease_table` has begun.
namespace tenure::stores::sqlite {

std::vector<lease_table::row> lease_table::live_rows(const subject& what, core::time_point now) {
  std::vector<row> found;
  auto rows = select_live_.rows(what.election, self_.boot_id, column(now));
  while (rows.next()) {
    // A copy of a term of ours that is over. Those of others count, as we cannot know.
    if (rows.text(0) == self_.session && version_of(rows.integer(2)) <= history_.floor) continue;
    found.push_back({.session = rows.text(0),
                     .identity = rows.text(1),
                     .version = version_of(rows.integer(2)),
                     .expires_at = instant(rows.integer(3)),
                     .clean = rows.integer(4) != 0,
                     .slot = static_cast<std::uint32_t>(rows.integer(5))});
  }
  return found;
}

lease_table::counters lease_table::count(const subject& what) {
  auto rows = select_counters_.rows(what.election);
  if (!rows.next()) return {};
  return {.newest = version_of(rows.integer(0)), .held = rows.integer(1)};
}

std::optional<core::release_record> lease_table::last_release_of(const subject& what) {
  auto rows = select_release_.rows(what.election);
  if (!rows.next()) return std::nullopt;
  return core::release_record{
      .version = version_of(rows.integer(0)),
      .holder = rows.text(1),
      .why = core::loss_reason_named(rows.text(2)).value_or(core::loss_reason::none),
      .heir = rows.text(3),
      .at_unix_ms = rows.integer(4)};
}

/// 0: nobody has campaigned yet.
std::uint32_t lease_table::agreed_slots(const subject& what) {
  auto rows = select_agreement_.rows(what.election);
  return rows.next() ? static_cast<std::uint32_t>(rows.integer(0)) : 0;
}

std::uint32_t lease_table::slots_of(const subject& what) {
  const std::uint32_t agreed = agreed_slots(what);
  return agreed > 0 ? agreed : what.slots;
}

core::observation lease_table::observe(const subject& what, std::span<const row> live,
                                       const std::optional<place_table::place>& next,
                                       core::time_point now) {
  core::observation seen;
  const core::version newest = count(what).newest;
  saw_version(std::max(newest, history_.floor));
  // What is only set aside has not been granted.
  const bool is_unused = next && next->version == newest && newest != core::no_version;
  seen.as_of =
      std::max(is_unused ? core::version{core::number(newest) - 1} : newest, history_.floor);
  seen.last_release = last_release_of(what);
  // An older copy may bring back an old record, whose heir has had its turn.
  if (seen.last_release && seen.last_release->version <= history_.floor) seen.last_release.reset();
  seen.agreed.slots = agreed_slots(what);
  const std::uint32_t slots = seen.agreed.slots > 0 ? seen.agreed.slots : what.slots;
  for (const row& one : live) {
    const bool ours = one.session == self_.session;
    seen.holders.push_back({.identity = one.identity,
                            .version = one.version,
                            .ours = ours,
                            .slot = one.slot,
                            .sequencer = sequencer(what, one.version)});
    seen.expires_at = std::min(seen.expires_at, one.expires_at);
    seen.identity_in_use = seen.identity_in_use || (!ours && one.identity == self_.identity);
  }
  // With a free slot there is nothing to wait for, unless nothing is granted at all.
  if (live.size() >= slots) seen.retry_at = seen.expires_at;
  if (now < grants_from()) {
    seen.retry_at =
        seen.retry_at == core::never ? grants_from() : std::max(seen.retry_at, grants_from());
  }
  return seen;
}

/// With several slots nobody could tell whose slot a term in line would have.
bool lease_table::may_stand(const subject& what, std::uint32_t agreed,
                            std::span<const row> live) const {
  return what.slots == 1 && agreed <= 1 && live.size() == 1 &&
         live.front().session != self_.session;
}

void lease_table::look_at_place(const subject& what, std::span<const row> live,
                                const std::optional<place_table::place>& next, looked& out) {
  out.seen.in_line = next && next->session == self_.session;
  if (next && !out.seen.in_line) return;
  // After a grant to another member it is written again, with a larger version.
  const bool is_good = next && (live.empty() || next->version == core::no_version ||
                                next->version > live.front().version);
  if (is_good) {
    out.place = place_state::ours;
  } else if (may_stand(what, out.seen.agreed.slots, live)) {
    out.place = place_state::free;
  }
}

std::optional<grant> lease_table::own_term(const subject& what, std::span<const row> live) {
  const auto own = std::ranges::find(live, self_.session, &row::session);
  if (own == live.end()) return std::nullopt;
  return grant_of(what, *own);
}

/// As if this row of ours had been asked for just when it was written.
grant lease_table::grant_of(const subject& what, const row& own) {
  saw_version(own.version);
  beside_.mine().promised(what.election, own.expires_at);
  return grant{.version = own.version,
               .sequencer = sequencer(what, own.version),
               .ttl = self_.ttl,
               .sent_at = own.expires_at - self_.ttl,
               .released_cleanly = own.clean,
               .slot = own.slot};
}

std::string lease_table::sequencer(const subject& what, core::version version) const {
  return cluster_id_ + "/" + std::string(what.election) + "/" +
         std::to_string(core::number(version));
}

}  // namespace tenure::stores::sqlite
