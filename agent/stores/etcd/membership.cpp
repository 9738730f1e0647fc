#include "stores/etcd/membership.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/codec.hpp"
#include "stores/etcd/lease_keeper.hpp"
#include "stores/etcd/requests.hpp"
#include "stores/records/readiness_text.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr core::duration least_ttl = std::chrono::seconds(5);
constexpr core::duration most_ttl = std::chrono::seconds(30);
constexpr int keeps_per_ttl = 3;
constexpr core::duration call_patience = std::chrono::seconds(5);

}  // namespace

membership::membership(base::event_loop& on, cluster& through, lease_ids& ids, std::string identity,
                       std::string peer, core::duration ttl,
                       const std::vector<settings::election>& elections)
    : loop_(on),
      cluster_(through),
      ids_(ids),
      identity_(std::move(identity)),
      peer_(std::move(peer)),
      ttl_(std::clamp(ttl, least_ttl, most_ttl)),
      elections_(elections),
      timer_(loop_),
      own_(elections.size()) {}

template <class Handler>
auto membership::guarded(Handler what) {
  return [alive = std::weak_ptr(alive_), what = std::move(what)](auto&&... arguments) mutable {
    if (!alive.expired()) what(std::forward<decltype(arguments)>(arguments)...);
  };
}

void membership::appear() {
  if (lease_ != 0 || !alive_ || elections_.size() > most_announced) return;
  lease_ = ids_.next();
  make_lease(cluster_, lease_, ttl_, loop_.now() + call_patience,
             guarded([this](const std::expected<kept_lease, unknown>& made) {
               made ? write_names() : later(&membership::again);
             }));
}

void membership::write_names() {
  transaction names;
  const bool say_all = 2 * elections_.size() <= most_operations;
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    const std::string& election = elections_[i].name;
    names.then.emplace_back(
        put{.key = member_key(election, lease_), .value = identity_, .lease = lease_});
    if (say_all) names.then.emplace_back(entry_of(i));
  }
  own_.named(say_all);
  cluster_.call(transaction_path, transaction_request(names), loop_.now() + call_patience,
                guarded([this](const reply_or_failure& reply) { written(reply); }));
}

void membership::written(const reply_or_failure& what) {
  is_listed_ = what.has_value();
  later(what ? &membership::keep : &membership::again);
  write_news();
}

void membership::say(core::election_index which, const core::readiness& what) {
  own_.say(core::place(which), what);
  write_news();
}

void membership::answer_namesake(core::election_index which) {
  own_.answer(core::place(which));
  write_news();
}

put membership::entry_of(std::size_t election) const {
  return {.key = ready_key(elections_[election].name, lease_),
          .value = readiness_text(own_.says(election), peer_, own_.answers(election)),
          .lease = lease_};
}

/// What could not be written waits for the next keepalive.
void membership::write_news() {
  if (!is_listed_ || !alive_) return;
  transaction news;
  for (const std::size_t i : own_.begin_write(most_operations)) {
    news.then.emplace_back(entry_of(i));
  }
  if (news.then.empty()) return;
  cluster_.call(transaction_path, transaction_request(news), loop_.now() + call_patience,
                guarded([this](const reply_or_failure& what) {
                  own_.end_write(what.has_value());
                  if (what) write_news();
                }));
}

void membership::keep() {
  keep_lease(cluster_, lease_, loop_.now() + call_patience,
             guarded([this](const kept_or_failure& kept) {
               if (kept && !kept->has_value()) return again();
               later(&membership::keep);
               write_news();
             }));
}

/// Appears again with a new lease: the last one is gone, or its state is unknown.
void membership::again() {
  lease_ = 0;
  is_listed_ = false;
  appear();
}

void membership::later(void (membership::*what)()) {
  timer_.after(ttl_ / keeps_per_ttl, [this, what] { (this->*what)(); });
}

void membership::leave(core::time_point deadline, handler<release_outcome> done) {
  timer_.cancel();
  const std::int64_t lease = std::exchange(lease_, 0);
  alive_.reset();
  if (lease == 0) {
    loop_.post([done = std::move(done)]() mutable { done(released{}); });
    return;
  }
  cluster_.call(revoke_path, revoke_request(lease), deadline,
                [done = std::move(done)](const reply_or_failure&) mutable { done(released{}); });
}

void membership::close() {
  alive_.reset();
  timer_.cancel();
}

}  // namespace tenure::stores::etcd
