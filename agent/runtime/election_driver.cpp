#include "runtime/election_driver.hpp"

#include <algorithm>

namespace tenure::runtime {
namespace {

/// How often the loop turns although nothing happens; well below `api::default_beat_bound`.
constexpr core::duration longest_turn = std::chrono::seconds(3);

/// The order to stop the workload of `of`; null if this step contains none.
const core::command::stop_workload* stop_order(const core::group_effects& in,
                                               core::election_index of) {
  for (const core::addressed& one : in.commands) {
    const auto* found = std::get_if<core::command::stop_workload>(&one.what);
    if (found != nullptr && one.which == of) return found;
  }
  return nullptr;
}

/// How long before the first stop a renewal is answered now. Nothing if all terms to be renewed are
/// over or unanswered. Call before the lease group gets the answer.
std::optional<core::duration> renewal_margin(const core::lease_group& of,
                                             std::span<const core::election_index> unanswered,
                                             core::time_point now) {
  core::time_point first = core::never;
  for (const core::renewal_item& item : of.renewing()) {
    if (std::ranges::find(unanswered, item.which) != unanswered.end()) continue;
    const auto& lease = of.at(item.which).view().lease;
    if (lease && lease->version == item.version) first = std::min(first, lease->stop_at);
  }
  if (first == core::never) return std::nullopt;
  return first - now;
}

}  // namespace

election_driver::election_driver(base::event_loop& on, clock_reader clocks,
                                 const core::timing& when, const parties& with)
    : loop_(on),
      read_clocks_(std::move(clocks)),
      with_(with),
      group_(when),
      entropy_(on.random_bits()),
      clocks_(read_clocks_()),
      timer_(on) {
  timer_.at(loop_.now(), [this] { turn(); });
}

void election_driver::begin(stores::store& of, std::vector<core::election_settings> elections,
                            const beginning& first) {
  busy_ = true;
  store_ = &of;
  watches_.begin(elections.size());
  for (core::election_settings& one : elections) group_.add(std::move(one));
  for (std::uint32_t i = 0; i < group_.size(); ++i) {
    for (const core::election_event& what : first) {
      group_.step(moment(), core::election_index{i}, what, effects_);
    }
  }
  carry_out();
}

void election_driver::end() {
  ended_ = true;
  timer_.cancel();
}

// --- what comes in ---------------------------------------------------------------------------

void election_driver::feed(core::election_index which, const core::election_event& what) {
  take(which, what);
}

void election_driver::feed_all(const core::election_event& what) {
  take(std::nullopt, what);
}

void election_driver::take(std::optional<core::election_index> which,
                           const core::election_event& what) {
  if (ended_) return;
  if (!begun() || busy_) {
    waiting_.emplace_back(which, what);
    return;
  }
  busy_ = true;
  for (std::uint32_t i = 0; i < group_.size(); ++i) {
    if (!which || *which == core::election_index{i}) step(core::election_index{i}, what);
  }
  carry_out();
}

/// The commands that follow are for `carry_out`. Starting or ceasing to hold a member back makes no
/// command.
void election_driver::step(core::election_index which, const core::election_event& what) {
  const core::held_back before = group_.at(which).view().held_back;
  group_.step(moment(), which, what, effects_);
  if (group_.at(which).view().held_back != before) with_.listener.held_back(which, before);
}

void election_driver::turn() {
  busy_ = true;
  for (const core::election_index which : watches_.take(loop_.now())) open_watch(which);
  group_.wake(moment(), effects_);
  carry_out();
}

void election_driver::watch_says(core::election_index which,
                                 std::variant<core::observation, stores::unknown> what) {
  if (ended_) return;
  if (const auto* broken = std::get_if<stores::unknown>(&what)) {
    with_.listener.watch_broke(which, broken->why);
    with_.host.lost_sight(which);
    return feed(which, core::event::watch_failed{});
  }
  core::observation& seen = std::get<core::observation>(what);
  with_.listener.watch_shows(which, seen);
  const std::vector<core::holder> holders = seen.holders;
  const std::vector<core::left_order> orders = seen.orders;
  feed(which, core::event::observed{std::move(seen)});
  if (!ended_) with_.host.shown(which, holders, orders);
}

// --- what goes out ---------------------------------------------------------------------------

void election_driver::carry_out() {
  busy_ = true;
  // Before a workload is started or asked to stop.
  if (!effects_.commands.empty()) with_.workload.show(group_);
  // The list does not grow meanwhile: what is fed from within waits.
  for (const core::addressed& one : effects_.commands) {
    std::visit([&](const auto& c) { carry_out(one.which, c); }, one.what);
  }
  if (effects_.renew && !ended_) renew(*effects_.renew);
  effects_.clear();
  with_.listener.step_ended();
  if (!ended_) set_timer();
  busy_ = false;
  for (const auto& [which, what] : std::exchange(waiting_, {})) take(which, what);
}

void election_driver::set_timer() {
  const core::time_point now = loop_.now();
  if (now >= next_turn_) {
    with_.listener.turned(now);
    next_turn_ = now + longest_turn;
  }
  const core::time_point next = std::min({group_.next_wake(), next_turn_, watches_.first()});
  if (timer_.when() != next) timer_.at(next, [this] { turn(); });
  clocks_.await(next);
}

void election_driver::carry_out(core::election_index which, const core::command::acquire& c) {
  store_->acquire(which, c.above, c.deadline, [this, which, c](stores::acquire_outcome what) {
    if (const auto* why = std::get_if<stores::unknown>(&what)) {
      with_.listener.store_failed(store_request::acquire, why->why);
      return feed(which, core::event::acquire_unknown{.number = c.number});
    }
    with_.listener.store_answered(store_request::acquire);
    if (const auto* refusal = std::get_if<stores::refusal>(&what)) {
      return feed(which,
                  core::event::refused{.number = c.number, .retry_at = refusal->seen.retry_at});
    }
    auto& grant = std::get<stores::grant>(what);
    with_.workload.granted(grant.version);
    feed(which, core::event::granted{.number = c.number,
                                     .version = grant.version,
                                     .sequencer = std::move(grant.sequencer),
                                     .ttl = grant.ttl,
                                     .sent_at = grant.sent_at,
                                     .released_cleanly = grant.released_cleanly,
                                     .slot = grant.slot});
  });
}

void election_driver::carry_out(core::election_index which, const core::command::release& c) {
  const core::election& election = group_.at(which);
  if (election.holding()) with_.listener.releasing(which);
  store_->release(which, c.version,
                  {.clean = c.clean,
                   .why = election.view().last_loss,
                   .heir = election.heir(),
                   .at_unix_ms = read_clocks_().unix_ms()},
                  c.deadline, [this, which, c](const stores::release_outcome& what) {
                    if (const auto* why = std::get_if<stores::unknown>(&what)) {
                      with_.listener.store_failed(store_request::release, why->why);
                      with_.listener.release_failed(which);
                      return feed(which, core::event::release_unknown{.number = c.number});
                    }
                    with_.listener.store_answered(store_request::release);
                    feed(which, core::event::released{.number = c.number});
                  });
}

void election_driver::renew(const core::command::renew& c) {
  const auto batch = group_.renewing();
  store_->renew({batch.begin(), batch.end()}, c.deadline, [this, c](stores::renew_outcome what) {
    if (ended_) return;
    busy_ = true;
    if (const auto* why = std::get_if<stores::unknown>(&what)) {
      with_.listener.store_failed(store_request::renewal, why->why);
      group_.renewal_unknown(moment(), c.number, effects_);
      return carry_out();
    }
    const auto& done = std::get<stores::renewal>(what);
    std::vector<core::election_index> unanswered;
    for (const auto& one : done.unanswered) unanswered.push_back(one.which);
    if (unanswered.empty()) {
      with_.listener.store_answered(store_request::renewal);
    } else {
      with_.listener.store_failed(store_request::renewal, done.unanswered.front().why);
    }
    with_.listener.renewed(renewal_margin(group_, unanswered, loop_.now()));
    group_.renewed(
        moment(), c.number,
        {.sent_at = done.sent_at, .ttl = done.ttl, .lost = done.lost, .unanswered = unanswered},
        effects_);
    carry_out();
    with_.workload.renewed();
  });
}

void election_driver::carry_out(core::election_index which, const core::command::watch& c) {
  if (c.not_before <= loop_.now()) {
    open_watch(which);
  } else {
    watches_.add(which, c.not_before);
  }
}

void election_driver::open_watch(core::election_index which) {
  store_->watch(which, [this, which](std::variant<core::observation, stores::unknown> what) {
    watch_says(which, std::move(what));
  });
}

void election_driver::carry_out(core::election_index, const core::command::arm& c) {
  with_.workload.arm(c);
}

void election_driver::carry_out(core::election_index which, const core::command::start_workload&) {
  with_.listener.workload_is_next();
  with_.workload.start(which, group_.at(which).view());
}

void election_driver::carry_out(core::election_index, const core::command::stop_workload& c) {
  with_.listener.workload_is_next();
  with_.workload.stop(c);
}

void election_driver::carry_out(core::election_index which, const core::command::transition& c) {
  with_.listener.phase_changed(which, c, stop_order(effects_, which));
  with_.host.phase_changed(which, c);
}

void election_driver::carry_out(core::election_index which, const core::command::publish&) {
  with_.listener.view_changed(which);
  with_.host.view_changed(which);
}

void election_driver::carry_out(core::election_index, const core::command::forget_grants& c) {
  with_.workload.forget_grants(c);
}

void election_driver::carry_out(core::election_index which, const core::command::announce& c) {
  const core::election_settings& own = group_.at(which).settings();
  store_->announce(which, {.since_unix_ms = c.ready ? read_clocks_().unix_ms() : 0,
                           .priority = own.succeeds.priority,
                           .started_unix_ms = own.succeeds.started_unix_ms,
                           .slots = own.slots});
}

void election_driver::carry_out(core::election_index which, const core::command::stand_in_line& c) {
  store_->stand_in_line(which, c.stands);
}

void election_driver::carry_out(core::election_index which, const core::command::finished& c) {
  with_.host.finished(which, c.why);
}

// --- time ------------------------------------------------------------------------------------

/// The instant of a step. A sleep that is noticed only now is stepped first, in all elections.
core::moment election_driver::moment() {
  look_at_clocks();
  return present();
}

core::moment election_driver::present() {
  entropy_ = entropy_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return {.now = loop_.now(), .entropy = entropy_ ^ (entropy_ >> 29)};
}

void election_driver::look_at_clocks() {
  const clock_news news = clocks_.look(read_clocks_());
  if (news.slept == core::duration::zero() && news.late == core::duration::zero() &&
      news.wall_jumped == core::duration::zero()) {
    return;
  }
  with_.listener.clocks_jumped(news);
  if (news.slept == core::duration::zero()) return;
  for (std::uint32_t i = 0; i < group_.size(); ++i) {
    group_.step(present(), core::election_index{i}, core::event::slept{news.slept}, effects_);
  }
}

}  // namespace tenure::runtime
