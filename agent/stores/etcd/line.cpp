#include "stores/etcd/line.hpp"

#include <algorithm>
#include <memory>
#include <ranges>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/etcd/membership.hpp"
#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr int renewals_in_a_life = 3;
constexpr core::duration place_patience = std::chrono::seconds(5);
/// How long the watch has to show what a look has shown. The event follows within a millisecond; on
/// a new watch within a hundred.
constexpr core::duration event_patience = std::chrono::milliseconds(300);

dated_key dated(const contender& of) {
  return {.key = of.key, .create_revision = of.create_revision};
}

}  // namespace

line::line(session& of, std::function<void(core::election_index)> changed)
    : session_(of),
      changed_(std::move(changed)),
      places_(of.with.elections.size()),
      timer_(of.loop) {}

void line::want(core::election_index which, bool in_line) {
  // A member that is not listed comes next nowhere, and a look has room for so many places.
  if (places_.size() > most_announced) return;
  place& one = places_[core::place(which)];
  if (std::exchange(one.is_wanted, in_line) == in_line) return;
  settle(which);
  if (timer_.when() == core::never) later();
}

void line::live() {
  // After a restore revisions are others.
  for (place& one : places_) {
    one.written = 0;
    one.refused.reset();
  }
  if (std::exchange(watch_is_behind_, false) && session_.with.notes) {
    session_.with.notes({.is_trouble = false, .text = "the watch of etcd is complete again"});
  }
  settle_all();
}

bool line::is_firm(core::election_index which, const contender& own) const {
  const place& one = places_[core::place(which)];
  return session_.connection.live() && !one.is_busy && lease_ != 0 && own.lease == lease_ &&
         own.lease == one.lease && session_.seen(which).revision() >= one.written &&
         own.create_revision > session_.doubted_until[core::place(which)] &&
         !session_.may_go(which, own);
}

bool line::may_stand(core::election_index which) const {
  const place& one = places_[core::place(which)];
  const mirror& m = session_.seen(which);
  const auto waits = [&](const contender& c) {
    return c.ours && c.lease == one.lease && !m.holds(c);
  };
  return one.is_busy || m.revision() < one.written || std::ranges::any_of(m.contenders(), waits);
}

/// Writes or deletes our place if what the watch shows is not what is wanted.
void line::settle(core::election_index which) {
  place& wanted = places_[core::place(which)];
  wanted.has_news = wanted.is_busy;
  if (session_.closed() || !session_.connection.live() || wanted.is_busy) return;
  const mirror& m = session_.seen(which);
  // What we have written is not shown yet.
  if (m.revision() < wanted.written) return;
  const contender* waits = nullptr;
  bool holds = false;
  bool took_lease = false;
  for (const contender& one : m.contenders()) {
    if (!one.ours) continue;
    if (!m.holds(one)) {
      if (waits == nullptr) waits = &one;
      continue;
    }
    holds = true;
    if (one.lease == wanted.lease) wanted.lease = 0;
    took_lease = took_lease || (lease_ != 0 && one.lease == lease_);
  }
  if (took_lease) {
    // It is the lease of a term from now on, and that of no place.
    lease_ = 0;
    return settle_all();
  }
  const bool stands =
      wanted.is_wanted && !holds && !m.has_room() && m.agrees() && session_.spec(which).slots == 1;
  if (waits != nullptr) {
    // Not what was a term before a restore: its workload is still to be stopped.
    const bool is_place = waits->lease == wanted.lease;
    const bool is_old = waits->lease != lease_ ||
                        waits->create_revision <= session_.doubted_until[core::place(which)] ||
                        session_.may_go(which, *waits);
    if (is_place && (!stands || is_old)) give_back(which, *waits);
  } else if (stands) {
    take(which);
  }
}

void line::settle_all() {
  for (std::uint32_t i = 0; i < places_.size(); ++i) settle(core::election_index{i});
}

void line::take(core::election_index which) {
  if (lease_ == 0) return make_lease();
  const mirror& m = session_.seen(which);
  places_[core::place(which)].lease = lease_;
  session_.loop.post(session_.guarded([this, which] { changed_(which); }));
  request(which,
          place_transaction(session_.spec(which), lease_, session_.with.identity, m.basis_now(),
                            dated(m.contenders().front()), session_.new_seal(which, lease_)));
}

void line::make_lease() {
  if (std::exchange(is_making_, true)) return;
  etcd::make_lease(session_.endpoints, session_.self.ids.next(), session_.with.ttl,
                   session_.loop.now() + place_patience,
                   session_.guarded([this](const std::expected<kept_lease, unknown>& made) {
                     is_making_ = false;
                     if (!made) return;  // `later` tries again
                     lease_ = made->id;
                     // What a keepalive has told is not compared with a look yet.
                     if (!made->raft_term) session_.of_places = *made;
                     settle_all();
                   }));
}

/// Only while it waits: a place that has become a term meanwhile is for `campaigns` to take up.
/// But a restore may bring the holder's key back while its release is still on its way to our
/// watch: then this deletes a place that the watch shows as a term. So only a look can say that it
/// is one.
void line::give_back(core::election_index which, const contender& own) {
  session_.given_back[core::place(which)] = own.create_revision;
  request(which, leaving_transaction(dated(own), dated(session_.seen(which).contenders().front()),
                                     session_.seals(which, own.lease)));
}

/// One request at a time for each election, so that none overtakes another.
void line::request(core::election_index which, const transaction& what) {
  places_[core::place(which)].is_busy = true;
  session_.endpoints.call(
      transaction_path, transaction_request(what), session_.loop.now() + place_patience,
      session_.guarded(
          [this, which, lease = lease_, on = state_of(which)](const reply_or_failure& reply) {
            place& one = places_[core::place(which)];
            one.is_busy = false;
            one.answered_at = session_.loop.now();
            one.refused.reset();
            if (!reply && reply.error().meaning == error_meaning::lease_gone && lease == lease_) {
              lease_ = 0;
            }
            // The watch shows what was done; what was not is tried again later.
            const auto done = reply ? parse_transaction(reply->body) : std::unexpected(malformed{});
            if (done && done->succeeded) one.written = done->header.revision;
            if (done && !done->succeeded) one.refused = on;
            if (one.has_news) settle(which);
            changed_(which);
          }));
}

/// A keepalive, and at the same time a look at the line of each place: together they are what a
/// renewal is for a term.
void line::renew() {
  std::vector<core::election_index> which;
  transaction lines;
  for (std::uint32_t i = 0; i < places_.size() && which.size() < most_operations; ++i) {
    const core::election_index one{i};
    const auto is_place = [this](const contender& c) { return c.ours && c.lease == lease_; };
    if (std::ranges::none_of(session_.seen(one).contenders(), is_place)) continue;
    which.push_back(one);
    lines.then.emplace_back(line_of(session_.spec(one).name));
  }
  if (lease_ == 0 || which.empty() || !session_.connection.live()) return later();

  const auto both = std::make_shared<round>();
  both->lease = lease_;
  both->which = which;
  const core::time_point deadline = session_.loop.now() + place_patience;
  keep_lease(session_.endpoints, lease_, deadline,
             session_.guarded([this, both](const kept_or_failure& what) {
               both->kept = what;
               ended(*both);
             }));
  session_.endpoints.call(
      transaction_path, transaction_request(lines), deadline,
      session_.guarded([this, both, count = which.size()](const reply_or_failure& what) {
        auto found = what ? reads_in(what->body, count) : std::unexpected(malformed{});
        both->by = {.raft_term = found ? found->header.raft_term : 0,
                    .endpoint = what ? what->endpoint : 0};
        if (what) both->looked_at = what->sent_at;
        both->lines = std::move(found);
        ended(*both);
      }));
}

void line::ended(const round& what) {
  if (!what.kept || !what.lines) return;
  later();
  // Since then a place may have become a term, which took the lease along.
  if (what.lease != lease_) return;
  if (what.kept->has_value() && !(*what.kept)->has_value()) {
    TENURE_SOMETIMES(etcd_lease_of_places_gone);
    lease_ = 0;
    return settle_all();
  }
  if (!what.kept->has_value() || !what.lines->has_value()) return;
  std::vector<core::election_index> others;  // where our key waits behind nobody
  for (std::size_t i = 0; i < what.which.size(); ++i) {
    const std::vector<key_value>& one = (*what.lines)->values[i];
    const auto ours = std::ranges::find(one, what.lease, &key_value::lease);
    if (ours == one.end() || ours == one.begin()) others.push_back(what.which[i]);
  }
  if (!others.empty()) {
    TENURE_SOMETIMES(etcd_place_no_longer_waits);
    return compare(std::move(others), (*what.lines)->header.revision);
  }
  kept_lease kept = ***what.kept;
  kept.sent_at = std::min(kept.sent_at, what.looked_at);
  if (session_.believe(kept, what.by)) session_.of_places = kept;
}

/// A look as of this revision has shown that our place there is a term, or gone. The watch shows
/// the same soon. If not, it has lost an event and would never show it: then everything is read
/// anew. Until then nothing is renewed.
void line::compare(std::vector<core::election_index> places, std::uint64_t revision) {
  timer_.after(event_patience, [this, places = std::move(places), revision, lease = lease_] {
    const auto is_shown = [&](const core::election_index which) {
      const mirror& m = session_.seen(which);
      return std::ranges::any_of(m.contenders(), [&](const contender& c) {
        return c.ours && c.lease == lease && c.create_revision <= revision && !m.holds(c);
      });
    };
    later();
    const auto behind = std::ranges::find_if(places, is_shown);
    if (lease != lease_ || behind == places.end() || !session_.connection.live()) return;
    TENURE_SOMETIMES(etcd_watch_has_lost_an_event);
    open_anew(*behind);
  });
}

auto line::state_of(core::election_index which) const -> line_state {
  const mirror& m = session_.seen(which);
  return {.first = m.contenders().empty() ? 0 : m.contenders().front().create_revision,
          .newest = m.newest(),
          .agreed = m.basis_now().agreed};
}

/// True if the watch does not show what the answer to our last request there has told: what it has
/// written, or that it relied on what is not so.
bool line::is_behind(core::election_index which) const {
  const place& one = places_[core::place(which)];
  if (one.is_busy || session_.loop.now() < core::later(one.answered_at, event_patience)) {
    return false;
  }
  return session_.seen(which).revision() < one.written ||
         (one.refused && *one.refused == state_of(which));
}

void line::open_anew(core::election_index behind) {
  if (!std::exchange(watch_is_behind_, true) && session_.with.notes) {
    session_.with.notes(
        {.text = "the watch of etcd at " + session_.endpoints.present() +
                 " has lost a change of the election \"" + session_.spec(behind).name +
                 "\", which an answer shows: opening it anew; is there a proxy that "
                 "drops parts of a reply?"});
  }
  session_.connection.connect();
}

void line::later() {
  const bool is_idle = lease_ == 0 && std::ranges::none_of(places_, &place::is_wanted);
  if (is_idle) return timer_.cancel();
  timer_.after(session_.with.ttl / renewals_in_a_life, [this] {
    for (std::uint32_t i = 0; session_.connection.live() && i < places_.size(); ++i) {
      const core::election_index one{i};
      if (!is_behind(one)) continue;
      later();
      return open_anew(one);
    }
    settle_all();
    renew();
  });
}

void line::leave(core::time_point deadline, handler<release_outcome> done) {
  timer_.cancel();
  for (place& one : places_) one = {.is_wanted = false, .is_busy = true};
  const std::int64_t lease = std::exchange(lease_, 0);
  const auto is_its_term = [&](std::uint32_t i) {
    const auto& held = session_.held(core::election_index{i});
    return held && held->lease == lease;
  };
  const auto elections =
      std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(places_.size()));
  if (lease == 0 || std::ranges::any_of(elections, is_its_term))
    return session_.answer(std::move(done), release_outcome(released{}));
  session_.endpoints.call(
      revoke_path, revoke_request(lease), deadline,
      session_.guarded([this, done = std::move(done)](const reply_or_failure&) mutable {
        session_.answer(std::move(done), release_outcome(released{}));
      }));
}

void line::close() {
  timer_.cancel();
}

}  // namespace tenure::stores::etcd
