#include "stores/consul/watcher.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/backoff.hpp"
#include "core/check.hpp"
#include "core/sometimes.hpp"
#include "stores/consul/absences.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::stores::consul {
namespace {

constexpr core::duration read_patience = std::chrono::seconds(5);
/// What Consul may take to answer a blocking query after its time is over.
constexpr core::duration answer_patience = std::chrono::seconds(1);
/// Consul adds up to a sixteenth to the wait that it is asked for.
constexpr int jitter_part = 16;
/// The longest wait, even if leases last longer.
constexpr core::duration longest_wait = std::chrono::seconds(20);
/// Between attempts to connect.
constexpr core::backoff pauses{.first = std::chrono::milliseconds(50),
                               .most = std::chrono::seconds(2)};
/// When a watch that has lived for this long breaks, earlier failures no longer count.
constexpr core::duration steady_after = std::chrono::seconds(5);

/// What answers may bring at once and per second. Consul answers a query at every change of the
/// folder, and may do so without one.
constexpr std::int64_t most_at_once = std::int64_t{8} * 1024 * 1024;
constexpr std::int64_t most_a_second = std::int64_t{2} * 1024 * 1024;
/// What each answer counts for, besides its size.
constexpr std::size_t answer_bytes = std::size_t{4} * 1024;

}  // namespace

watcher::watcher(base::event_loop& on, cluster& through, std::vector<mirror>& mirrors,
                 std::vector<folder> folders, core::duration check_every, handlers tell)
    : loop_(on),
      cluster_(through),
      mirrors_(mirrors),
      check_every_(std::min(longest_wait, check_every - check_every / jitter_part)),
      tell_(std::move(tell)),
      taken_(most_at_once, most_a_second),
      place_of_(mirrors.size()) {
  for (folder& one : folders) {
    for (const core::election_index which : one.elections) {
      place_of_[core::place(which)] = all_.size();
    }
    watched& its = all_.emplace_back();
    its.what = std::move(one);
    its.next = std::make_unique<base::timer>(loop_);
  }
}

watcher::~watcher() {
  close();
}

void watcher::start() {
  for (place at = 0; at < all_.size(); ++at) connect(at);
}

void watcher::close() {
  alive_.reset();
  for (watched& one : all_) one.next->cancel();
}

/// True until the folder is connected anew, or all is closed.
auto watcher::still_here(place at) {
  return [this, at, generation = all_[at].generation, alive = std::weak_ptr(alive_)] {
    return !alive.expired() && generation == all_[at].generation;
  };
}

/// Wraps a handler so that it is not called after that.
template <class Handler>
auto watcher::current(place at, Handler what) {
  return [valid = still_here(at), what = std::move(what)](auto&&... arguments) mutable {
    if (valid()) what(std::forward<decltype(arguments)>(arguments)...);
  };
}

void watcher::connect(place at) {
  watched& one = all_[at];
  ++one.generation;
  one.live = one.looks = false;
  one.next->cancel();
  cluster_.call(read_request(one.what.prefix), loop_.now() + read_patience,
                current(at, [this, at](const reply_or_failure& what) {
                  if (!what) return fail(at, what.error());
                  auto keys = keys_in(*what, all_[at].what.prefix);
                  if (!keys) return fail(at, {.why = cluster_.present() + ": " + keys.error().why});
                  make_sure(at, *what, std::move(*keys),
                            [this, at, answer = *what](std::span<const key_value> all) {
                              connected(at, answer, all);
                            });
                }));
}

void watcher::connected(place at, const reply& what, std::span<const key_value> keys) {
  watched& one = all_[at];
  one.live = true;
  one.live_since = loop_.now();
  show(at, what.index, keys, true);
  if (tell(at, tell_.live)) ask(at);
}

void watcher::ask(place at) {
  watched& one = all_[at];
  one.asked_at = loop_.now();
  one.asked_index = one.index;
  cluster_.wait(watch_request(one.what.prefix, one.index, check_every_),
                loop_.now() + check_every_ + check_every_ / jitter_part + answer_patience,
                current(at, [this, at](const reply_or_failure& what) { answered(at, what); }));
}

void watcher::answered(place at, const reply_or_failure& what) {
  if (!what) return fail(at, what.error());
  watched& one = all_[at];
  const auto cost = static_cast<std::int64_t>(what->body.size() + answer_bytes);
  core::duration pause = taken_.take(loop_.now(), cost);
  // A look may overtake the answer, and has shown what it says, or what followed.
  if (what->index > one.asked_index && what->index <= one.index) {
    TENURE_SOMETIMES(consul_answer_overtaken_by_a_look);
    hear(at);
    one.idle = 0;
  } else if (what->index == one.asked_index) {
    // Without a change there is nothing to read.
    hear(at);
    const core::duration waited = loop_.now() - one.asked_at;
    one.idle = waited < check_every_ / 2 ? one.idle + 1 : 0;
    if (one.idle > 1) {
      TENURE_SOMETIMES(consul_query_answered_early_again);
      const core::duration next = pauses.after(one.idle - 1, loop_.random_bits());
      pause = std::max(pause, std::min(next, check_every_ / 2));
    }
    if (waited < check_every_ && !std::exchange(one.looks, true)) {
      begin_look(at);
    }
  } else {
    one.idle = 0;
    auto keys = keys_in(*what, one.what.prefix);
    if (!keys) return fail(at, {.why = cluster_.present() + ": " + keys.error().why});
    return make_sure(at, *what, std::move(*keys),
                     [this, at, pause, index = what->index](std::span<const key_value> all) {
                       // An index that goes back: Consul was restored from a backup, or has
                       // forgotten what was deleted long ago.
                       show(at, index, all, index < all_[at].index);
                       if (tell(at, tell_.changed)) ask_after(at, pause);
                     });
  }
  ask_after(at, pause);
}

void watcher::ask_after(place at, core::duration pause) {
  if (pause == core::duration::zero()) return ask(at);
  all_[at].next->after(pause, current(at, [this, at] { ask(at); }));
}

void watcher::look(core::election_index which, std::move_only_function<void()> done) {
  TENURE_CHECK(live(which));
  const place at = place_of_[core::place(which)];
  watched& one = all_[at];
  one.wait_for_look.push_back(std::move(done));
  // One that is under way may have been answered before this call.
  if (!std::exchange(one.looks, true)) begin_look(at);
}

void watcher::begin_look(place at) {
  auto waiting = std::exchange(all_[at].wait_for_look, {});
  cluster_.call(read_request(all_[at].what.prefix), loop_.now() + read_patience,
                current(at, [this, at, known = all_[at].index,
                             waiting = std::move(waiting)](const reply_or_failure& what) mutable {
                  if (!what) return fail(at, what.error());
                  auto keys = keys_in(*what, all_[at].what.prefix);
                  if (!keys) return fail(at, {.why = cluster_.present() + ": " + keys.error().why});
                  make_sure(at, *what, std::move(*keys),
                            [this, at, known, index = what->index,
                             waiting = std::move(waiting)](std::span<const key_value> all) mutable {
                              looked(at, known, index, all, std::move(waiting));
                            });
                }));
}

/// `known`: the index when this look began.
void watcher::looked(place at, std::uint64_t known, std::uint64_t index,
                     std::span<const key_value> keys,
                     std::vector<std::move_only_function<void()>> waiting) {
  // The blocking query may have shown a later state meanwhile.
  if (index < known || index > all_[at].index) {
    TENURE_SOMETIMES(consul_look_shows_more_than_the_query);
    show(at, index, keys, index < known);
    if (!tell(at, tell_.changed)) return;
  }
  const auto valid = still_here(at);
  for (auto& done : waiting) {
    done();
    if (!valid()) return;
  }
  if (all_[at].wait_for_look.empty()) {
    all_[at].looks = false;
  } else {
    begin_look(at);
  }
}

/// Calls `then` with the keys of an answer once it is sure that those which it lacks are gone.
void watcher::make_sure(place at, const reply& what, std::vector<key_value> keys,
                        std::move_only_function<void(std::span<const key_value>)> then) {
  std::vector<std::string> vanished;
  for (const core::election_index which : all_[at].what.elections) {
    const mirror& m = mirrors_[core::place(which)];
    std::ranges::move(m.vanished(keys, what.index), std::back_inserter(vanished));
  }
  if (vanished.empty()) return then(keys);
  confirm_absent(cluster_, std::move(vanished), loop_.now() + read_patience,
                 current(at, [this, at, keys = std::move(keys), then = std::move(then)](
                                 std::expected<void, call_failure> gone) mutable {
                   gone ? then(keys) : fail(at, std::move(gone.error()));
                 }));
}

/// Shows the keys to the mirrors. `anew`: changes may have been missed.
void watcher::show(place at, std::uint64_t index, std::span<const key_value> keys, bool anew) {
  all_[at].index = index;
  for (const core::election_index which : all_[at].what.elections) {
    mirror& m = mirrors_[core::place(which)];
    const auto is_before = [](const key_value& kv, std::string_view prefix) {
      return kv.key < prefix;
    };
    const auto begin = std::lower_bound(keys.begin(), keys.end(), m.prefix(), is_before);
    const auto end = std::find_if(
        begin, keys.end(), [&](const key_value& kv) { return !kv.key.starts_with(m.prefix()); });
    anew ? m.replace({begin, end}, index) : m.follow({begin, end}, index);
  }
  hear(at);
}

/// False if the folder was connected anew, or all was closed, from within a handler.
bool watcher::tell(place at, const std::function<void(core::election_index)>& news) {
  const auto valid = still_here(at);
  for (const core::election_index which : std::vector(all_[at].what.elections)) {
    news(which);
    if (!valid()) return false;
  }
  return true;
}

void watcher::hear(place at) {
  all_[at].heard = true;
  if (!std::ranges::all_of(all_, &watched::heard)) return;
  for (watched& one : all_) one.heard = false;
  cluster_.warm_up(loop_.now() + read_patience);
  if (tell_.heard) tell_.heard();
}

/// Connects again once without a pause, as the next agent may work; not if it breaks again and
/// again.
void watcher::fail(place at, call_failure what) {
  watched& one = all_[at];
  const bool was_live = std::exchange(one.live, false);
  if (was_live && loop_.now() - one.live_since >= steady_after) one.failures = 0;
  const std::uint32_t before = one.failures++;
  one.index = 0;
  one.wait_for_look.clear();
  if (was_live && before == 0) return connect(at);
  ++one.generation;
  cluster_.move_on();
  one.next->after(pauses.after(before + 1, loop_.random_bits()), [this, at] { connect(at); });
  tell_.broken(std::vector(one.what.elections), what);
}

}  // namespace tenure::stores::consul
