#include "stores/consul/renewals.hpp"

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/semaphore_codec.hpp"

namespace tenure::stores::consul {
namespace {

/// How long a loss waits for the answer that may show room, where a lock-delay may leave some.
/// Short, as without room the next holder may be there already.
constexpr core::duration room_patience = std::chrono::milliseconds(100);

core::loss_reason why_lost(const mirror& now) {
  const bool taken =
      std::ranges::any_of(now.holders(), [](const slot_holder& one) { return !one.ours; });
  return taken ? core::loss_reason::taken_over : core::loss_reason::revoked;
}

}  // namespace

bool renewals::ours(const core::renewal_item& item) const {
  const auto& held = shared_.held(item.which);
  return held && held->version == item.version;
}

void renewals::renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) {
  auto t = std::make_shared<turn>();
  newest_ = t;
  t->items = std::move(items);
  t->deadline = deadline;
  t->done = std::move(done);
  t->so_far.sent_at = core::never;
  t->so_far.ttl = core::duration::max();
  // One session, except for terms that an earlier run of this agent has left.
  std::set<std::string, std::less<>> sessions;
  std::vector<core::renewal_item> to_look;
  for (const core::renewal_item& item : t->items) {
    if (!ours(item)) continue;
    const held_term& held = *shared_.held(item.which);
    (held.is_session_gone ? t->dead : sessions).insert(held.session);
    to_look.push_back(item);
  }
  t->unanswered = sessions.size() + 1;
  for (const std::string& session : sessions) {
    shared_.sessions.keep(session, deadline,
                          shared_.guarded([this, t, session](const kept_or_failure& what) {
                            kept(t, session, what);
                          }));
  }
  look(t, std::move(to_look));
  tell_losses(t);
}

void renewals::kept(const turn_ptr& t, const std::string& session, const kept_or_failure& what) {
  if (t->over) return;
  if (!what) return fail(t, {what.error()});
  if (what->has_value()) {
    t->so_far.sent_at = std::min(t->so_far.sent_at, (*what)->sent_at);
    t->so_far.ttl = std::min(t->so_far.ttl, (*what)->ttl);
  } else {
    t->dead.insert(session);
  }
  answered(t);
}

void renewals::session_is_gone(const std::string& id) {
  // Even if no renewal is under way: the next one need not ask again.
  shared_.session_is_gone(id);
  const turn_ptr t = newest_.lock();
  if (!t || t->over) return;
  t->dead.insert(id);
  tell_losses(t);
}

// The look -------------------------------------------------------------------------------------

/// Looks at a limited number of keys per request.
void renewals::look(const turn_ptr& t, std::vector<core::renewal_item> left) {
  if (t->over) return;
  std::vector<core::renewal_item> some;
  std::vector<operation> checks;
  std::vector<std::size_t> item_of;  // per operation
  while (!left.empty() && checks.size() + 2 <= most_operations) {
    const core::renewal_item item = left.back();
    left.pop_back();
    if (!ours(item)) continue;
    const held_term& held = *shared_.held(item.which);
    const std::string lock = lock_key(shared_.spec(item.which).name);
    checks.emplace_back(check_index{.key = held.key, .index = held.index});
    // The key of a contender of a semaphore says only that we want to hold.
    if (held.key != lock) checks.emplace_back(fetch{lock});
    item_of.resize(checks.size(), some.size());
    some.push_back(item);
  }
  if (some.empty()) return look_closer(t);
  shared_.transact(
      checks, t->deadline,
      [this, t, some, item_of,
       left = std::move(left)](std::expected<transacted, unknown> what) mutable {
        if (t->over) return;
        if (!what) return fail(t, std::move(what.error()));
        // Each was true when it was asked for: a session may be renewed after its key was looked
        // at.
        t->so_far.sent_at = std::min(t->so_far.sent_at, what->sent_at);
        looked_at(t, some, item_of, std::move(left), *what);
      },
      priority::urgent);
}

void renewals::looked_at(const turn_ptr& t, const std::vector<core::renewal_item>& some,
                         const std::vector<std::size_t>& item_of,
                         std::vector<core::renewal_item> left, const transaction_reply& what) {
  std::set<std::size_t> wrong;
  for (const failed_operation& one : what.failed) {
    if (one.why != failure::changed || one.which >= item_of.size()) {
      return fail(t, {shared_.agents.present() + " cannot look at our keys: " + one.what});
    }
    wrong.insert(item_of[one.which]);
  }
  if (what.failed.empty()) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!ours(some[i])) continue;
      const held_term& held = *shared_.held(some[i].which);
      const std::string lock = lock_key(shared_.spec(some[i].which).name);
      if (held.key == lock) continue;
      const auto shown = std::ranges::find(what.shown, lock, &key_value::key);
      const auto body = shown == what.shown.end() ? std::nullopt : parse_semaphore(shown->value);
      if (!body || std::ranges::find(body->holders, held.session) == body->holders.end()) {
        wrong.insert(i);
      }
    }
  }
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (wrong.contains(i)) {
      TENURE_SOMETIMES(consul_key_written_by_others);
      t->suspects.push_back(some[i]);
    } else if (!what.failed.empty()) {
      // Consul says nothing of the others while one is wrong.
      left.push_back(some[i]);
    }
  }
  look(t, std::move(left));
}

/// Reads the elections whose keys were written by others, one by one.
void renewals::look_closer(const turn_ptr& t) {
  if (t->suspects.empty()) return answered(t);
  const core::renewal_item item = t->suspects.back();
  t->suspects.pop_back();
  shared_.read(item.which, t->deadline, [this, t, item](std::expected<looked, unknown> now) {
    if (t->over) return;
    if (!now) return fail(t, std::move(now.error()));
    t->so_far.sent_at = std::min(t->so_far.sent_at, now->sent_at);
    const slot_holder* own = now->at.find_own();
    if (!ours(item)) return look_closer(t);
    if (own != nullptr && own->version == item.version &&
        own->session == shared_.held(item.which)->session) {
      shared_.hold(item.which, *own);
    } else {
      note_loss(t, item, now->at);
    }
    look_closer(t);
  });
}

// The end --------------------------------------------------------------------------------------

/// Records that the term is over. What is there instead says why.
void renewals::note_loss(const turn_ptr& t, const core::renewal_item& item, const mirror& now) {
  const held_term& held = *shared_.held(item.which);
  t->lost[item.which] = {.why = why_lost(now),
                         .ended_with_session = now.lock_is_left_as(held.text, held.lock_index)};
}

bool renewals::is_dead(const turn& t, const core::renewal_item& item) const {
  return t.dead.contains(shared_.held(item.which)->session);
}

/// True if an answer that is awaited may show that the store's lock-delay leaves this term room.
bool renewals::may_have_room(const turn& t, const core::renewal_item& item) const {
  if (!ours(item)) return false;
  const held_term& held = *shared_.held(item.which);
  const bool is_delayed = held.lock_delay > core::duration::zero() &&
                          held.key == lock_key(shared_.spec(item.which).name);
  const auto found = t.lost.find(item.which);
  const bool may_be_left = found == t.lost.end() || found->second.ended_with_session;
  // With both there is nothing to wait for.
  return is_delayed && may_be_left && (found == t.lost.end() || !is_dead(t, item));
}

std::optional<core::renewal_loss> renewals::loss_of(const turn& t,
                                                    const core::renewal_item& item) const {
  const auto found = t.lost.find(item.which);
  // Not ours when the renewal was asked for, or released since.
  if (!ours(item)) {
    return core::renewal_loss{
        .which = item.which,
        .why = found == t.lost.end() ? why_lost(shared_.seen(item.which)) : found->second.why};
  }
  if (!is_dead(t, item)) {
    if (found == t.lost.end()) return std::nullopt;
    return core::renewal_loss{.which = item.which, .why = found->second.why};
  }
  core::renewal_loss out{.which = item.which, .why = core::loss_reason::session_invalid};
  if (found == t.lost.end()) return out;
  if (found->second.ended_with_session) {
    out.room = shared_.held(item.which)->lock_delay;
  } else if (was_taken_before(item.which, found->second.why)) {
    out.why = found->second.why;
  }
  return out;
}

/// True if something else has happened to the key of a term before its session ended.
bool renewals::was_taken_before(core::election_index which, core::loss_reason seen) const {
  const bool is_lock = shared_.held(which)->key == lock_key(shared_.spec(which).name);
  const bool stays = shared_.with.consul.behavior == settings::session_behavior::release;
  return is_lock && (stays || seen == core::loss_reason::taken_over);
}

/// Counts one answer that was awaited.
void renewals::answered(const turn_ptr& t) {
  --t->unanswered;
  tell_losses(t);
}

/// Answers the renewal if that need not wait: everything is known, or a loss is.
void renewals::tell_losses(const turn_ptr& t) {
  if (t->over) return;
  if (t->unanswered == 0) return finish(t);
  const auto is_lost = [&](const core::renewal_item& one) { return loss_of(*t, one).has_value(); };
  const auto is_dead_one = [&](const core::renewal_item& one) {
    return ours(one) && is_dead(*t, one);
  };
  // The others need not wait for the answer to a look that may be long under way.
  if (!std::ranges::all_of(t->items, is_lost) && std::ranges::none_of(t->items, is_dead_one)) {
    return;
  }
  const auto waits = [&](const core::renewal_item& one) {
    return is_lost(one) && may_have_room(*t, one);
  };
  if (std::ranges::none_of(t->items, waits)) return finish(t);
  if (t->patience) return;
  t->patience.emplace(shared_.loop);
  t->patience->after(room_patience, shared_.guarded([this, noted = std::weak_ptr(t)] {
    if (const turn_ptr there = noted.lock()) finish(there);
  }));
}

/// What is known of losses counts all the same.
void renewals::fail(const turn_ptr& t, unknown why) {
  if (t->over) return;
  const auto is_lost = [&](const core::renewal_item& one) { return loss_of(*t, one).has_value(); };
  if (std::ranges::any_of(t->items, is_lost)) {
    t->why_unanswered = std::move(why.why);
    return finish(t);
  }
  t->over = true;
  shared_.answer(std::move(t->done), renew_outcome(std::move(why)));
}

void renewals::finish(const turn_ptr& t) {
  if (std::exchange(t->over, true)) return;
  if (t->patience) t->patience->cancel();
  renewal& out = t->so_far;
  for (const core::renewal_item& item : t->items) {
    if (auto lost = loss_of(*t, item)) {
      out.lost.push_back(*lost);
    } else if (t->unanswered > 0) {
      out.unanswered.push_back({.which = item.which, .why = t->why_unanswered});
    }
  }
  std::ranges::sort(out.lost, {}, &core::renewal_loss::which);
  if (t->unanswered > 0 || out.ttl == core::duration::max()) {
    // Nothing is renewed, so these values do not matter.
    out.sent_at = shared_.loop.now();
    out.ttl = shared_.with.ttl;
  }
  shared_.answer(std::move(t->done), renew_outcome(std::move(out)));
}

}  // namespace tenure::stores::consul
