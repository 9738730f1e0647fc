#include "stores/consul/campaigns.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"
#include "stores/free_slot.hpp"

namespace tenure::stores::consul {
namespace {

/// How often one acquire tries again because other contenders came or went in between.
constexpr int most_tries = 10;
/// When to try again while a lock-delay lasts: Consul says that there is one, not how long.
constexpr core::duration after_delay = std::chrono::milliseconds(500);

/// The slot of a term whose key no longer says which one it has.
std::uint32_t slot_beside(std::span<const slot_holder> holders, const slot_holder& own) {
  std::vector<slot_holder> others(holders.begin(), holders.end());
  std::erase_if(others, [&](const slot_holder& one) { return one.session == own.session; });
  return free_slot(others, &slot_holder::slot);
}

}  // namespace

void campaigns::acquire(core::election_index which, core::time_point deadline,
                        handler<acquire_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->deadline = deadline;
  a->done = std::move(done);
  turns_.enter(
      deadline, [this, a] { begin(a); },
      [this, a] {
        shared_.answer(
            std::move(a->done),
            acquire_outcome(unknown{
                "not asked for in time, as " + std::to_string(turns_.under_way()) +
                " other campaigns of this agent were under way at " + shared_.agents.present()}));
      });
}

void campaigns::begin(const attempt_ptr& a) {
  if (take_place(a)) return;
  const mirror& m = shared_.seen(a->which);
  // The mirror may lag: it may still show what we have released, or a term of ours that is over.
  const bool may_hold_at_once = shared_.watches.live(a->which) && m.trouble().empty() &&
                                m.has_room() && m.agrees() && m.find_own() == nullptr;
  may_hold_at_once ? campaign(a, m.basis_now()) : look_first(a);
}

/// Takes up the place in line that the watch shows as a term. Its session is then that of our
/// terms; if other terms of ours have another, the new term moves to that one (`adopt`). Returns
/// whether the term was granted; if half of its time is over, it is renewed first.
bool campaigns::take_place(const attempt_ptr& a) {
  const mirror& m = shared_.seen(a->which);
  const slot_holder* own = m.find_own();
  if (!shared_.watches.live(a->which) || own == nullptr || own->mark != shared_.self.mark ||
      own->index <= shared_.places_looked_at) {
    return false;
  }
  const auto sure = shared_.take_from_places(own->session);
  if (!sure || !shared_.holds_nothing()) return false;
  shared_.sessions.take(*sure);
  if (shared_.loop.now() - sure->sent_at >= sure->ttl / 2) return false;
  a->is_clean = m.began_clean() == own->version;
  found(a, *own, *sure);
  return true;
}

void campaigns::look_first(const attempt_ptr& a) {
  shared_.read(a->which, a->deadline, [this, a](std::expected<looked, unknown> now) {
    if (!now) return fail(a, std::move(now.error().why));
    judge(a, *now);
  });
}

/// Decides by what the election holds now: a term of ours, a free slot, or neither.
void campaigns::judge(const attempt_ptr& a, const looked& now) {
  if (const slot_holder* own = now.at.find_own()) return adopt(a, now, *own);
  if (!now.at.trouble().empty()) {
    // The watch will show when that is over, and the log says why. Without one, the next try would
    // follow at once.
    return shared_.watches.live(a->which) && !shared_.seen(a->which).trouble().empty()
               ? finish(a, refusal{now.at.observe()})
               : fail(a, now.at.trouble());
  }
  if (now.at.has_room() && now.at.agrees()) return campaign(a, now.at.basis_now());
  finish(a, refusal{now.at.observe()});
}

void campaigns::campaign(const attempt_ptr& a, const basis& on) {
  if (++a->tries > most_tries) {
    return fail(a, "others came first again and again in election \"" +
                       shared_.spec(a->which).name + "\" at " + shared_.agents.present());
  }
  shared_.sessions.obtain(
      a->deadline, shared_.guarded([this, a, on](std::expected<kept_session, unknown> session) {
        session ? ask_for_lock(a, *session, on) : fail(a, std::move(session.error().why));
      }));
}

void campaigns::ask_for_lock(const attempt_ptr& a, const kept_session& with, const basis& on) {
  const std::string text = signature_text(
      {.identity = shared_.self.identity, .mark = shared_.self.mark, .slot = on.slot});
  shared_.transact(campaign_transaction(shared_.spec(a->which), on, with.id, text), a->deadline,
                   [this, a, with, on](std::expected<transaction_reply, unknown> what) {
                     if (!what) return fail(a, std::move(what.error().why));
                     asked(a, with, on, *what);
                   });
}

void campaigns::asked(const attempt_ptr& a, const kept_session& with, const basis& on,
                      const transaction_reply& what) {
  if (!what.failed.empty()) return refused(a, with, on, what.failed.front());
  // The lock is the last operation that shows a key.
  if (what.shown.empty() || what.shown.back().modify_index <= on.index) {
    return fail(a, shared_.agents.present() + " says that we hold \"" +
                       shared_.spec(a->which).name + "\", and not since when");
  }
  const key_value& own = what.shown.back();
  held_term& held = shared_.hold(a->which, {.key = own.key,
                                            .session = with.id,
                                            .identity = shared_.self.identity,
                                            .mark = shared_.self.mark,
                                            .version = core::version{own.modify_index},
                                            .index = own.modify_index,
                                            .lock_index = own.lock_index,
                                            .ours = true,
                                            .slot = on.slot});
  held.is_clean = on.is_clean;
  won(a, held, with);
}

void campaigns::refused(const attempt_ptr& a, const kept_session& with, const basis& on,
                        const failed_operation& why) {
  switch (why.why) {
    case failure::no_session:
      // The session ended unnoticed: try again with a new one.
      shared_.sessions.forget(with.id);
      return campaign(a, on);
    case failure::delayed:
      return delayed(a);
    case failure::held:
    case failure::changed:
      return look_first(a);
    case failure::other:
      return fail(a, shared_.agents.present() + " refuses the lock of \"" +
                         shared_.spec(a->which).name + "\": " + why.what);
  }
}

void campaigns::delayed(const attempt_ptr& a) {
  mirror& m = shared_.mirrors[core::place(a->which)];
  m.delay(shared_.loop.now() + after_delay);
  core::observation seen = m.observe();
  seen.retry_at = shared_.loop.now() + after_delay;
  finish(a, refusal{std::move(seen)});
}

/// Takes over a term that an earlier call, or an earlier run of this agent, has begun: renews its
/// session if that can be relied on, and if nobody has written something else into its key. Whether
/// the session of an earlier run has no TTL, its renewal says.
void campaigns::adopt(const attempt_ptr& a, const looked& now, const slot_holder& own) {
  a->is_clean = now.at.began_clean() == own.version;
  const bool is_overwritten = own.mark != shared_.self.mark;
  const bool may_be_relied_on =
      shared_.sessions.is_fresh(own.session) || shared_.with.consul.without_ttl;
  if (is_overwritten || !may_be_relied_on) {
    slot_holder next = own;
    if (is_overwritten) {
      next.identity = shared_.self.identity;
      next.mark = shared_.self.mark;
      next.slot = slot_beside(now.at.holders(), own);
    }
    return move(a, next, now.at.basis_now());
  }
  shared_.sessions.keep(own.session, a->deadline,
                        shared_.guarded([this, a, own, on = now.at.basis_now(),
                                         seen_at = now.sent_at](const kept_or_failure& kept) {
                          if (!kept) return fail(a, kept.error());
                          if (!kept->has_value()) {
                            return fail(
                                a, "the session of our own key " + own.key + " has just ended");
                          }
                          if (!shared_.sessions.is_fresh(own.session)) return move(a, own, on);
                          kept_session session = **kept;
                          session.sent_at = std::min(session.sent_at, seen_at);
                          found(a, own, session);
                        }));
}

/// Continues the term in a session whose end we know.
void campaigns::move(const attempt_ptr& a, const slot_holder& own, const basis& on) {
  if (++a->tries > most_tries) {
    return fail(a, "our own key " + own.key + " was written again and again at " +
                       shared_.agents.present());
  }
  shared_.sessions.obtain(
      a->deadline,
      shared_.guarded([this, a, own, on](const std::expected<kept_session, unknown>& session) {
        if (!session) return fail(a, session.error().why);
        shared_.transact(
            move_transaction(shared_.spec(a->which).name, on, own, session->id), a->deadline,
            [this, a, own, to = *session](std::expected<transaction_reply, unknown> what) {
              if (!what) return fail(a, std::move(what.error().why));
              moved(a, own, to, *what);
            });
      }));
}

void campaigns::moved(const attempt_ptr& a, const slot_holder& own, const kept_session& to,
                      const transaction_reply& what) {
  if (!what.failed.empty()) {
    const failed_operation& why = what.failed.front();
    if (why.why == failure::no_session) shared_.sessions.forget(to.id);
    if (why.why != failure::other) return look_first(a);
    return fail(a, shared_.agents.present() + " refuses the lock of \"" +
                       shared_.spec(a->which).name + "\": " + why.what);
  }
  const key_value& now = what.shown.back();
  slot_holder next = own;
  next.key = now.key;
  next.session = to.id;
  next.index = now.modify_index;
  next.lock_index = now.lock_index;
  found(a, next, to);
}

void campaigns::found(const attempt_ptr& a, const slot_holder& own, const kept_session& kept) {
  held_term& held = shared_.hold(a->which, own);
  held.is_clean = held.is_clean || a->is_clean;
  won(a, held, kept);
}

void campaigns::won(const attempt_ptr& a, const held_term& held, const kept_session& kept) {
  finish(a, grant{.version = held.version,
                  .sequencer = held.sequencer,
                  .ttl = kept.ttl,
                  .sent_at = kept.sent_at,
                  .released_cleanly = held.is_clean,
                  .slot = held.slot});
}

void campaigns::fail(const attempt_ptr& a, std::string why) {
  finish(a, unknown{std::move(why)});
}

void campaigns::finish(const attempt_ptr& a, acquire_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
  turns_.leave();
}

}  // namespace tenure::stores::consul
