#include "runtime/election_lines.hpp"

#include <algorithm>
#include <utility>

namespace tenure::runtime {
namespace {

/// If nobody reports an end within this time, this agent was not there to handle it.
constexpr core::duration in_time = std::chrono::milliseconds(500);

/// True if the holder of `held` has released it.
bool has_released(const core::observation& seen, const core::holder& held) {
  return seen.last_release && seen.last_release->version == held.version;
}

}  // namespace

void election_lines::observed(log::logger& to, const log::speaker& who, const core::election& one,
                              const core::observation& seen, const circumstances& at) {
  const std::uint32_t slots = one.view().seen ? one.view().seen->agreed.slots : 0;
  const bool has_changed = slots != 0 && seen.agreed.slots != 0 && seen.agreed.slots != slots;
  if (has_changed) say_slots(to, who, seen.agreed.slots, slots);
  // Our own lines describe what we hold ourselves.
  if (!one.holding()) {
    say_holders(to, who, one.view(), one.view().phase, seen, at);
    say_passed(to, who, one.view().phase, seen, at.now);
    say_vanished(to, who, one.view(), seen, at.now);
  }
  if (seen.holders.empty()) return;
  last_ = seen.holders.front();
  expires_at_ = seen.expires_at;
}

/// A store may list its living members, and so show the death of a holder before its lease ends.
void election_lines::say_vanished(log::logger& to, const log::speaker& who,
                                  const core::election_view& before, const core::observation& seen,
                                  core::time_point now) {
  if (!before.seen || !before.seen->members || !seen.members) return;
  for (const core::holder& held : seen.holders) {
    const bool vanishes = before.seen->members->find(held.identity) != nullptr &&
                          seen.members->find(held.identity) == nullptr;
    if (!vanishes || held.ours) continue;
    const bool is_known = seen.expires_at != core::never && seen.holders.size() == 1;
    runtime::say_vanished(to, who, held.identity,
                          is_known ? std::optional(seen.expires_at - now) : std::nullopt,
                          before.next ? before.next->identity : "");
  }
}

void election_lines::say_holders(log::logger& to, const log::speaker& who,
                                 const core::election_view& view, core::phase state,
                                 const core::observation& seen, const circumstances& at) {
  if (state != core::phase::candidate && state != core::phase::observer) return;
  const bool nobody = seen.holders.empty();
  // The watch may show our grant before its answer is here, or a term that we have released since.
  if (!nobody && seen.holders.front().ours) return;
  if (nobody && !at.store_answers) return;
  const core::version first = nobody ? core::no_version : seen.holders.front().version;
  if (std::exchange(said_, first) == first) return;
  if (!nobody) {
    return state == core::phase::observer ? say_held(to, who, seen.holders)
                                          : say_standing_by(to, who, seen.holders);
  }
  // A candidate that has seen no holder, or knows that the lease has run out, campaigns; its next
  // line says so.
  const bool campaigns =
      state == core::phase::candidate && view.held_back.why == core::campaign_obstacle::none;
  const bool released = last_ && has_released(seen, *last_);
  if (campaigns && (!last_ || (ran_out(at.now) && !released))) return;
  say_vacant(to, who, vacancy_of(state, seen, at.now));
}

/// A release may have granted the lease to us: then the watch shows no moment without a holder.
void election_lines::say_passed(log::logger& to, const log::speaker& who, core::phase state,
                                const core::observation& seen, core::time_point now) {
  const bool is_passed = state == core::phase::candidate && !seen.holders.empty() &&
                         seen.holders.front().ours && last_ && !last_->ours &&
                         said_ != core::no_version && has_released(seen, *last_);
  if (!is_passed) return;
  said_ = core::no_version;
  say_vacant(to, who, vacancy_of(state, seen, now));
}

vacancy election_lines::vacancy_of(core::phase state, const core::observation& seen,
                                   core::time_point now) const {
  vacancy out{.state = state};
  // The lines before say how our own term ended.
  if (!last_ || last_->ours) return out;
  out.last = last_->identity;
  if (has_released(seen, *last_)) {
    out.why = seen.last_release->why == core::loss_reason::none
                  ? "without a reason"
                  : core::name(seen.last_release->why);
  } else {
    out.deleted = expires_at_ != core::never && !ran_out(now);
  }
  return out;
}

void election_lines::changed(log::logger& to, const log::speaker& who, const core::election& one,
                             const core::command::transition& what, term_end end,
                             const std::optional<api::outage>& outage, const circumstances& at) {
  using core::phase;
  const std::optional<core::lease>& lease = one.view().lease;
  const core::version version = lease ? lease->version : core::no_version;
  if (what.to == phase::pending || what.to == phase::active) held_ = version;
  switch (what.to) {
    case phase::pending:
      return say_granted(to, who, version, one.settings().when.lock_delay);
    case phase::active:
      if (one.view().workload_running) {
        say_active_again(to, who, version);
      } else {
        say_active(to, who, version, outage);
      }
      expires_at_ = core::never;
      last_ = core::holder{.identity = std::string(who.identity), .version = version, .ours = true};
      return;
    case phase::draining:
      return ending(to, who, one, what, end, at.now);
    case phase::candidate:
      released(to, who, what, at.now);
      return standby(to, who, one, what, at);
    case phase::stopped:
      return released(to, who, what, at.now);
    case phase::observer:
      return;
  }
}

void election_lines::ending(log::logger& to, const log::speaker& who, const core::election& one,
                            const core::command::transition& what, term_end end,
                            core::time_point now) {
  // A step that ends the lease may have cleared it already.
  const std::optional<core::lease>& lease = one.view().lease;
  end.version = lease ? lease->version : held_;
  // A member that holds nothing and runs nothing has nothing to give up.
  if (end.version == core::no_version && !end.time_to_stop) return;
  end.why = what.why;
  end.heir = one.heir();
  if (lease && core::is_loss(what.why) && now >= lease->stop_at + in_time) {
    end.ran_out_ago = now - lease->stop_at;
  }
  say_ending(to, who, end);
}

void election_lines::releasing(core::time_point safe_until) {
  releasing_until_ = safe_until;
}

void election_lines::not_released() {
  releasing_until_.reset();
}

/// A lost or expired lease was not released by the store.
void election_lines::released(log::logger& to, const log::speaker& who,
                              const core::command::transition& what, core::time_point now) {
  const auto until = std::exchange(releasing_until_, std::nullopt);
  if (!until || now >= *until || core::is_loss(what.why)) return;
  say_released(to, who, held_);
}

void election_lines::standby(log::logger& to, const log::speaker& who, const core::election& one,
                             const core::command::transition& what, const circumstances& at) {
  const core::election_view& view = one.view();
  said_.reset();
  held_ = core::no_version;
  const core::time_point until = one.aside_until();
  say_aside(to, who, what.why, view.paused ? core::duration::max() : until - at.now);
  if (view.seen) say_holders(to, who, view, core::phase::candidate, *view.seen, at);
}

}  // namespace tenure::runtime
