#include "runtime/election_lines.hpp"

#include <algorithm>
#include <utility>

namespace tenure::runtime {
namespace {

/// An end of which nobody says a word within this time was not seen to by this agent.
constexpr core::duration in_time = std::chrono::milliseconds(500);

}  // namespace

void election_lines::observed(log& to, const speaker& who, const core::election& one,
                              const core::observation& seen, core::time_point now) {
  expires_at_ = seen.expires_at;
  if (seen.holders.empty()) {
    if (last_ && !vacant_since_) vacant_since_ = now;
  } else if (!seen.holders.front().ours) {
    vacant_since_.reset();
  }
  // Of what we hold ourselves our own lines speak.
  if (!one.holding()) say_holders(to, who, one.view().phase, seen);
  if (!seen.holders.empty()) last_ = seen.holders.front();
}

void election_lines::say_holders(log& to, const speaker& who, core::phase state,
                                 const core::observation& seen) {
  if (state != core::phase::candidate && state != core::phase::observer) return;
  const bool nobody = seen.holders.empty();
  // The watch may show what we were granted before the answer is here, or what we have released
  // after it was.
  if (!nobody && seen.holders.front().ours) return;
  const core::version first = nobody ? core::no_version : seen.holders.front().term;
  if (std::exchange(said_, first) == first) return;
  if (!nobody) {
    return state == core::phase::observer ? say_held(to, who, seen.holders)
                                          : say_standing_by(to, who, seen.holders);
  }
  // A candidate that has seen no holder campaigns, and that is what its next line is about.
  if (!last_ && state == core::phase::candidate) return;
  vacancy what{.state = state};
  // How our own term ended is in the lines before.
  if (last_ && !last_->ours) {
    what.last = last_->identity;
    if (seen.parting && seen.parting->term == last_->term) {
      what.why = seen.parting->why == core::loss_reason::none ? "without a reason"
                                                              : core::name(seen.parting->why);
    }
  }
  say_vacant(to, who, what);
}

std::optional<core::duration> election_lines::vacant_for(core::time_point now) const {
  if (vacant_since_) return now - *vacant_since_;
  // A store that shows no end of a lease says when it is.
  if (last_ && expires_at_ <= now) return now - expires_at_;
  return std::nullopt;
}

void election_lines::changed(log& to, const speaker& who, const core::election& one,
                             const core::command::transition& what, term_end end,
                             core::time_point now) {
  using core::phase;
  const std::optional<core::lease>& lease = one.view().lease;
  const core::version term = lease ? lease->term : core::no_version;
  if (what.to == phase::pending || what.to == phase::active) held_ = term;
  switch (what.to) {
    case phase::pending:
      if (!vacant_since_ && last_ && expires_at_ <= now) vacant_since_ = expires_at_;
      return say_granted(to, who, term, one.settings().when.lock_delay);
    case phase::active:
      if (one.view().workload_running) {
        say_active_again(to, who, term);
      } else {
        say_active(to, who, term, vacant_for(now));
      }
      vacant_since_.reset();
      last_ = core::holder{.identity = std::string(who.identity), .term = term, .ours = true};
      return;
    case phase::draining:
      return ending(to, who, one, what, std::move(end), now);
    case phase::candidate:
      released(to, who, what, now);
      return standby(to, who, one, what, now);
    case phase::stopped:
      return released(to, who, what, now);
    case phase::observer:
      return;
  }
}

void election_lines::ending(log& to, const speaker& who, const core::election& one,
                            const core::command::transition& what, term_end end,
                            core::time_point now) {
  // A step that ends it may have forgotten it by now.
  const std::optional<core::lease>& lease = one.view().lease;
  end.term = lease ? lease->term : held_;
  // A member that holds nothing and runs nothing has nothing to give up.
  if (end.term == core::no_version && !end.time_to_stop) return;
  vacant_since_ = now;
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

/// Of what is lost, or has run out, the store has released nothing.
void election_lines::released(log& to, const speaker& who, const core::command::transition& what,
                              core::time_point now) {
  const auto until = std::exchange(releasing_until_, std::nullopt);
  if (!until || now >= *until || core::is_loss(what.why)) return;
  say_released(to, who, held_);
}

void election_lines::standby(log& to, const speaker& who, const core::election& one,
                             const core::command::transition& what, core::time_point now) {
  const core::election_view& view = one.view();
  said_.reset();
  held_ = core::no_version;
  const core::time_point until = one.aside_until();
  say_aside(to, who, what.why, view.paused ? core::duration::max() : until - now);
  if (view.seen) say_holders(to, who, core::phase::candidate, *view.seen);
}

}  // namespace tenure::runtime
