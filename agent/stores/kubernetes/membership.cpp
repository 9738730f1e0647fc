#include "stores/kubernetes/membership.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/records/readiness_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How long a name stays after its member's last renewal.
constexpr std::int64_t name_lasts_s = 30;
constexpr core::duration keep_every = std::chrono::seconds(name_lasts_s) / 3;
/// How often namesakes are answered.
constexpr core::duration answer_every = std::chrono::seconds(1);
constexpr core::duration call_patience = std::chrono::seconds(5);
/// How many Leases that others left behind are deleted at a time: all members see them, and try.
constexpr std::size_t most_deleted = 4;
/// How often our own name is removed: a write of ours that was under way costs one try.
constexpr int removals_of_a_name = 3;

}  // namespace

template <class Handler>
auto membership::guarded(Handler what) {
  return [alive = std::weak_ptr(alive_), what = std::move(what)](auto&&... arguments) mutable {
    if (!alive.expired()) what(std::forward<decltype(arguments)>(arguments)...);
  };
}

void membership::appear() {
  if (appears_ || !alive_ || shared_.with.elections.size() > most_announced) return;
  appears_ = true;
  keep();
}

void membership::say(core::election_index which, const core::readiness& what) {
  if (std::exchange(says_[core::place(which)], what) == what) return;
  if (appears_ && alive_) keep(which);
}

void membership::changed(core::election_index which) {
  if (!appears_ || !alive_) return;
  std::vector<std::string> now = shared_.seen(which).namesakes(shared_.loop.now());
  std::vector<std::string>& before = namesakes_[which];
  const bool is_news = !std::ranges::includes(before, now);
  before = std::move(now);
  // Unless that was just now.
  const core::time_point soon = std::max(shared_.loop.now(), core::later(kept_at_, answer_every));
  if (is_news && soon < timer_.when()) timer_.at(soon, [this] { keep(); });
}

void membership::keep() {
  kept_at_ = shared_.loop.now();
  for (std::uint32_t i = 0; i < shared_.with.elections.size(); ++i) {
    const core::election_index which{i};
    keep(which);
    clean_up(which);
  }
  timer_.after(keep_every, [this] { keep(); });
}

void membership::keep(core::election_index which) {
  const std::string name = member_name(shared_.spec(which).name, shared_.self.mark);
  write(which, shared_.seen(which).lease(name), true);
}

/// `may_repeat`: if our Lease is not as we know it, it is written once more as it is. If anything
/// else fails, the next turn tries again with what there is then.
void membership::write(core::election_index which, const lease_object* known, bool may_repeat) {
  const std::int64_t now_ms = shared_.with.wall_ms();
  spec_change spec{.holder = shared_.signature(),
                   .duration_s = name_lasts_s,
                   .renewed_ms = renewal_time(now_ms, known == nullptr ? 0 : known->renewed_ms)};
  const core::time_point deadline = shared_.loop.now() + call_patience;
  const std::string name = member_name(shared_.spec(which).name, shared_.self.mark);
  auto then = guarded([this, which, name, deadline, may_repeat, was_known = known != nullptr](
                          const std::expected<written_lease, call_failure>& what) {
    if (what || !may_repeat) return;
    if (what.error().meaning == error_meaning::missing && was_known) {
      write(which, nullptr, false);
    } else if (what.error().meaning == error_meaning::conflict) {
      shared_.fetch(which, name, deadline, guarded([this, which](const auto& fetched) {
                      if (fetched) write(which, *fetched ? &**fetched : nullptr, false);
                    }));
    }
  });
  note_change notes{{std::string(ready_annotation), readiness_text(says_[core::place(which)])}};
  if (known == nullptr) {
    spec.acquired_ms = now_ms;
    spec.transitions = 0;
  } else if (const auto since = parse_term(known->note(term_annotation));
             !since || since->mark != shared_.self.mark) {
    notes.emplace(term_annotation, term_text({.transitions = known->transitions,
                                              .version = core::version{known->resource_version},
                                              .mark = shared_.self.mark}));
  }
  shared_.write(which, name, known, spec, notes, deadline, std::move(then));
}

void membership::clean_up(core::election_index which) {
  const auto all = shared_.seen(which).left_behind(shared_.loop.now());
  for (std::size_t i = 0; i < std::min(all.size(), most_deleted); ++i) {
    shared_.remove(all[i], shared_.loop.now() + call_patience, [](const reply_or_failure&) {});
  }
}

void membership::leave(core::time_point deadline, handler<release_outcome> done) {
  const bool was_there = std::exchange(appears_, true);
  timer_.cancel();
  alive_.reset();
  struct removals {
    std::size_t left = 1;
    handler<release_outcome> done;
  };
  const auto all = std::make_shared<removals>();
  all->done = std::move(done);
  const auto gone = [all] {
    if (--all->left == 0) all->done(released{});
  };
  for (std::uint32_t i = 0; was_there && i < shared_.with.elections.size(); ++i) {
    const core::election_index which{i};
    ++all->left;
    take_away(which, deadline, removals_of_a_name, gone);
  }
  shared_.loop.post(shared_.guarded(gone));
}

/// As it is by now: a write of ours may be under way, which the removal of what was read before
/// would conflict with.
void membership::take_away(core::election_index which, core::time_point deadline, int tries,
                           const std::function<void()>& gone) {
  const auto removed = [this, which, deadline, tries, gone](const reply_or_failure& what) {
    const bool was_written = !what && what.error().meaning == error_meaning::conflict;
    if (!was_written || tries == 1) return gone();
    take_away(which, deadline, tries - 1, gone);
  };
  shared_.fetch(which, member_name(shared_.spec(which).name, shared_.self.mark), deadline,
                [this, deadline, gone, removed](const auto& fetched) {
                  if (!fetched || !fetched->has_value()) return gone();
                  shared_.remove(**fetched, deadline, removed);
                });
}

void membership::close() {
  alive_.reset();
  timer_.cancel();
}

}  // namespace tenure::stores::kubernetes
