#include "stores/etcd/campaigns.hpp"

#include <utility>

#include "os/boot_time.hpp"

namespace tenure::stores::etcd {
namespace {

/// How long a grant waits for its own event, which is a millisecond behind it; on a new watch up to
/// a hundred, as etcd brings those up to date ten times a second. Without it, lock_delay follows.
constexpr core::duration sight_patience = std::chrono::milliseconds(300);
/// In one acquire, as others come and go in between.
constexpr int most_tries = 6;
/// Enough to keep all connections busy, few enough that each is answered long before its deadline.
constexpr std::size_t most_under_way = 64;
/// Of a lease before the first key that is to go with it. They travel on two connections, and a key
/// that overtakes its lease is refused: one more write until it holds (measured at etcd 3.4 without
/// a head start: 17 of 40; with this one: none of 40, and no later).
constexpr core::duration head_start = std::chrono::microseconds(500);

/// The largest create_revision of a contender; 0 if there is none.
std::uint64_t newest_in(const mirror& election) {
  return election.contenders().empty() ? 0 : election.contenders().back().create_revision;
}

}  // namespace

void campaigns::acquire(core::election_index which, core::time_point deadline,
                        handler<acquire_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->deadline = deadline;
  const core::time_point now = os::boot_now();
  a->begin_by = now + (deadline - now) / 2;
  a->done = std::move(done);
  waiting_.push_back(a);
  begin_next();
  // For one behind others the timer is set already, and no later than it needs.
  if (waiting_.size() == 1) expire_waiting();
}

void campaigns::begin_next() {
  while (!waiting_.empty() && session_.campaigns < most_under_way) {
    const attempt_ptr a = std::move(waiting_.front());
    waiting_.pop_front();
    begin(a);
  }
}

void campaigns::begin(const attempt_ptr& a) {
  ++session_.campaigns;
  const mirror& m = session_.seen(a->which);
  // The mirror may be behind: it may still show what we have released.
  if (!session_.connection.live() || !m.has_room()) return look_first(a);
  campaign(a, newest_in(m));
}

/// Tells those whose time is over, and comes again when that of the next one will be.
void campaigns::expire_waiting() {
  while (!waiting_.empty() && waiting_.front()->begin_by <= os::boot_now()) {
    const attempt_ptr a = std::move(waiting_.front());
    waiting_.pop_front();
    session_.answer(
        std::move(a->done),
        acquire_outcome(unknown{"not asked for in time, as " + std::to_string(session_.campaigns) +
                                " other campaigns of this agent were under way at " +
                                session_.members.present()}));
  }
  if (waiting_.empty()) {
    first_begin_by_.cancel();
    return;
  }
  first_begin_by_.expires_after(waiting_.front()->begin_by - os::boot_now());
  first_begin_by_.async_wait(session_.guarded([this](boost::system::error_code canceled) {
    if (!canceled) expire_waiting();
  }));
}

void campaigns::look_first(const attempt_ptr& a) {
  session_.read(a->which, a->deadline, [this, a](std::expected<mirror, unknown> now) {
    if (!now) return fail(a, std::move(now.error().why));
    judge(a, *now);
  });
}

/// What the election holds now decides: ours already, room for us, or neither.
void campaigns::judge(const attempt_ptr& a, const mirror& now) {
  if (const contender* own = session_.find_own(now.contenders())) return adopt(a, *own);
  if (now.has_room()) return campaign(a, newest_in(now));
  finish(a, refusal{now.observe()});
}

void campaigns::campaign(const attempt_ptr& a, std::uint64_t newest) {
  if (++a->tries > most_tries) {
    return fail(a, "others came first again and again in election \"" +
                       session_.spec(a->which).name + "\" at " + session_.members.present());
  }
  const std::int64_t lease = session_.leases.ensure(session_.ids, a->deadline);
  a->lease_was_confirmed = session_.leases.confirmed(lease);
  if (a->lease_was_confirmed) return ask_for_key(a, lease, newest);
  a->head_start.emplace(session_.executor, head_start)
      .async_wait(session_.guarded(
          [this, a, lease, newest](boost::system::error_code) { ask_for_key(a, lease, newest); }));
}

void campaigns::ask_for_key(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest) {
  session_.members.call(transaction_path,
                        transaction_request(campaign_transaction(
                            session_.spec(a->which).name, lease, session_.with.identity, newest)),
                        a->deadline,
                        session_.guarded([this, a, lease, newest](const reply_or_failure& what) {
                          campaigned(a, lease, newest, what);
                        }));
}

void campaigns::campaigned(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest,
                           const reply_or_failure& what) {
  if (!what && what.error().meaning == error_meaning::lease_gone) {
    return without_lease(a, lease, newest);
  }
  if (!what) return fail(a, what.error().why);
  const auto read = reads_in(what->body, 1);
  if (!read) return fail(a, session_.broken_reply(read.error()).why);
  const mirror now = session_.as_read(a->which, read->values.front(), read->header.revision);
  if (!read->succeeded) return judge(a, now);

  const contender* own = session_.find_own(now.contenders());
  if (own == nullptr || own->lease != lease || !now.holds(*own)) {
    return fail(a, session_.members.present() + " says that we hold \"" +
                       session_.spec(a->which).name + "\", and does not show it");
  }
  session_.leases.when_confirmed(
      lease, session_.guarded([this, a, own = *own](std::expected<kept_lease, unknown> kept) {
        if (!kept) return fail(a, std::move(kept.error().why));
        won(a, own, *kept);
      }));
}

/// The key came before its lease, which is still on its way: again, once that is there. Or the
/// lease has ended unnoticed: again, with another one.
void campaigns::without_lease(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest) {
  if (a->lease_was_confirmed) session_.leases.forget(lease);
  session_.leases.when_confirmed(
      lease, session_.guarded([this, a, newest](const std::expected<kept_lease, unknown>&) {
        campaign(a, newest);
      }));
}

/// Ours already, by an earlier call or an earlier life of this agent: renews it.
void campaigns::adopt(const attempt_ptr& a, const contender& own) {
  session_.leases.keep(own.lease, a->deadline,
                       session_.guarded([this, a, own](const kept_or_failure& kept) {
                         if (!kept) return fail(a, kept.error());
                         if (kept->has_value()) return won(a, own, **kept);
                         fail(a, "the lease of our own key " + own.key + " has just ended");
                       }));
}

void campaigns::won(const attempt_ptr& a, const contender& own, const kept_lease& kept) {
  const core::version term{own.create_revision};
  session_.held(a->which) =
      held_term{.term = term, .key = own.key, .lease = own.lease, .proven = own.create_revision};
  grant out{.term = term,
            .sequencer = own.key + "@" + std::to_string(own.create_revision),
            .ttl = kept.ttl,
            .sent_at = kept.sent_at};
  const mirror& m = session_.seen(a->which);
  const contender* known = m.find(own.key, own.create_revision);
  if (known != nullptr) out.released_cleanly = known->after_release;
  if (known != nullptr || !session_.connection.live()) return finish(a, std::move(out));
  auto timer = std::make_unique<boost::asio::steady_timer>(session_.executor, sight_patience);
  timer->async_wait(session_.guarded([this, which = a->which](boost::system::error_code canceled) {
    if (!canceled) sighted(which);
  }));
  unsighted_[core::place(a->which)] =
      unsighted{.what = std::move(out), .done = std::move(a->done), .timer = std::move(timer)};
  ended();
}

void campaigns::changed(core::election_index which) {
  const auto& waiting = unsighted_[core::place(which)];
  if (!waiting || session_.seen(which).revision() < core::number(waiting->what.term)) return;
  sighted(which);
}

void campaigns::sighted(core::election_index which) {
  auto waiting = std::exchange(unsighted_[core::place(which)], std::nullopt);
  if (!waiting) return;
  const auto& held = session_.held(which);
  const contender* known =
      held ? session_.seen(which).find(held->key, core::number(waiting->what.term)) : nullptr;
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

/// One is not under way any more.
void campaigns::ended() {
  --session_.campaigns;
  begin_next();
  session_.drop_unused_leases();
}

void campaigns::close() {
  first_begin_by_.cancel();
  waiting_.clear();
  for (auto& waiting : unsighted_) waiting.reset();
}

}  // namespace tenure::stores::etcd
