#include "stores/consul/membership.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"
#include "stores/records/readiness_text.hpp"

namespace tenure::stores::consul {
namespace {

/// Consul grants no shorter one unless its `session_ttl_min` is lowered.
constexpr core::duration least_ttl = std::chrono::seconds(10);
constexpr core::duration most_ttl = std::chrono::seconds(30);
constexpr int keeps_per_ttl = 3;
constexpr core::duration call_patience = std::chrono::seconds(5);

}  // namespace

membership::membership(base::event_loop& on, cluster& through, std::string identity,
                       std::string mark, core::duration ttl,
                       const std::vector<settings::election>& elections)
    : loop_(on),
      cluster_(through),
      identity_(std::move(identity)),
      mark_(std::move(mark)),
      ttl_(std::clamp(ttl, least_ttl, most_ttl)),
      elections_(elections),
      timer_(loop_),
      own_(elections.size()),
      places_(elections.size()) {}

template <class Handler>
auto membership::guarded(Handler what) {
  return [alive = std::weak_ptr(alive_), what = std::move(what)](auto&&... arguments) mutable {
    if (!alive.expired()) what(std::forward<decltype(arguments)>(arguments)...);
  };
}

void membership::appear() {
  if (appears_ || !alive_ || elections_.size() > most_announced) return;
  appears_ = true;
  cluster_.call(create_session_request({.name = "tenure member " + identity_,
                                        .ttl = ttl_,
                                        .lock_delay = core::duration::zero(),
                                        .then = behavior::remove}),
                loop_.now() + call_patience,
                guarded([this](const reply_or_failure& what) { made(what); }));
}

void membership::made(const reply_or_failure& what) {
  const auto id = what ? session_in(*what) : std::unexpected(malformed{});
  if (!id) return later(&membership::again);
  session_ = *id;
  write_from(0);
}

/// A transaction writes a limited number of keys.
void membership::write_from(std::size_t first) {
  if (first == 0) own_.named(true);
  if (first >= elections_.size()) {
    is_listed_ = true;
    later(&membership::keep);
    return write_news();
  }
  std::vector<operation> names;
  const std::size_t end = std::min(elections_.size(), first + (most_operations / 2));
  for (std::size_t i = first; i < end; ++i) {
    names.emplace_back(lock{.key = member_key(elections_[i].name, session_),
                            .value = signature_text({.identity = identity_, .mark = mark_}),
                            .session = session_});
    names.emplace_back(entry_of(i));
  }
  cluster_.call(cluster_.transaction(names), loop_.now() + call_patience,
                guarded([this, end](const reply_or_failure& what) {
                  what && what->status == 200 ? write_from(end) : later(&membership::again);
                }));
}

void membership::say(core::election_index which, const core::readiness& what) {
  own_.say(core::place(which), what);
  write_news();
}

void membership::answer_namesake(core::election_index which) {
  own_.answer(core::place(which));
  write_news();
}

void membership::offer(core::election_index which, std::string session) {
  place& its = places_[core::place(which)];
  if (its.offer == session) return;
  its.offer = std::move(session);
  own_.renew(core::place(which));
  write_news();
}

bool membership::may_offer(core::election_index which) const {
  const place& its = places_[core::place(which)];
  return its.is_shown || !its.offer.empty();
}

lock membership::entry_of(std::size_t election) {
  place& its = places_[election];
  its.is_shown = its.is_shown || !its.offer.empty();
  its.is_taken_back = its.offer.empty();
  return {.key = ready_key(elections_[election].name, session_),
          .value = readiness_text(own_.says(election), its.offer, own_.answers(election)),
          .session = session_};
}

/// What could not be written waits for the next keepalive.
void membership::write_news() {
  if (!is_listed_ || !alive_) return;
  std::vector<operation> news;
  const std::vector<std::size_t> which = own_.begin_write(most_operations);
  for (const std::size_t i : which) news.emplace_back(entry_of(i));
  if (news.empty()) return;
  cluster_.call(cluster_.transaction(news), loop_.now() + call_patience,
                guarded([this, which](const reply_or_failure& what) {
                  const bool is_done = what && what->status == 200;
                  own_.end_write(is_done);
                  if (!is_done) return;
                  for (const std::size_t i : which) written(i);
                  write_news();
                }));
}

void membership::written(std::size_t election) {
  place& its = places_[election];
  if (!its.is_shown || !its.is_taken_back) return;
  its.is_shown = false;
  if (on_offer_) on_offer_(core::election_index{static_cast<std::uint32_t>(election)});
}

void membership::keep() {
  cluster_.call(renew_session_request(session_), loop_.now() + call_patience,
                guarded([this](const reply_or_failure& what) { kept(what); }));
}

void membership::kept(const reply_or_failure& what) {
  if (what && says_gone(*what, session_)) return again();
  later(&membership::keep);
  write_news();
}

/// Appears again with a new session: the last one is gone, or its state is unknown.
void membership::again() {
  session_.clear();
  is_listed_ = false;
  appears_ = false;
  appear();
}

void membership::later(void (membership::*what)()) {
  timer_.after(ttl_ / keeps_per_ttl, [this, what] { (this->*what)(); });
}

void membership::leave(core::time_point deadline, handler<release_outcome> done) {
  timer_.cancel();
  alive_.reset();
  if (session_.empty()) {
    loop_.post([done = std::move(done)]() mutable { done(released{}); });
    return;
  }
  cluster_.call(destroy_session_request(session_), deadline,
                [done = std::move(done)](const reply_or_failure&) mutable { done(released{}); });
}

void membership::close() {
  alive_.reset();
  timer_.cancel();
}

}  // namespace tenure::stores::consul
