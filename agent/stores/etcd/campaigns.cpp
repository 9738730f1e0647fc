#include "stores/etcd/campaigns.hpp"

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"

namespace tenure::stores::etcd {
namespace {

/// How long a grant waits for its own event. The event follows within a millisecond; on a new watch
/// within a hundred, as etcd brings those up to date ten times a second. A grant without its event
/// is followed by the lock delay.
constexpr core::duration own_event_patience = std::chrono::milliseconds(300);
/// How often one acquire tries again because other contenders came or went in between.
constexpr int most_tries = 6;
/// Enough to keep all connections busy, and few enough that each is answered long before its
/// deadline.
constexpr std::size_t most_under_way = 64;

}  // namespace

void campaigns::acquire(core::election_index which, core::time_point deadline,
                        handler<acquire_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->deadline = deadline;
  const core::time_point now = session_.loop.now();
  a->begin_by = now + (deadline - now) / 2;
  a->done = std::move(done);
  waiting_.push_back(a);
  begin_next();
  // If others wait already, the timer is set for the first of them, which ends first.
  if (waiting_.size() == 1) expire_waiting();
}

void campaigns::begin_next() {
  while (!waiting_.empty() && under_way_ < most_under_way) {
    const attempt_ptr a = std::move(waiting_.front());
    waiting_.pop_front();
    begin(a);
  }
}

void campaigns::begin(const attempt_ptr& a) {
  ++under_way_;
  const mirror& m = session_.seen(a->which);
  // The mirror may lag: it may still show what we have released, or a key of ours that is gone.
  const bool may_hold_at_once =
      session_.connection.live() && m.has_room() && m.agrees() && m.find_own() == nullptr;
  if (may_hold_at_once) return campaign(a, m.basis_now());
  const contender* own = m.find_own();
  const bool shows_ours = session_.connection.live() && own != nullptr && m.holds(*own);
  if (!shows_ours || session_.may_go(a->which, *own) || is_doubtful(a, *own)) return look_first(a);
  const auto& sure = session_.of_places;
  const bool is_place = sure && sure->id == own->lease;
  const bool is_fresh = is_place && session_.loop.now() - sure->sent_at < sure->ttl / 2;
  is_fresh ? won(a, *own, *sure) : confirm(a, *own);
}

/// The watch shows a term of ours that this run has not asked for. Looks and renews at the same
/// time: its workload waits for both.
void campaigns::confirm(const attempt_ptr& a, const contender& own) {
  struct answers {
    std::optional<std::expected<looked, unknown>> look;
    std::optional<kept_or_failure> kept;
  };
  const auto both = std::make_shared<answers>();
  auto then = session_.guarded([this, a, own, both] {
    if (!both->look || !both->kept) return;
    const auto& look = *both->look;
    if (!look) return fail(a, look.error().why);
    const contender* shown = look->at.find(own.key, own.create_revision);
    const bool is_kept = both->kept->has_value() && (*both->kept)->has_value();
    if (shown == nullptr || !look->at.holds(*shown) || !is_kept) {
      TENURE_SOMETIMES(etcd_term_on_the_watch_is_over);
      return judge(a, *look);
    }
    kept_lease lease = ***both->kept;
    if (auto good = session_.believe(lease, look->by); !good) {
      return fail(a, std::move(good.error().why));
    }
    lease.sent_at = std::min(lease.sent_at, look->sent_at);
    take_up(a, own, look->at.passed().ours == own.create_revision, lease);
  });
  session_.read(a->which, a->deadline, [both, then](std::expected<looked, unknown> now) mutable {
    both->look = std::move(now);
    then();
  });
  session_.leases.keep(own.lease, a->deadline,
                       session_.guarded([both, then](const kept_or_failure& kept) mutable {
                         both->kept = kept;
                         then();
                       }));
}

/// Answers the attempts whose time to begin is over, and sets the timer for the next one.
void campaigns::expire_waiting() {
  while (!waiting_.empty() && waiting_.front()->begin_by <= session_.loop.now()) {
    const attempt_ptr a = std::move(waiting_.front());
    waiting_.pop_front();
    session_.answer(
        std::move(a->done),
        acquire_outcome(unknown{"not asked for in time, as " + std::to_string(under_way_) +
                                " other campaigns of this agent were under way at " +
                                session_.endpoints.present()}));
  }
  if (waiting_.empty()) {
    first_begin_by_.cancel();
    return;
  }
  first_begin_by_.at(waiting_.front()->begin_by, [this] { expire_waiting(); });
}

/// True if this run has written the key, nothing has run under it, and a restore may have brought
/// it back: most often a place in line.
bool campaigns::is_doubtful(const attempt_ptr& a, const contender& own) const {
  const auto& held = session_.held(a->which);
  const bool is_term = held && held->version == core::version{own.create_revision};
  return !is_term && session_.self.ids.gave(own.lease) &&
         own.create_revision <= session_.doubted_until[core::place(a->which)];
}

/// Nothing has run under it. The next key has a version of the present.
void campaigns::drop(const attempt_ptr& a, const contender& own) {
  TENURE_SOMETIMES(etcd_doubtful_key_dropped);
  session_.endpoints.call(
      transaction_path,
      transaction_request(release_transaction(session_.spec(a->which).name, own.key,
                                              core::version{own.create_revision}, "")),
      a->deadline, session_.guarded([this, a](const reply_or_failure& what) {
        what ? look_first(a) : fail(a, what.error().why);
      }));
}

void campaigns::look_first(const attempt_ptr& a) {
  session_.read(a->which, a->deadline, [this, a](std::expected<looked, unknown> now) {
    if (!now) return fail(a, std::move(now.error().why));
    judge(a, *now);
  });
}

/// Decides by what the election holds now: a term of ours, a free slot, or neither. A key of ours
/// that waits behind others is not a term yet: the watch shows when it holds.
void campaigns::judge(const attempt_ptr& a, const looked& now) {
  if (const contender* own = now.at.find_own(); own != nullptr && now.at.holds(*own)) {
    if (is_doubtful(a, *own)) return drop(a, *own);
    return adopt(a, *own, now);
  }
  if (now.at.has_room() && now.at.agrees()) return campaign(a, now.at.basis_now());
  finish(a, refusal{now.at.observe()});
}

void campaigns::campaign(const attempt_ptr& a, basis on) {
  if (++a->tries > most_tries) {
    return fail(a, "others came first again and again in election \"" +
                       session_.spec(a->which).name + "\" at " + session_.endpoints.present());
  }
  session_.leases.obtain(
      a->deadline, session_.guarded([this, a, on](std::expected<kept_lease, unknown> lease) {
        lease ? ask_for_key(a, *lease, on) : fail(a, std::move(lease.error().why));
      }));
}

void campaigns::ask_for_key(const attempt_ptr& a, const kept_lease& lease, const basis& on) {
  session_.endpoints.call(transaction_path,
                          transaction_request(campaign_transaction(
                              session_.spec(a->which), lease.id, session_.with.identity, on,
                              session_.new_seal(a->which, lease.id))),
                          a->deadline,
                          session_.guarded([this, a, lease, on](const reply_or_failure& what) {
                            campaigned(a, lease, on, what);
                          }));
}

void campaigns::campaigned(const attempt_ptr& a, const kept_lease& lease, const basis& on,
                           const reply_or_failure& what) {
  if (!what && what.error().meaning == error_meaning::lease_gone) {
    // The lease ended unnoticed: try again with a new one.
    session_.leases.forget(lease.id);
    return campaign(a, on);
  }
  if (!what) return fail(a, what.error().why);
  const auto read = reads_in(what->body, 1);
  if (!read) return fail(a, session_.broken_reply(read.error()).why);
  const looked now{.at = session_.as_read(a->which, read->values.front(), read->header.revision),
                   .sent_at = what->sent_at,
                   .by = {.raft_term = read->header.raft_term, .endpoint = what->endpoint}};
  if (!read->succeeded) return judge(a, now);

  const contender* own = now.at.find_own();
  if (own == nullptr || own->lease != lease.id || own->identity != session_.with.identity ||
      !now.at.holds(*own)) {
    return fail(a, session_.endpoints.present() + " says that we hold \"" +
                       session_.spec(a->which).name + "\", and does not show it");
  }
  // The key is ours, so the next try finds it.
  if (auto good = session_.believe(lease, now.by); !good)
    return fail(a, std::move(good.error().why));
  won(a, *own, lease);
}

/// Renews a key that an earlier call, or an earlier run of this agent, has written. `now`: the read
/// that showed it.
void campaigns::adopt(const attempt_ptr& a, const contender& own, const looked& now) {
  const bool by_word = now.at.passed().ours == own.create_revision;
  auto then = [this, a, own, seen_at = now.sent_at, by = now.by,
               by_word](const kept_or_failure& kept) {
    if (!kept) return fail(a, kept.error());
    if (!kept->has_value()) {
      return fail(a, "the lease of our own key " + own.key + " has just ended");
    }
    kept_lease lease = **kept;
    if (auto good = session_.believe(lease, by); !good) {
      return fail(a, std::move(good.error().why));
    }
    lease.sent_at = std::min(lease.sent_at, seen_at);
    take_up(a, own, by_word, lease);
  };
  session_.leases.keep(own.lease, a->deadline, session_.guarded(std::move(then)));
}

/// A term that was read and has been renewed since; `by_word`: a word alone made a term of it. In
/// between the watch may have had a gap: then the key is doubtful, or the word is void.
void campaigns::take_up(const attempt_ptr& a, const contender& own, bool by_word,
                        const kept_lease& kept) {
  const mirror& m = session_.seen(a->which);
  const contender* shown = m.find(own.key, own.create_revision);
  const bool is_shown = session_.trusts_word(a->which) && shown != nullptr && m.holds(*shown);
  const bool is_void = by_word && !is_shown;
  if (is_void || is_doubtful(a, own)) return look_first(a);
  won(a, own, kept);
}

void campaigns::won(const attempt_ptr& a, const contender& own, const kept_lease& kept) {
  const core::version version{own.create_revision};
  session_.held(a->which) = held_term{.version = version, .key = own.key, .lease = own.lease};
  grant out{.version = version,
            .sequencer = sequencer_of(own),
            .ttl = kept.ttl,
            .sent_at = kept.sent_at,
            .slot = own.slot};
  const mirror& m = session_.seen(a->which);
  const contender* known = m.find(own.key, own.create_revision);
  if (known != nullptr) out.released_cleanly = known->after_release;
  if (known != nullptr || !session_.connection.live()) return finish(a, std::move(out));
  auto timer = std::make_unique<base::timer>(session_.loop);
  timer->after(own_event_patience, [this, which = a->which] { own_event_seen(which); });
  unconfirmed_[core::place(a->which)] = unconfirmed_grant{
      .what = std::move(out), .done = std::move(a->done), .timer = std::move(timer)};
  ended();
}

void campaigns::changed(core::election_index which) {
  const auto& waiting = unconfirmed_[core::place(which)];
  if (!waiting || session_.seen(which).revision() < core::number(waiting->what.version)) return;
  own_event_seen(which);
}

void campaigns::own_event_seen(core::election_index which) {
  auto waiting = std::exchange(unconfirmed_[core::place(which)], std::nullopt);
  if (!waiting) return;
  const auto& held = session_.held(which);
  const contender* known =
      held ? session_.seen(which).find(held->key, core::number(waiting->what.version)) : nullptr;
  waiting->what.released_cleanly = known != nullptr && known->after_release;
  session_.answer(std::move(waiting->done), acquire_outcome(std::move(waiting->what)));
}

void campaigns::fail(const attempt_ptr& a, std::string why) {
  finish(a, unknown{std::move(why)});
}

void campaigns::finish(const attempt_ptr& a, acquire_outcome outcome) {
  session_.answer(std::move(a->done), std::move(outcome));
  ended();
}

/// One attempt is no longer under way.
void campaigns::ended() {
  --under_way_;
  begin_next();
}

void campaigns::close() {
  first_begin_by_.cancel();
  waiting_.clear();
  for (auto& waiting : unconfirmed_) waiting.reset();
}

}  // namespace tenure::stores::etcd
