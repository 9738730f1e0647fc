#include <algorithm>
#include <utility>

#include "core/election.hpp"
#include "core/sometimes.hpp"

/// Who comes next: what a member says of itself, whom it lets come first, for whom it makes way.
namespace tenure::core {
namespace {

/// A holder makes way for nobody within so many TTLs after its own grant, nor for a member that has
/// been ready for a shorter time. So members that come and go do not pass the lease to and fro.
constexpr int hold_down_ttls = 4;

}  // namespace

/// For a term nothing is said: what a holder said before it does not count. After its term it says
/// anew that it is ready, and so comes behind those that have waited.
void election::announce(time_point now, effects& out) {
  if (view_.since == never || adopting()) return;
  if (view_.phase == phase::pending || view_.phase == phase::active) announced_.reset();
  const bool ready = view_.phase == phase::candidate && may_campaign(now);
  const bool stands = ready && comes_first();
  if (std::exchange(stands_in_line_, stands) != stands) {
    out.add(command::stand_in_line{.stands = stands});
  }
  if (view_.phase != phase::candidate || announced_ == ready) return;
  announced_ = ready;
  out.add(command::announce{.ready = ready});
}

/// True if nobody comes before us when the present holder ends. With several slots nobody knows
/// which of the holders that will be.
bool election::comes_first() const {
  return settings_.slots == 1 && view_.seen && view_.seen->members &&
         !view_.seen->holders.empty() && !view_.seen->holders.front().ours &&
         succession_.ahead() == 0;
}

/// Takes note of who comes next, and since when the lease is free.
void election::note_order(const observation& seen, bool room, const moment& at) {
  succession_.observe(seen, settings_.identity, settings_.succeeds);
  const std::optional<member>& now = succession_.next();
  const bool is_same = view_.next == now;
  view_.next = now;
  if (!room) {
    vacant_from_ = never;
  } else if (vacant_from_ == never || !view_.seen || view_.seen->holders != seen.holders) {
    vacant_from_ = at.now;
  }
  const bool outranked = now && now->says && now->says->priority > settings_.succeeds.priority;
  if (!outranked) {
    outranked_from_ = never;
  } else if (outranked_from_ == never || !is_same) {
    outranked_from_ = at.now;
  }
}

/// When a candidate may try, as far as others come first. A workload that an earlier agent left
/// running cannot wait for anybody.
time_point election::turn(const moment& at) const {
  if (adopting()) return at.now;
  return std::max(
      {at.now, heir_first_until_, vacant_from_ == never ? at.now : behind(vacant_from_, at)});
}

/// When it may try if the lease is free from then on.
time_point election::behind(time_point free_from, const moment& at) const {
  if (free_from == never || adopting()) return free_from;
  return later(free_from, pause_behind(succession_.ahead(), settings_.when, at.entropy));
}

/// `never`: it makes way for nobody.
time_point election::makes_way_at() const {
  if (!settings_.succeeds.preempt || settings_.slots != 1 || outranked_from_ == never) return never;
  return later(std::max(outranked_from_, view_.since), hold_down_ttls * settings_.when.ttl);
}

void election::make_way(const moment& at, effects& out) {
  if (at.now < makes_way_at()) return;
  TENURE_SOMETIMES(made_way);
  const std::string heir = view_.next->identity;
  give_up(loss_reason::preempted, drained_by(at), at, out).heir = heir;
}

}  // namespace tenure::core
