#include "stores/etcd/renewals.hpp"

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"

namespace tenure::stores::etcd {

bool renewals::ours(const core::renewal_item& item) const {
  const auto& held = session_.held(item.which);
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
  // One lease, except for terms that an earlier run of this agent has left.
  std::set<std::int64_t> leases;
  for (const core::renewal_item& item : t->items) {
    if (ours(item)) leases.insert(session_.held(item.which)->lease);
  }
  t->unanswered = leases.size() + 1;
  for (const std::int64_t lease : leases) {
    session_.leases.keep(
        lease, deadline,
        session_.guarded([this, t, lease](const kept_or_failure& what) { kept(t, lease, what); }));
  }
  look(t);
}

void renewals::kept(const turn_ptr& t, std::int64_t lease, const kept_or_failure& what) {
  if (t->over) return;
  if (!what) return fail(t, {what.error()});
  if (what->has_value()) {
    t->so_far.sent_at = std::min(t->so_far.sent_at, (*what)->sent_at);
    t->so_far.ttl = std::min(t->so_far.ttl, (*what)->ttl);
    t->kept.push_back(**what);
  } else {
    t->dead.insert(lease);
  }
  answered(t);
}

// The look -------------------------------------------------------------------------------------

void renewals::look(const turn_ptr& t) {
  const auto first = std::ranges::find_if(t->items, [&](const auto& item) { return ours(item); });
  if (first == t->items.end()) return answered(t);
  const bool many = t->items.size() > most_operations;
  const bool was_silent = std::exchange(watch_is_asked_, false);
  if (many && !was_silent && session_.connection.tells_progress()) return follow_watch(t, *first);
  read_keys(t, 0);
}

/// Reads a limited number of keys per request.
void renewals::read_keys(const turn_ptr& t, std::size_t first) {
  if (t->over) return;
  std::vector<core::renewal_item> some;
  std::size_t next = first;
  for (; next < t->items.size() && some.size() < most_operations; ++next) {
    if (ours(t->items[next])) some.push_back(t->items[next]);
  }
  if (some.empty()) return answered(t);
  read(t, some, [this, t, next, some](const reads& found) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!ours(some[i])) continue;
      const std::uint64_t version = core::number(some[i].version);
      const auto is_ours = [&](const key_value& kv) { return kv.create_revision == version; };
      if (std::ranges::none_of(found.values[i], is_ours)) {
        t->lost[some[i].which] = why_gone(some[i].which);
      }
    }
    read_keys(t, next);
  });
  // The analyzer does not see who owns what a std::move_only_function holds.
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)

/// Checks how far the quorum is, and waits until the watch is there, too.
void renewals::follow_watch(const turn_ptr& t, const core::renewal_item& any) {
  read(t, {any}, [this, t](const reads& found) {
    // The read may have moved on to another endpoint; the watch follows it.
    if (!session_.connection.tells_progress()) return read_keys(t, 0);
    watch_is_asked_ = true;
    // The watch may break first, or stay silent, as a new one does for a moment. Then half of the
    // remaining time is left for reading the keys.
    const core::time_point now = session_.loop.now();
    t->patience = std::make_unique<base::timer>(session_.loop);
    t->patience->at(now + (t->deadline - now) / 2, session_.guarded([this, t] {
      if (t->over) return;
      t->patience.reset();
      read_keys(t, 0);
    }));
    session_.connection.await(found.header.revision, session_.guarded([this, t] {
      watch_is_asked_ = false;
      if (t->over || !t->patience) return;
      t->patience.reset();
      watch_got_there(t);
    }));
  });
}

void renewals::watch_got_there(const turn_ptr& t) {
  for (const core::renewal_item& item : t->items) {
    if (!ours(item)) continue;
    const held_term& held = *session_.held(item.which);
    if (session_.seen(item.which).find(held.key, core::number(item.version)) == nullptr) {
      t->lost[item.which] = why_gone(item.which);
    }
  }
  answered(t);
}

/// Reads their keys, linearizable. The result, and every conclusion from it, is as of an instant
/// after the read was sent.
void renewals::read(const turn_ptr& t, const std::vector<core::renewal_item>& some,
                    std::move_only_function<void(const reads&)> then) {
  transaction keys;
  for (const auto& item : some) {
    keys.then.emplace_back(range{.key = session_.held(item.which)->key, .end = {}});
  }
  session_.endpoints.call(
      transaction_path, transaction_request(keys), t->deadline,
      session_.guarded([this, t, count = some.size(),
                        then = std::move(then)](const reply_or_failure& what) mutable {
        if (t->over) return;
        if (!what) return fail(t, {what.error().why});
        const auto found = reads_in(what->body, count);
        if (!found) return fail(t, session_.broken_reply(found.error()));
        t->so_far.sent_at = std::min(t->so_far.sent_at, what->sent_at);
        if (found->header.raft_term >= t->by.raft_term) {
          t->by = {.raft_term = found->header.raft_term, .endpoint = what->endpoint};
        }
        then(*found);
      }),
      priority::urgent);
}

// The end --------------------------------------------------------------------------------------

/// Why our term in this election is over: what is there instead, as far as the watch shows it.
core::loss_reason renewals::why_gone(core::election_index which) const {
  const auto others = session_.seen(which).contenders();
  const bool taken = std::ranges::any_of(others, [](const contender& c) { return !c.ours; });
  return taken ? core::loss_reason::taken_over : core::loss_reason::revoked;
}

/// What is known so far; nothing: no loss.
std::optional<core::loss_reason> renewals::loss_of(const turn& t,
                                                   const core::renewal_item& item) const {
  // Not ours when the renewal was asked for, or released since.
  if (!ours(item)) return why_gone(item.which);
  if (t.dead.contains(session_.held(item.which)->lease)) return core::loss_reason::session_invalid;
  const auto found = t.lost.find(item.which);
  return found == t.lost.end() ? std::nullopt : std::optional(found->second);
}

/// Counts one answer that was awaited.
void renewals::answered(const turn_ptr& t) {
  if (--t->unanswered > 0) return tell_losses(t);
  for (const kept_lease& one : t->kept) {
    if (auto good = session_.believe(one, t->by); !good) return fail(t, std::move(good.error()));
  }
  finish(t, {});
}

/// Answers the renewal before everything is known, if all of it is lost, or a lease is gone: its
/// terms need not wait for the answer to a look, which may be long under way.
void renewals::tell_losses(const turn_ptr& t) {
  const auto is_lost = [&](const auto& one) { return loss_of(*t, one).has_value(); };
  if (!t->dead.empty() || std::ranges::all_of(t->items, is_lost)) {
    TENURE_SOMETIMES(etcd_loss_told_before_the_rest);
    finish(t, "another term's loss was told before the rest was answered");
  }
}

/// What is known of losses counts all the same.
void renewals::fail(const turn_ptr& t, unknown why) {
  if (t->over) return;
  const auto is_lost = [&](const auto& one) { return loss_of(*t, one).has_value(); };
  if (std::ranges::any_of(t->items, is_lost)) return finish(t, std::move(why.why));
  t->over = true;
  session_.answer(std::move(t->done), renew_outcome(std::move(why)));
}

/// With `why_unanswered`, the terms that are not lost may not be renewed.
void renewals::finish(const turn_ptr& t, std::optional<std::string> why_unanswered) {
  t->over = true;
  renewal& out = t->so_far;
  for (const core::renewal_item& item : t->items) {
    if (const auto why = loss_of(*t, item)) {
      out.lost.push_back({.which = item.which, .why = *why});
    } else if (why_unanswered) {
      out.unanswered.push_back({.which = item.which, .why = *why_unanswered});
    }
  }
  std::ranges::sort(out.lost, {}, &core::renewal_loss::which);
  if (why_unanswered || out.ttl == core::duration::max()) {
    // Nothing is renewed, so these values do not matter.
    out.sent_at = session_.loop.now();
    out.ttl = session_.with.ttl;
  }
  session_.answer(std::move(t->done), renew_outcome(std::move(out)));
}

}  // namespace tenure::stores::etcd
