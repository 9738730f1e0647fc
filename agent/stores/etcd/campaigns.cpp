#include "stores/etcd/campaigns.hpp"

#include <utility>

namespace tenure::stores::etcd {
namespace {

/// How long a grant waits for its own event, which is a millisecond behind it; on a new watch up to
/// a hundred, as etcd brings those up to date ten times a second. Without it, lock_delay follows.
constexpr core::duration sight_patience = std::chrono::milliseconds(300);
/// In one acquire, as others come and go in between.
constexpr int most_tries = 6;

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
  a->done = std::move(done);
  ++session_.campaigns;
  const mirror& m = session_.seen(which);
  // The mirror may be behind: it may still show what we have released.
  if (!session_.connection.live() || !m.has_room()) return look_first(a);
  campaign(a, newest_in(m));
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
  --session_.campaigns;
  session_.drop_unused_leases();
  unsighted_[core::place(a->which)] =
      unsighted{.what = std::move(out), .done = std::move(a->done), .timer = std::move(timer)};
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
  --session_.campaigns;
  session_.drop_unused_leases();
  session_.answer(std::move(a->done), std::move(outcome));
}

void campaigns::close() {
  for (auto& waiting : unsighted_) waiting.reset();
}

}  // namespace tenure::stores::etcd
