#include "stores/consul/renewals.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/layout.hpp"
#include "stores/consul/semaphore_codec.hpp"

namespace tenure::stores::consul {

bool renewals::ours(const core::renewal_item& item) const {
  const auto& held = shared_.held(item.which);
  return held && held->version == item.version;
}

void renewals::renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) {
  auto t = std::make_shared<turn>();
  t->items = std::move(items);
  t->deadline = deadline;
  t->done = std::move(done);
  t->so_far.sent_at = core::never;
  t->so_far.ttl = core::duration::max();
  // One session, except for terms that an earlier run of this agent has left.
  std::set<std::string> sessions;
  std::vector<core::renewal_item> to_look;
  for (const core::renewal_item& item : t->items) {
    if (!ours(item)) continue;
    sessions.insert(shared_.held(item.which)->session);
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
}

void renewals::kept(const turn_ptr& t, const std::string& session, const kept_or_failure& what) {
  if (!what) return fail(t, {what.error()});
  if (what->has_value()) {
    t->so_far.sent_at = std::min(t->so_far.sent_at, (*what)->sent_at);
    t->so_far.ttl = std::min(t->so_far.ttl, (*what)->ttl);
  } else {
    t->dead.insert(session);
  }
  answered(t);
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
      lose(t, item, now->at);
    }
    look_closer(t);
  });
}

// The end --------------------------------------------------------------------------------------

/// Records that the term is over. What is there instead says why.
void renewals::lose(const turn_ptr& t, const core::renewal_item& item, const mirror& now) {
  const bool taken =
      std::ranges::any_of(now.holders(), [](const slot_holder& one) { return !one.ours; });
  t->so_far.lost.push_back(
      {.which = item.which,
       .why = taken ? core::loss_reason::taken_over : core::loss_reason::revoked});
}

/// Counts one answer that was awaited.
void renewals::answered(const turn_ptr& t) {
  if (--t->unanswered > 0 || t->over) return;
  renewal& out = t->so_far;
  for (const core::renewal_item& item : t->items) {
    const auto is_this = [&](const core::renewal_loss& one) { return one.which == item.which; };
    if (ours(item) && t->dead.contains(shared_.held(item.which)->session)) {
      std::erase_if(out.lost, is_this);
      out.lost.push_back({.which = item.which, .why = core::loss_reason::session_invalid});
    } else if (!ours(item) && std::ranges::none_of(out.lost, is_this)) {
      // Not ours when the renewal was asked for, or released since.
      lose(t, item, shared_.seen(item.which));
    }
  }
  std::ranges::sort(out.lost, {}, &core::renewal_loss::which);
  if (out.ttl == core::duration::max()) {
    // No session of ours is alive: all terms are lost, so these values do not matter.
    out.sent_at = shared_.loop.now();
    out.ttl = shared_.with.ttl;
  }
  shared_.answer(std::move(t->done), renew_outcome(std::move(out)));
}

void renewals::fail(const turn_ptr& t, unknown why) {
  if (std::exchange(t->over, true)) return;
  shared_.answer(std::move(t->done), renew_outcome(std::move(why)));
}

}  // namespace tenure::stores::consul
