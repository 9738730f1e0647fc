#include "stores/consul/line.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::stores::consul {
namespace {

constexpr int renewals_in_a_life = 3;
constexpr core::duration place_patience = std::chrono::seconds(5);

}  // namespace

line::line(shared_state& of, membership& names)
    : shared_(of), names_(names), wanted_(of.with.elections.size()), timer_(of.loop) {}

void line::want(core::election_index which, bool in_line) {
  const bool is_listed = wanted_.size() <= most_announced;
  if (!is_listed || shared_.with.consul.without_ttl || wanted_[core::place(which)] == in_line)
    return;
  wanted_[core::place(which)] = in_line;
  settle(which);
}

bool line::may_stand(core::election_index which) const {
  return names_.may_offer(which) && shared_.seen(which).find_own() == nullptr;
}

/// True if the holder of this election may pass it on to us.
bool line::stands(core::election_index which) const {
  const mirror& m = shared_.seen(which);
  return wanted_[core::place(which)] && shared_.watches.live(which) &&
         shared_.spec(which).slots == 1 && m.agrees() && m.trouble().empty() && !m.has_room();
}

void line::settle(core::election_index which) {
  // While we hold nobody else reads what we offer, and to take it back would be a write.
  if (shared_.closed() || shared_.seen(which).find_own() != nullptr) return;
  const bool is_there = stands(which);
  if (is_there && !shared_.of_places) make_session();
  names_.offer(which, is_there && shared_.of_places ? shared_.of_places->id : std::string());
}

void line::settle_all() {
  for (std::uint32_t i = 0; i < wanted_.size(); ++i) settle(core::election_index{i});
}

void line::make_session() {
  if (std::exchange(is_making_, true)) return;
  shared_.place_sessions.give_away();  // one that is not sure any more
  shared_.place_sessions.obtain(
      shared_.loop.now() + place_patience,
      shared_.guarded([this](const std::expected<kept_session, unknown>& what) {
        is_making_ = false;
        if (what) {
          has_unseen_term_ = false;
          shared_.of_places = *what;
          settle_all();
        }
        later();
      }));
}

/// The session and, at the same time, a look at the lock keys: together they are what a renewal is
/// for a term.
void line::renew() {
  const auto both = std::make_shared<round>();
  std::vector<operation> locks;
  for (std::uint32_t i = 0; i < wanted_.size() && locks.size() < most_operations; ++i) {
    const core::election_index which{i};
    if (!names_.may_offer(which)) continue;
    if (!shared_.watches.live(which)) return later();
    locks.emplace_back(fetch{lock_key(shared_.spec(which).name)});
    both->looked_at = std::max(both->looked_at, shared_.seen(which).index());
  }
  if (!shared_.of_places || locks.empty() || has_unseen_term_) return later();

  both->session = shared_.of_places->id;
  const core::time_point deadline = shared_.loop.now() + place_patience;
  shared_.place_sessions.keep(both->session, deadline,
                              shared_.guarded([this, both](const kept_or_failure& what) {
                                both->kept = what;
                                ended(*both);
                              }));
  shared_.transact(locks, deadline, [this, both](std::expected<transacted, unknown> what) {
    both->locks = std::move(what);
    ended(*both);
  });
}

void line::ended(const round& what) {
  if (!what.kept || !what.locks) return;
  later();
  // Since then a place may have become a term, which took the session along.
  if (!shared_.of_places || shared_.of_places->id != what.session) return;
  if (what.kept->has_value() && !(*what.kept)->has_value()) {
    TENURE_SOMETIMES(consul_session_of_places_gone);
    shared_.of_places.reset();
    return settle_all();
  }
  if (!what.kept->has_value() || !what.locks->has_value() || !(*what.locks)->failed.empty()) return;
  const auto is_ours = [&](const key_value& one) { return one.session == what.session; };
  has_unseen_term_ = std::ranges::any_of((*what.locks)->shown, is_ours);
  if (has_unseen_term_) {
    TENURE_SOMETIMES(consul_place_has_become_a_term_unseen);
    return;
  }
  kept_session kept = ***what.kept;
  kept.sent_at = std::min(kept.sent_at, (*what.locks)->sent_at);
  shared_.of_places = std::move(kept);
  shared_.places_looked_at = what.looked_at;
  for (const key_value& one : (*what.locks)->shown) {
    shared_.places_looked_at = std::max(shared_.places_looked_at, one.modify_index);
  }
}

void line::leave(core::time_point deadline, std::move_only_function<void()> done) {
  timer_.cancel();
  wanted_.assign(wanted_.size(), false);
  shared_.of_places.reset();
  shared_.place_sessions.end(deadline, std::move(done));
}

/// Also the time at which what was not written is tried again.
void line::later() {
  if (!shared_.of_places && std::ranges::find(wanted_, true) == wanted_.end()) return;
  timer_.after(shared_.with.ttl / renewals_in_a_life, [this] {
    const auto& sure = shared_.of_places;
    if (sure && shared_.loop.now() - sure->sent_at >= sure->ttl) shared_.of_places.reset();
    settle_all();
    renew();
  });
}

}  // namespace tenure::stores::consul
