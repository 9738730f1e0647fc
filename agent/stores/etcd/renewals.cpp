#include "stores/etcd/renewals.hpp"

#include <algorithm>
#include <utility>

#include "os/boot_time.hpp"

namespace tenure::stores::etcd {
namespace {

/// Why a key of ours is gone, by what is there instead.
core::loss_reason loss_with(const mirror& others) {
  return others.contenders().empty() ? core::loss_reason::revoked : core::loss_reason::taken_over;
}

}  // namespace

bool renewals::ours(const core::renewal_item& item) const {
  const auto& held = session_.held(item.which);
  return held && held->term == item.term;
}

void renewals::renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) {
  auto t = std::make_shared<turn>();
  t->items = std::move(items);
  t->deadline = deadline;
  t->done = std::move(done);
  t->so_far.sent_at = core::never;
  t->so_far.ttl = core::duration::max();
  // One, but for terms that an earlier life of this agent has left.
  std::set<std::int64_t> leases;
  for (const core::renewal_item& item : t->items) {
    if (ours(item)) leases.insert(session_.held(item.which)->lease);
  }
  t->unanswered = leases.size();
  if (leases.empty()) return finish(t);
  for (const std::int64_t lease : leases) {
    session_.leases.keep(
        lease, deadline,
        session_.guarded([this, t, lease](const kept_or_failure& what) { kept(t, lease, what); }));
  }
}

void renewals::kept(const turn_ptr& t, std::int64_t lease, const kept_or_failure& what) {
  if (t->failed) return;
  if (!what) return fail(t, {what.error()});
  if (!what->has_value()) {
    t->dead.insert(lease);
  } else {
    t->so_far.sent_at = std::min(t->so_far.sent_at, (*what)->sent_at);
    t->so_far.ttl = std::min(t->so_far.ttl, (*what)->ttl);
    t->revision = std::max(t->revision, (*what)->revision);
    t->raft_term = (*what)->raft_term;
    // A new leader, or an etcd that knows less than before: one that was restored, or is behind.
    if (raft_term_ != 0 && t->raft_term != raft_term_) t->doubtful = true;
    if ((*what)->revision < revision_) t->doubtful = true;
  }
  if (--t->unanswered > 0) return;
  if (t->doubtful || !up_to_date(*t)) return verify_from(t, 0);
  finish(t);
}

bool renewals::up_to_date(const turn& t) const {
  return std::ranges::all_of(t.items, [&](const core::renewal_item& item) {
    if (!ours(item) || session_.held(item.which)->proven >= t.revision) return true;
    return session_.connection.live() && session_.seen(item.which).revision() >= t.revision;
  });
}

/// Reads the elections, some at a time.
void renewals::verify_from(const turn_ptr& t, std::size_t first) {
  std::vector<core::renewal_item> some;
  std::vector<key_range> ranges;
  std::size_t next = first;
  for (; next < t->items.size() && some.size() < most_operations; ++next) {
    if (!ours(t->items[next])) continue;
    some.push_back(t->items[next]);
    ranges.push_back(session_.ranges[core::place(t->items[next].which)]);
  }
  if (some.empty()) return finish(t);
  session_.members.call(
      transaction_path, transaction_request(read_transaction(ranges)), t->deadline,
      session_.guarded([this, t, next, some = std::move(some)](const reply_or_failure& what) {
        if (!what) return fail(t, {what.error().why});
        const auto read = reads_in(what->body, some.size());
        if (!read) return fail(t, session_.broken_reply(read.error()));
        for (std::size_t i = 0; i < some.size(); ++i) {
          if (!ours(some[i])) continue;
          const std::uint64_t revision = read->header.revision;
          const mirror now = session_.as_read(some[i].which, read->values[i], revision);
          held_term& held = *session_.held(some[i].which);
          if (now.find(held.key, core::number(held.term)) != nullptr) {
            held.proven = revision;
          } else {
            t->so_far.lost.push_back({.which = some[i].which, .why = loss_with(now)});
          }
        }
        verify_from(t, next);
      }),
      priority::urgent);
}

void renewals::finish(const turn_ptr& t) {
  renewal& out = t->so_far;
  if (t->raft_term != 0) {
    raft_term_ = t->raft_term;
    revision_ = t->revision;
  }
  for (const core::renewal_item& item : t->items) {
    const bool known = std::ranges::any_of(
        out.lost, [&](const core::renewal_loss& l) { return l.which == item.which; });
    if (known) continue;
    if (const auto why = loss(*t, item)) out.lost.push_back({.which = item.which, .why = *why});
  }
  if (out.sent_at == core::never) {
    // No lease of ours is alive: all terms are lost, and nobody looks at these.
    out.sent_at = os::boot_now();
    out.ttl = session_.with.ttl;
  }
  session_.answer(std::move(t->done), renew_outcome(std::move(out)));
}

/// Why this term is over, by etcd's own word.
std::optional<core::loss_reason> renewals::loss(const turn& in,
                                                const core::renewal_item& item) const {
  const mirror& m = session_.seen(item.which);
  if (ours(item)) {
    const held_term& held = *session_.held(item.which);
    if (in.dead.contains(held.lease)) return core::loss_reason::session_invalid;
    const bool current = session_.connection.live() && m.revision() >= core::number(item.term);
    if (!current || m.find(held.key, core::number(held.term)) != nullptr) return {};
  }
  return loss_with(m);
}

void renewals::fail(const turn_ptr& t, unknown why) {
  t->failed = true;
  session_.answer(std::move(t->done), renew_outcome(std::move(why)));
}

}  // namespace tenure::stores::etcd
