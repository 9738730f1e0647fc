#include "stores/kubernetes/watcher.hpp"

#include <algorithm>
#include <utility>

#include "base/percent_text.hpp"
#include "core/backoff.hpp"
#include "core/sometimes.hpp"
#include "stores/kubernetes/layout.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// For each list, and for the first bytes of a stream.
constexpr core::duration connect_patience = std::chrono::seconds(5);
/// Between attempts to connect.
constexpr core::backoff pauses{.first = std::chrono::milliseconds(50),
                               .most = std::chrono::seconds(2)};
/// When a watch that has lived for this long breaks, earlier failures no longer count.
constexpr core::duration steady_after = std::chrono::seconds(5);
/// How old a stream gets before it is replaced, at random in between, so that not all are replaced
/// together. Proxies that end connections for their age leave them more.
constexpr core::duration least_age = std::chrono::minutes(4);
constexpr core::duration more_age = std::chrono::minutes(1);
/// A stream that has shown nothing for this long is replaced, or for the time after which it is
/// checked, if that is in between. Balancers cut connections that are silent for 50 s and more.
constexpr core::duration least_silence = std::chrono::seconds(10);
constexpr core::duration most_silence = std::chrono::seconds(25);
/// For how long a stream and its successor are both followed. The client notices within about ten
/// seconds that a server is gone (http_client::stream).
constexpr core::duration proven_after = std::chrono::seconds(15);
/// After a successor that could not be opened.
constexpr core::duration replace_again_after = std::chrono::seconds(2);
/// When the server ends a watch that nothing has replaced: while a server is busy, so that leases
/// that run out do so before. And how many there are at least between two renewals.
constexpr core::duration least_watch = std::chrono::minutes(10);
constexpr int ttls_per_watch = 3;

/// A part of `most`, at random.
core::duration up_to(core::duration most, std::uint64_t random_bits) {
  return core::duration(
      static_cast<core::duration::rep>(random_bits % static_cast<std::uint64_t>(most.count())));
}

constexpr core::duration check_members_after = std::chrono::seconds(30);

/// Elections whose first Leases are watched one by one.
constexpr std::size_t most_single = 16;

}  // namespace

std::vector<scope> scopes_of(const std::vector<settings::election>& elections) {
  scope everything{.selector = {}, .has_first = true, .has_others = true};
  for (std::uint32_t i = 0; i < elections.size(); ++i) {
    everything.elections.push_back(core::election_index{i});
  }
  if (elections.size() > most_single) return {std::move(everything)};
  std::vector<scope> out;
  std::string names;
  for (std::uint32_t i = 0; i < elections.size(); ++i) {
    const std::string& name = elections[i].name;
    out.push_back({.selector = "fieldSelector=metadata.name%3D" + name,
                   .has_first = true,
                   .elections = {core::election_index{i}}});
    names.append(names.empty() ? "" : ",").append(name);
  }
  out.push_back({.selector = "labelSelector=" + base::percent_encoded(std::string(election_label) +
                                                                      " in (" + names + ")"),
                 .has_others = true,
                 .elections = everything.elections});
  return out;
}

watcher::watcher(base::event_loop& on, cluster& through, std::vector<mirror>& mirrors,
                 std::string path, std::vector<scope> scopes, core::duration ttl, handlers tell)
    : loop_(on),
      cluster_(through),
      mirrors_(mirrors),
      path_(std::move(path)),
      ttl_(ttl),
      tell_(std::move(tell)) {
  for (scope& one : scopes) all_.push_back(std::make_unique<watched>(loop_, std::move(one)));
}

watcher::~watcher() {
  close();
}

void watcher::start() {
  for (place at = 0; at < all_.size(); ++at) connect(at);
}

void watcher::close() {
  alive_.reset();
  for (place at = 0; at < all_.size(); ++at) drop_streams(at);
}

bool watcher::live(core::election_index which, part its) const {
  return std::ranges::all_of(all_, [&](const auto& one) {
    const bool is_watched = its == part::first ? one->what.has_first : one->what.has_others;
    const auto& elections = one->what.elections;
    return one->live || !is_watched || std::ranges::find(elections, which) == elections.end();
  });
}

bool watcher::live(core::election_index which) const {
  const mirror& m = mirrors_[core::place(which)];
  return live(which, part::first) && (!m.has_slots(part::others) || live(which, part::others));
}

bool watcher::all_live() const {
  return std::ranges::all_of(all_, [](const auto& one) { return one->live; });
}

bool watcher::has_slots(place at, core::election_index of) const {
  return all_[at]->what.has_first || mirrors_[core::place(of)].has_slots(part::others);
}

bool watcher::has_slots(place at) const {
  return std::ranges::any_of(all_[at]->what.elections,
                             [&](core::election_index one) { return has_slots(at, one); });
}

/// True if somebody else holds a Lease of this scope: then it matters for how long nothing was
/// missed.
bool watcher::counts_leases(place at) const {
  return std::ranges::any_of(all_[at]->what.elections, [&](core::election_index one) {
    return has_slots(at, one) && std::ranges::any_of(mirrors_[core::place(one)].holders(),
                                                     [](const auto& who) { return !who.ours; });
  });
}

/// True until the scope is connected anew, or all is closed.
auto watcher::still_here(place at) {
  return [this, at, generation = all_[at]->generation, alive = std::weak_ptr(alive_)] {
    return !alive.expired() && generation == all_[at]->generation;
  };
}

/// Wraps a handler so that it is not called after that.
template <class Handler>
auto watcher::current(place at, Handler what) {
  return [valid = still_here(at), what = std::move(what)](auto&&... arguments) mutable {
    if (valid()) what(std::forward<decltype(arguments)>(arguments)...);
  };
}

// Connecting -----------------------------------------------------------------------------------

void watcher::drop_streams(place at) {
  watched& one = *all_[at];
  ++one.generation;
  one.live = one.owes = false;
  one.stream.reset();
  one.successor.reset();
  for (base::timer* timer : {&one.next_check, &one.replacement, &one.retry}) timer->cancel();
}

void watcher::connect(place at) {
  drop_streams(at);
  list(at, true, [this, at](bool) { all_[at]->stream = open_stream(at); });
}

/// A list is read through the quorum of etcd, so it is never older than what was known when it was
/// asked for. If it is, etcd was restored after the list that the watch goes on from: that watch
/// shows nothing until the versions have caught up.
void watcher::list(place at, bool missed, std::move_only_function<void(bool is_new)> then) {
  const std::uint64_t oldest = missed ? 0 : all_[at]->version;
  cluster_.call({.path = path_, .query = all_[at]->what.selector}, loop_.now() + connect_patience,
                current(at, [this, at, missed, oldest,
                             then = std::move(then)](const reply_or_failure& what) mutable {
                  if (!what) return fail(at, what.error());
                  const auto all = parse_list(what->body);
                  if (!all) return fail(at, {.why = cluster_.present() + ": " + all.error().why});
                  if (all->resource_version < oldest) {
                    TENURE_SOMETIMES(kubernetes_list_is_older_than_the_watch);
                    return fail(at, {.why = cluster_.present() +
                                            " shows an earlier state than before: its etcd was "
                                            "restored from a backup"});
                  }
                  then(show(at, *all, what->date_ms, missed));
                }));
}

/// Shows a list to the mirrors; true if they have learned something.
bool watcher::show(place at, const lease_list& all, std::int64_t date_ms, bool missed) {
  watched& one = *all_[at];
  if (missed) one.version = all.resource_version;
  bool is_new = false;
  for (const core::election_index which : one.what.elections) {
    mirror& m = mirrors_[core::place(which)];
    const std::uint64_t before = m.changes();
    const auto take_all = [&](part its) {
      m.take_all(its, all.items, all.resource_version, loop_.now(), date_ms, missed);
    };
    if (one.what.has_first) take_all(part::first);
    if (one.what.has_others) take_all(part::others);
    is_new = is_new || m.changes() != before;
  }
  return is_new;
}

std::unique_ptr<lease_stream> watcher::open_stream(place at) {
  const watched& one = *all_[at];
  const watch_request what{.path = path_,
                           .selector = one.what.selector,
                           .version = one.version,
                           .lasts = std::max(least_watch, ttls_per_watch * ttl_) +
                                    up_to(least_watch, loop_.random_bits())};
  return std::make_unique<lease_stream>(
      cluster_, what, loop_.now() + connect_patience,
      lease_stream::handlers{
          .confirmed = [this, at](const lease_stream& which) { confirmed(at, which); },
          .shows = [this, at](lease_stream& which, const auto& events,
                              std::size_t bytes) { take(at, which, events, bytes); },
          .ended = [this, at](const lease_stream& which,
                              const call_failure& why) { ended(at, which, why); }});
}

void watcher::confirmed(place at, const lease_stream& which) {
  watched& one = *all_[at];
  if (&which == one.successor.get()) return successor_confirmed(at);
  one.live = true;
  one.live_since = loop_.now();
  check_later(at);
  is_new(at);
  hear(at);
  std::vector<core::election_index> followed;
  for (const core::election_index which : one.what.elections) {
    if (live(which)) followed.push_back(which);
  }
  tell(followed, tell_.live, at);
}

// Following ------------------------------------------------------------------------------------

void watcher::take(place at, lease_stream& from, std::span<const watch_event> events,
                   std::size_t bytes) {
  watched& one = *all_[at];
  from.pause(taken_.take(loop_.now(), bytes, events.size()));
  one.silent_since = loop_.now();
  const auto valid = still_here(at);
  bool has_news = false;
  std::set<core::election_index> later;
  for (const watch_event& event : events) {
    if (!take(at, event, later) || !valid()) return;
    has_news = has_news || event.what != watch_event::type::bookmark;
  }
  if (!tell({later.begin(), later.end()}, tell_.changed, at)) return;
  if (!one.successor) replace_later(at);
  if (!has_news) return;
  one.owes = false;
  check_later(at);
  hear(at);
}

/// Tells of each change of a slot by itself, and leaves it to the caller to tell of anything else
/// that came with it: renewals and members. False if the stream is over, or all was closed.
bool watcher::take(place at, const watch_event& what, std::set<core::election_index>& later) {
  using enum watch_event::type;
  watched& one = *all_[at];
  one.version = std::max(one.version, what.resource_version);
  std::vector<core::election_index> news;
  for (const core::election_index which : one.what.elections) {
    mirror& m = mirrors_[core::place(which)];
    if (what.what != bookmark && m.has(what.object)) {
      const bool may_wait = m.is_routine(what.object, what.what == deleted);
      if (what.what == deleted) {
        m.take_away(what.object.name, what.resource_version);
      } else {
        m.take(what.object, loop_.now());
      }
      if (may_wait) {
        later.insert(which);
      } else {
        news.push_back(which);
        later.erase(which);
      }
    }
    if (one.what.has_first) m.reach(part::first, what.resource_version);
    if (one.what.has_others) m.reach(part::others, what.resource_version);
  }
  return tell(news, tell_.changed, at);
}

void watcher::ended(place at, const lease_stream& which, const call_failure& why) {
  &which == all_[at]->stream.get() ? fail(at, why) : successor_ended(at, why);
}

// Replacing a stream ---------------------------------------------------------------------------

void watcher::replace_later(place at) {
  watched& one = *all_[at];
  const core::duration silence = std::clamp(check_after(at), least_silence, most_silence);
  const core::time_point due = std::min(one.replace_at, one.silent_since + silence);
  one.replacement.at(std::max(due, one.replace_from), [this, at] { replace(at); });
}

void watcher::replace(place at) {
  watched& one = *all_[at];
  // Where nobody is waited for, a break costs nothing.
  if (!counts_leases(at)) return one.replacement.after(least_silence, [this, at] { replace(at); });
  if (const core::time_point ready = cluster_.ready_at(); loop_.now() < ready) {
    return one.replacement.at(ready + up_to(replace_again_after, loop_.random_bits()),
                              [this, at] { replace(at); });
  }
  one.successor = open_stream(at);
}

void watcher::successor_confirmed(place at) {
  all_[at]->replacement.after(proven_after, [this, at] {
    watched& one = *all_[at];
    one.stream = std::exchange(one.successor, nullptr);
    is_new(at);
  });
}

/// The stream itself goes on.
void watcher::successor_ended(place at, const call_failure& why) {
  watched& one = *all_[at];
  TENURE_SOMETIMES(kubernetes_successor_of_a_watch_failed);
  one.successor.reset();
  if (why.meaning != error_meaning::expired) cluster_.move_on();
  one.replace_from = loop_.now() + replace_again_after;
  replace_later(at);
}

/// The stream has just taken the place of another one, or of none.
void watcher::is_new(place at) {
  watched& one = *all_[at];
  one.replace_at = loop_.now() + least_age + up_to(more_age, loop_.random_bits());
  one.silent_since = loop_.now();
  replace_later(at);
}

// Looking after a stream -----------------------------------------------------------------------

void watcher::check_later(place at) {
  all_[at]->next_check.after(check_after(at), [this, at] { check(at); });
}

/// A holder renews three times in a ttl. This is a little later.
core::duration watcher::check_after(place at) const {
  const core::duration after = ttl_ * 5 / 12;
  return has_slots(at) ? after : std::max(after, check_members_after);
}

void watcher::check(place at) {
  if (all_[at]->owes) {
    return fail(at, {.why = cluster_.present() +
                            " does not show on a watch what it shows when it is asked"});
  }
  list(at, false, [this, at](bool is_new) {
    watched& one = *all_[at];
    one.owes = is_new;
    check_later(at);
    hear(at);
    if (is_new) tell(std::vector(one.what.elections), tell_.changed, at);
  });
}

/// False if the scope was connected anew, or all was closed, from within a handler.
bool watcher::tell(const std::vector<core::election_index>& whom,
                   const std::function<void(core::election_index)>& news, place at) {
  const auto valid = still_here(at);
  for (const core::election_index which : whom) {
    news(which);
    if (!valid()) return false;
  }
  return true;
}

void watcher::hear(place at) {
  all_[at]->heard = true;
  for (place i = 0; i < all_.size(); ++i) {
    if (!all_[i]->heard && has_slots(i)) return;
  }
  for (const auto& one : all_) one->heard = false;
  cluster_.warm_up(loop_.now() + connect_patience);
  if (tell_.heard) tell_.heard();
}

// Failing --------------------------------------------------------------------------------------

/// Connects again once without a pause, as the next server may work; not if it breaks again and
/// again.
void watcher::fail(place at, const call_failure& why) {
  watched& one = *all_[at];
  const bool was_live = one.live;
  if (was_live && loop_.now() - one.live_since >= steady_after) one.failures = 0;
  const std::uint32_t before = one.failures++;
  if (was_live && before == 0) return connect(at);
  drop_streams(at);
  if (why.meaning != error_meaning::expired) cluster_.move_on();
  one.retry.after(pauses.after(before + 1, loop_.random_bits()), [this, at] { connect(at); });
  std::vector<core::election_index> whom;
  for (const core::election_index which : one.what.elections) {
    if (has_slots(at, which)) whom.push_back(which);
  }
  tell_.broken(whom, why);
}

}  // namespace tenure::stores::kubernetes
