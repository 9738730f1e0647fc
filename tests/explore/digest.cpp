#include <algorithm>
#include <type_traits>
#include <variant>

#include "small_world.hpp"
#include "state_reader.hpp"

/// What makes two states equal. All is relative to the present, to the store's newest
/// version and to its owner, so that a state is recognized later, under other numbers, and with
/// the members' parts exchanged.
namespace tenure::explore {
namespace {

using reader = core::state_reader;

/// Each number is multiplied in, and the product folded. Of 64 bits, so that among 10^8 states two
/// that differ are taken for one with a chance of 1 in 3,000.
class hasher {
 public:
  void number(std::uint64_t n) {
    const auto product = static_cast<unsigned __int128>(state_ ^ n ^ 0x9e37'79b9'7f4a'7c15U) *
                         0xda94'2042'e4dd'58b5U;
    state_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
  template <class T>
    requires std::is_enum_v<T>
  void number(T n) {
    number(static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] std::uint64_t result() const { return state_; }

 private:
  std::uint64_t state_ = 0x2d35'8dcc'aa6c'78a5U;
};

/// Everything is measured from here.
struct origin {
  core::time_point now;
  std::uint64_t revision;

  /// What is over for longer than `memory` is over.
  [[nodiscard]] std::uint64_t instant(core::time_point t,
                                      core::duration memory = core::duration::zero()) const {
    if (t == core::never) return ~0U;
    if (t == core::time_point::min()) return ~1U;
    return static_cast<std::uint64_t>(std::max(t - now, -memory).count());
  }
  [[nodiscard]] std::uint64_t version(core::version v) const {
    return v == core::no_version ? 0 : 1'000'000 + core::number(v) - revision;
  }
};

/// What the election of member `it` keeps in its phase. For a request in flight it does not matter
/// which try it is, only whether an answer on its way can be the answer to it.
class phase_hasher {
 public:
  phase_hasher(hasher& to, const origin& from, const member& it, core::time_point last_now)
      : to_(to), from_(from), it_(it), last_now_(last_now) {}

  void operator()(const core::state::observer&) {}
  void operator()(const core::state::candidate& c) {
    add(c.acquire);
    add(c.release);
    number(c.maybe_held);
    number(c.found.has_value());
    if (!c.found) return;
    version(c.found->version);
    instant(c.found->stop_at);
    instant(c.found->kill_at);
    number(c.found->stopping);
  }
  void operator()(const core::state::pending& p) {
    add(p.lease);
    instant(p.until);
  }
  void operator()(const core::state::active& a) {
    add(a.lease);
    number(a.workload);
  }
  void operator()(const core::state::draining& d) {
    number(d.why);
    number(d.last);
    number(d.workload.has_value());
    if (d.workload) add(*d.workload);
    instant(d.quiet_until);
    number(last_now_ < d.quiet_until);
    instant(d.unseen_until);
    number(d.lease.has_value());
    if (d.lease) add(*d.lease);
    number(d.gone);
    number(d.clean);
    number(d.acquire.has_value());
    if (d.acquire) add(*d.acquire, it_.acquire);
    number(d.maybe_held);
    add(d.release);
    number(d.aside.count());
    number(d.rest.count());
  }
  void operator()(const core::state::stopped& s) { number(s.paused); }

 private:
  template <class... Of>
  void add(const std::variant<Of...>& one) {
    number(one.index());
    std::visit([this](const auto& of) { this->add(of); }, one);
  }
  void add(std::monostate) {}
  void add(const core::state::pause& p) {
    instant(p.until);
    number(p.failures);
  }
  void add(const core::state::acquiring& a) {
    add(a.sent, it_.acquire);
    number(a.seen_free);
  }
  void add(const core::state::request& release) { add(release, it_.release); }
  void add(const core::state::request& r, core::attempt newest) {
    instant(r.deadline);
    number(r.failures);
    number(r.number == newest);
  }
  void add(const core::state::stopping& w) {
    version(w.version);
    number(w.ran);
    number(w.stuck);
    instant(w.kill_by);
  }
  void add(const core::lease& l) {
    version(l.version);
    number(from_.instant(l.sent_at, budget().ttl + tick));
    number(last_now_ >= l.stop_at);
  }
  void number(auto n) { to_.number(static_cast<std::uint64_t>(n)); }
  void version(core::version v) { number(from_.version(v)); }
  void instant(core::time_point t) { number(from_.instant(t)); }

  hasher& to_;
  const origin& from_;
  const member& it_;
  core::time_point last_now_;
};

void add(hasher& to, const origin& from, const member& it, const core::election& e) {
  const auto number = [&](auto n) { to.number(static_cast<std::uint64_t>(n)); };
  number(reader::phase(e).index());
  std::visit(phase_hasher(to, from, it, reader::last_now(e)), reader::phase(e));
  reader::each_number(e, number);
  reader::each_version(e, [&](core::version v) { number(from.version(v)); });
  reader::each_instant(e, [&](core::time_point t) { number(from.instant(t)); });
  const core::election_view& view = e.view();
  if (view.seen) {
    number(from.version(view.seen->as_of));
    for (const core::holder& h : view.seen->holders) {
      number(h.ours);
      number(from.version(h.version));
    }
  }
}

void add(hasher& to, const origin& from, const ledger& k) {
  for (const core::version v : {k.version, k.seen, k.found, k.shown_as_of, k.shown_ours}) {
    to.number(from.version(v));
  }
  for (const core::time_point t : {k.must_stop_at, k.may_stop_at, k.rests_until}) {
    to.number(from.instant(t));
  }
  to.number(static_cast<std::uint64_t>(k.last_pause.count()));
  to.number(static_cast<std::uint64_t>(k.pause.count()));
  to.number(k.asked);
  to.number(k.overtaken * 4U + k.lost * 2U + k.releasing);
  // A sleep counts in the instant in which it is noticed.
  if (k.woke_at != from.now || k.slept == core::duration::zero()) return;
  const core::time_point awake = from.now - k.slept;
  to.number(4U + (awake < k.must_stop_at) * 2U + (awake < k.may_stop_at));
}

/// The try whose answer this would be.
core::attempt awaited(mail what, const member& by) {
  switch (what) {
    case mail::acquire:
    case mail::granted:
    case mail::refused:
      return by.acquire;
    case mail::renew:
    case mail::renewed:
      return by.renewal;
    default:
      return by.release;
  }
}

std::uint64_t digest_of(const letter& l, const origin& from, const member& it) {
  hasher one;
  one.number(l.what);
  one.number(from.version(l.version));
  one.number(l.orphan * 4U + l.clean * 2U + l.stalled);
  one.number(l.lost);
  if (l.orphan) return one.result();
  // An answer counts, or it does not; which try it was does not matter besides.
  one.number(l.number == awaited(l.what, it));
  one.number(from.instant(l.sent_at, budget().ttl + tick));
  return one.result();
}

std::uint64_t digest_of(const world& w, std::size_t m) {
  const origin from{.now = w.now, .revision = w.revision};
  const member& it = w.all[m];
  hasher h;
  const auto instant = [&](core::time_point t) { h.number(from.instant(t)); };

  const core::election* const e = it.agent ? &it.agent->at(core::election_index{0}) : nullptr;
  h.number(e != nullptr);
  if (e != nullptr) {
    add(h, from, it, *e);
    reader::each_instant(*it.agent, instant);
    h.number(from.version(reader::renewing(*it.agent)));
    h.number(reader::failures(*it.agent));
    h.number(reader::renewal(*it.agent) == it.renewal);
  }
  instant(it.acquire_by);
  instant(it.release_by);
  instant(it.renewal_by);
  h.number(it.watch);
  instant(it.watch_at);
  for (const snapshot& s : it.shown) {
    h.number(from.version(s.as_of));
    h.number(from.version(s.version));
    h.number(s.version != core::no_version && s.holder == m);
  }
  h.number(it.asleep * 512U + it.lags * 256U + it.frozen * 128U + it.ended * 64U +
           it.release_clean * 32U + it.asks_own * 16U + it.unhealthy * 8U +
           it.session_was_used * 4U + it.runs * 2U + it.told);

  if (it.asleep) {
    // How long it has slept, and whether its lease had run out before.
    instant(it.fell_asleep + budget().ttl);
    h.number(it.fell_asleep < it.known.must_stop_at);
    h.number(it.fell_asleep < it.known.may_stop_at);
    h.number(e != nullptr && e->view().lease && it.fell_asleep < e->view().lease->stop_at);
  }
  h.number(it.guard.current());
  h.number(from.version(it.guard.version()));
  reader::each_instant(it.guard, instant);
  instant(it.stop_at);
  instant(it.kill_at);
  instant(it.kill_by);
  h.number(from.version(it.page_term));
  h.number(from.version(it.granted));
  for (const report& r : it.reports) {
    h.number(r.started);
    h.number(from.version(r.version));
  }
  if (it.runs) {
    h.number(it.survives * 2U + it.given_again);
    instant(it.dead_by);
    h.number(from.instant(it.woke_up, budget().kill_budget + tick));
    h.number(it.woke_up >= it.kill_at);
  }

  h.number(from.version(it.place));
  if (it.place != core::no_version) instant(it.place_ends_at);
  h.number(from.version(it.promised_term));
  instant(it.promised_until);

  add(h, from, it.known);
  for (const removal& r : it.removals) {
    h.number(from.version(r.version));
    h.number(r.is_waited_for);
    h.number(from.instant(r.at, budget().lock_delay));
    h.number(from.instant(r.news, 2 * tick));
  }
  h.number(w.held != core::no_version && w.holder == m);

  std::uint64_t letters = 0;  // their order does not matter
  for (const letter& l : w.letters) {
    if (l.member == m) letters += digest_of(l, from, it);
  }
  h.number(letters);
  return h.result();
}

}  // namespace

std::uint64_t world::digest() const {
  const origin from{.now = now, .revision = revision};
  std::array<std::uint64_t, members> parts{digest_of(*this, 0), digest_of(*this, 1)};
  std::ranges::sort(parts);
  hasher h;
  for (const std::uint64_t part : parts) h.number(part);
  h.number(from.version(held));
  h.number(held == core::no_version ? 0 : from.instant(ends_at));
  h.number(from.version(last_granted));
  h.number(from.version(given_twice));
  h.number(doubtful * 2U + begun_cleanly);
  return h.result();
}

}  // namespace tenure::explore
