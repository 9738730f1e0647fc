#include "stores/kubernetes/watcher.hpp"

#include <algorithm>
#include <utility>

#include "base/percent_text.hpp"
#include "core/backoff.hpp"
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
/// After how long the server ends a watch, at random in between, so that not all end together.
constexpr std::uint64_t least_watch_s = 300;
constexpr std::uint64_t more_watch_s = 300;

/// What a watch may send: so much at once, which is more than ten thousand elections send at their
/// start, and so much a second from then on. Each document counts as this many bytes more than it
/// has.
constexpr std::int64_t most_at_once = std::int64_t{32} << 20U;
constexpr std::int64_t most_a_second = std::int64_t{4} << 20U;
constexpr std::size_t document_bytes = 2048;

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
                 std::string path, std::vector<scope> scopes, core::duration check_after,
                 handlers tell)
    : loop_(on),
      cluster_(through),
      mirrors_(mirrors),
      path_(std::move(path)),
      check_after_(check_after),
      tell_(std::move(tell)),
      taken_(most_at_once, most_a_second) {
  for (scope& one : scopes) {
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
  for (watched& one : all_) {
    one.next->cancel();
    one.stream.reset();
  }
}

bool watcher::live(core::election_index which, part its) const {
  return std::ranges::all_of(all_, [&](const watched& one) {
    const bool is_watched = its == part::first ? one.what.has_first : one.what.has_others;
    return one.live || !is_watched ||
           std::ranges::find(one.what.elections, which) == one.what.elections.end();
  });
}

bool watcher::live(core::election_index which) const {
  const mirror& m = mirrors_[core::place(which)];
  return live(which, part::first) && (!m.has_slots(part::others) || live(which, part::others));
}

bool watcher::all_live() const {
  return std::ranges::all_of(all_, &watched::live);
}

bool watcher::has_slots(place at, core::election_index of) const {
  return all_[at].what.has_first || mirrors_[core::place(of)].has_slots(part::others);
}

bool watcher::has_slots(place at) const {
  return std::ranges::any_of(all_[at].what.elections,
                             [&](core::election_index one) { return has_slots(at, one); });
}

/// True until the scope is connected anew, or all is closed.
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

// Connecting -----------------------------------------------------------------------------------

void watcher::drop_stream(place at) {
  watched& one = all_[at];
  ++one.generation;
  one.live = one.owes = false;
  one.stream.reset();
  one.documents = {};
  one.next->cancel();
}

void watcher::connect(place at) {
  drop_stream(at);
  list(at, true, [this, at](bool) { open_stream(at); });
}

void watcher::list(place at, bool missed, std::move_only_function<void(bool is_new)> then) {
  cluster_.call(
      {.path = path_, .query = all_[at].what.selector}, loop_.now() + connect_patience,
      current(at, [this, at, missed, then = std::move(then)](const reply_or_failure& what) mutable {
        if (!what) return fail(at, what.error());
        const auto all = parse_list(what->body);
        if (!all) return fail(at, {.why = cluster_.present() + ": " + all.error().why});
        const bool is_new = show(at, *all, what->date_ms, missed);
        then(is_new);
      }));
}

/// Shows a list to the mirrors; true if they have learned something.
bool watcher::show(place at, const lease_list& all, std::int64_t date_ms, bool missed) {
  watched& one = all_[at];
  if (missed) one.version = all.resource_version;
  bool is_new = false;
  for (const core::election_index which : one.what.elections) {
    mirror& m = mirrors_[core::place(which)];
    const core::observation before = m.observe(loop_.now());
    const auto take_all = [&](part its) {
      m.take_all(its, all.items, all.resource_version, loop_.now(), date_ms, missed);
    };
    if (one.what.has_first) take_all(part::first);
    if (one.what.has_others) take_all(part::others);
    core::observation after = m.observe(loop_.now());
    after.as_of = before.as_of;
    is_new = is_new || after != before;
  }
  return is_new;
}

void watcher::open_stream(place at) {
  watched& one = all_[at];
  const std::uint64_t lasts = least_watch_s + loop_.random_bits() % more_watch_s;
  request what{.path = path_, .query = one.what.selector};
  what.query +=
      std::string(what.query.empty() ? "" : "&") +
      "watch=true&allowWatchBookmarks=true&resourceVersion=" + std::to_string(one.version) +
      "&timeoutSeconds=" + std::to_string(lasts);
  auto status = std::make_shared<unsigned>(0);
  one.stream = cluster_.stream(
      what, loop_.now() + connect_patience,
      {.head = current(at,
                       [this, at, status](const http::reply_head& head) {
                         *status = head.status;
                         if (head.status == 200) confirmed(at);
                       }),
       .data = current(at,
                       [this, at, status](std::string_view piece) {
                         if (*status == 200) return take(at, piece);
                         fail(at, read_error(*status, piece));
                       }),
       .ended = current(at, [this, at](std::optional<http::client_error> why) {
         // The server ends each watch some time.
         fail(at, {.meaning = why ? error_meaning::unknown : error_meaning::expired,
                   .why = why ? std::move(why->text) : cluster_.present() + " has ended a watch"});
       })});
}

void watcher::confirmed(place at) {
  watched& one = all_[at];
  one.live = true;
  one.live_since = loop_.now();
  check_later(at);
  hear(at);
  std::vector<core::election_index> followed;
  for (const core::election_index which : one.what.elections) {
    if (live(which)) followed.push_back(which);
  }
  tell(followed, tell_.live, at);
}

// Following ------------------------------------------------------------------------------------

void watcher::take(place at, std::string_view piece) {
  watched& one = all_[at];
  const auto documents = one.documents.feed(piece);
  if (!documents) return fail(at, {.why = cluster_.present() + ": " + documents.error().why});
  const std::size_t cost = piece.size() + documents->size() * document_bytes;
  one.stream->pause(taken_.take(loop_.now(), static_cast<std::int64_t>(cost)));
  const auto valid = still_here(at);
  bool has_news = false;
  for (const std::string& document : *documents) {
    const auto event = parse_event(document);
    if (!event) return fail(at, {.why = cluster_.present() + ": " + event.error().why});
    if (!take(at, *event) || !valid()) return;
    has_news = has_news || event->what != watch_event::type::bookmark;
  }
  if (!has_news) return;
  one.owes = false;
  check_later(at);
  hear(at);
}

/// False if the stream is over, or all was closed.
bool watcher::take(place at, const watch_event& what) {
  using enum watch_event::type;
  if (what.what == error) {
    fail(at, {.meaning = what.error.code == 410 ? error_meaning::expired : error_meaning::unknown,
              .why = cluster_.present() + " has ended a watch: " + what.error.message});
    return false;
  }
  const watched& one = all_[at];
  std::vector<core::election_index> news;
  for (const core::election_index which : one.what.elections) {
    mirror& m = mirrors_[core::place(which)];
    if (what.what != bookmark && m.has(what.object)) {
      if (what.what == deleted) {
        m.take_away(what.object.name, what.resource_version);
      } else {
        m.take(what.object, loop_.now());
      }
      news.push_back(which);
    }
    if (one.what.has_first) m.reach(part::first, what.resource_version);
    if (one.what.has_others) m.reach(part::others, what.resource_version);
  }
  return tell(news, tell_.changed, at);
}

void watcher::check_later(place at) {
  all_[at].next->after(check_after(at), current(at, [this, at] { check(at); }));
}

core::duration watcher::check_after(place at) const {
  return has_slots(at) ? check_after_ : std::max(check_after_, check_members_after);
}

void watcher::check(place at) {
  if (all_[at].owes) {
    return fail(at, {.why = cluster_.present() +
                            " does not show on a watch what it shows when it is asked"});
  }
  list(at, false, [this, at](bool is_new) {
    watched& one = all_[at];
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
  all_[at].heard = true;
  for (place i = 0; i < all_.size(); ++i) {
    if (!all_[i].heard && has_slots(i)) return;
  }
  for (watched& one : all_) one.heard = false;
  cluster_.warm_up(loop_.now() + connect_patience);
  if (tell_.heard) tell_.heard();
}

// Failing --------------------------------------------------------------------------------------

void watcher::fail(place at, const reply_error& what) {
  if (what.meaning == error_meaning::denied) cluster_.doubt_token();
  fail(at, {.meaning = what.meaning,
            .why = cluster_.present() + " does not let us watch: " + text(what)});
}

/// Connects again once without a pause, as the next server may work; not if it breaks again and
/// again.
void watcher::fail(place at, call_failure what) {
  watched& one = all_[at];
  const bool was_live = one.live;
  if (was_live && loop_.now() - one.live_since >= steady_after) one.failures = 0;
  const std::uint32_t before = one.failures++;
  if (was_live && before == 0) return connect(at);
  drop_stream(at);
  if (what.meaning != error_meaning::expired) cluster_.move_on();
  one.next->after(pauses.after(before + 1, loop_.random_bits()), [this, at] { connect(at); });
  std::vector<core::election_index> whom;
  for (const core::election_index which : one.what.elections) {
    if (has_slots(at, which)) whom.push_back(which);
  }
  tell_.broken(whom, what);
}

}  // namespace tenure::stores::kubernetes
