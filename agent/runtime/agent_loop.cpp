#include "runtime/agent_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "api/obstacle.hpp"
#include "config/values.hpp"
#include "core/number_text.hpp"
#include "os/error_text.hpp"
#include "os/memory.hpp"
#include "os/wall_time.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/lines.hpp"
#include "runtime/metered_store.hpp"

namespace tenure::runtime {
namespace {

/// How often the loop shows that it turns although nothing happens; well inside
/// `api::default_beat_bound`.
constexpr core::duration beat_interval = std::chrono::seconds(3);

/// Between tries to open a store that the workload of an earlier agent depends on.
constexpr core::duration open_pause = std::chrono::milliseconds(200);

/// For the store to forget our name, at the end.
constexpr core::duration leave_patience = std::chrono::milliseconds(500);

std::vector<stores::election_spec> specs_of(const config::settings& s) {
  std::vector<stores::election_spec> out;
  for (const config::election& e : s.elections) out.push_back({.name = e.name, .slots = e.slots});
  return out;
}

}  // namespace

agent_loop::agent_loop(agent_options options, log& to)
    : options_(std::move(options)),
      log_(to),
      elections_(specs_of(options_.settings)),
      session_(options_.settings.timing),
      entropy_(loop_.random_bits()),
      instruments_({.when = options_.settings.timing,
                    .has_guard = options_.has_guard && !has_hooks(),
                    .has_health = options_.settings.health.is_checked()}),
      snapshots_(board_, core::hex(loop_.random_bits()), options_.settings.identity,
                 options_.settings.store, elections_, options_.has_guard,
                 !options_.settings.observe),
      histories_(elections_.size(),
                 history(options_.settings.identity, terms_kept(elections_.size()))),
      member_logs_(elections_.size()),
      fresh_reads_(loop_),
      orders_(loop_,
              [this](core::election_index which, core::order what, api::control_handler done) {
                ordered(which, std::move(what), std::move(done));
              }),
      order_relay_(
          loop_, options_.settings.identity,
          [this](core::election_index which, const core::left_order& what) {
            return objection_to(which, what);
          },
          [this](core::election_index which, const core::left_order& what) {
            // The term may have ended meanwhile.
            if (!ended_ && !objection_to(which, what)) obey(which, what);
          }),
      contact_(options_.settings.timing.ttl),
      signals_(io_),
      timer_(loop_),
      watch_at_(elections_.size(), core::never),
      clocks_(os::read_clocks()),
      lines_(elections_.size()),
      leave_timer_(loop_),
      opening_(loop_),
      stop_signal_(options_.settings.stop_signal) {}

agent_loop::~agent_loop() = default;

// --- start and end ---------------------------------------------------------------------------

int agent_loop::run() {
  listen_for_signals();
  board_.beat(loop_.now());
  snapshots_.publish(session_, loop_.now());
  if (!open_guard()) {
    end(status_.value_or(exit_failed));
  } else if (!guard_ && !dialer_) {
    open_store();
  }
  io_.run();
  return status_.value_or(exit_ok);
}

void agent_loop::open_store() {
  opening_.cancel();
  if (!service_ && !serve()) return end(exit_failed);
  const config::settings& s = options_.settings;
  auto made =
      stores::make_store(loop_, {.kind = s.store,
                                 .endpoints = s.endpoints,
                                 .identity = s.identity,
                                 .session = options_.session,
                                 .ttl = s.timing.ttl,
                                 .elections = elections_,
                                 .announce = !s.observe && !s.unlisted,
                                 .secure = {.ca_file = s.secure.ca_file,
                                            .certificate_file = s.secure.certificate_file,
                                            .key_file = s.secure.key_file,
                                            .server_name = s.secure.server_name,
                                            .user = s.secure.user,
                                            .password_file = s.secure.password_file},
                                 .hears = [this](const core::contact_event& what) { hear(what); },
                                 .notes = [this](const stores::notice& what) { say(what); }});
  if (!made) return open_failed(made.error());
  store_ = make_metered_store(std::move(*made), instruments_);
  store_->open([this](std::expected<stores::description, stores::open_error> what) {
    store_opened(std::move(what));
  });
}

/// Our end would be that of the workload that was found. Its lease may still be confirmed.
void agent_loop::open_failed(const stores::open_error& why) {
  const std::string& store = options_.settings.store;
  const core::time_point again = loop_.now() + open_pause;
  if (!found_ || found_->ended || found_->stopping || again >= found_->stop_at) {
    say_cannot_use_store(log_, store, why.text);
    return end(exit_failed);
  }
  if (failures_.let_through("open", loop_.now())) {
    say_store_tried_again(log_, store, why.text, found_->stop_at - loop_.now());
  }
  opening_.after(open_pause, [this] {
    if (ended_) return;
    // Closed already: it has told us of its failure.
    store_.reset();
    open_store();
  });
}

void agent_loop::store_opened(std::expected<stores::description, stores::open_error> what) {
  if (ended_) return;
  const config::settings& s = options_.settings;
  if (!what) return open_failed(what.error());
  if (s.timing.ttl < what->min_ttl || s.timing.ttl > what->max_ttl) {
    say_ttl_impossible(log_, s.store, s.timing.ttl, *what);
    end(exit_bad_settings);
    return;
  }
  // One that was not reached is said by the first operation that fails.
  if (!what->server_version.empty()) store_reached(*what);
  fresh_reads_.begin(*store_);
  order_relay_.begin(*store_);
  open_health();
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    session_.add({.identity = s.identity,
                  .when = s.timing,
                  .slots = elections_[i].slots,
                  .campaigns = !s.observe,
                  .owns_workload = options_.has_guard,
                  .ends_with_workload = has_command(),
                  .on_lost = s.on_lost,
                  .checked_always = health_ && health_->always(),
                  .store_lock_delay = what->store_lock_delay});
  }
  if (health_) {
    // First: a member that is to be found healthy before must not even ask.
    health_->start();
    health_changed();
  }
  unfinished_ = static_cast<std::uint32_t>(elections_.size());
  for (std::uint32_t i = 0; i < elections_.size(); ++i) {
    snapshots_.phase_changed(core::election_index{i}, os::wall_now_ms());
    if (has_door() && !guard_here_) {
      session_.step(moment(), core::election_index{i}, core::event::guard_away{}, effects_);
    }
    if (found_) {
      session_.step(moment(), core::election_index{i}, event_of(*found_), effects_);
      if (found_->ended) {
        session_.step(moment(), core::election_index{i}, core::event::workload_exited{}, effects_);
      }
    }
    session_.step(
        moment(), core::election_index{i},
        core::event::started{.session_was_used = session_was_used_, .last_term = last_term_},
        effects_);
  }
  carry_out();
  for (const core::election_event& early : std::exchange(early_, {})) {
    feed(core::election_index{0}, early);
  }
}

void agent_loop::store_reached(const stores::description& what) {
  store_reached_ = true;
  for (const std::string& warning : what.warnings) say_store_warning(log_, what.store, warning);
  say_store_reached(log_, what, options_.settings.identity);
  snapshots_.store_opened(what.cluster_id);
  // What reads command lines and files is not needed any more.
  os::forget_code_pages();
}

void agent_loop::listen_for_signals() {
  for (const int signo : {SIGTERM, SIGINT, SIGQUIT}) signals_.add(signo);
  signals_.async_wait([this](const boost::system::error_code& error, int signo) {
    if (error) return;
    shut_down(signo);
    if (!ended_) listen_for_signals();
  });
}

void agent_loop::shut_down(int signo, core::loss_reason why) {
  if (ended_) return;
  if (signo == SIGTERM && leaving_ == leave::no && may_leave_workload()) return begin_to_leave();
  leaving_ = leave::no;
  // A person at a terminal means this very signal; whoever sends SIGTERM means "end, as agreed".
  if (signo == SIGINT || signo == SIGQUIT) stop_signal_ = signo;
  if (std::exchange(shutting_down_, true)) return;
  // Nobody has told us to end if it is for the death of our guard.
  if (why != core::loss_reason::guard_gone) {
    say_told_to_end(log_, options_.settings.identity, signo);
  }
  snapshots_.stopping();
  dirty_ = true;
  if (session_.size() == 0 || lapsing_) {
    end(exit_ok);
    return;
  }
  for (std::uint32_t i = 0; i < session_.size(); ++i) {
    session_.step(moment(), core::election_index{i}, core::event::shutdown{why}, effects_);
  }
  carry_out();
}

/// Everything is released: closes what is open, in order, and lets `run` return.
void agent_loop::end(int status, bool as_workload) {
  if (std::exchange(ended_, true)) return;
  status_ = status;
  say_ended(log_, options_.settings.identity, status);
  boost::system::error_code ignored;
  signals_.cancel(ignored);
  // First: should a disk that hangs keep the store from closing, the guard ends us.
  if (guard_ && !has_door()) guard_->bye(as_workload ? std::nullopt : std::optional(status));
  leave_timer_.cancel();
  opening_.cancel();
  // Before the server waits for answers that only this thread could give.
  fresh_reads_.close();
  orders_.close();
  order_relay_.close();
  if (service_) service_->stop();
  if (store_) store_->close();
  // Not from inside a call of one of them, as which this may run.
  loop_.post([this] {
    dialer_.reset();
    guard_.reset();
    health_.reset();
    timer_.cancel();
  });
}

// --- what comes in ---------------------------------------------------------------------------

void agent_loop::from_watch(core::election_index which,
                            std::variant<core::observation, stores::unknown> what) {
  if (ended_) return;
  if (const auto* broken = std::get_if<stores::unknown>(&what)) {
    failed(store_request::watch, broken->why);
    snapshots_.watch_broke(which);
    hear(core::contact::watch_broke{broken->why});
    dirty_ = true;
    feed(which, core::event::watch_failed{});
    return;
  }
  if (!store_reached_) store_reached(store_->describe());
  core::observation& seen = std::get<core::observation>(what);
  answered(store_request::watch);
  lines_[core::place(which)].observed(log_, speaker_of(which), session_.at(which), seen,
                                      circumstances_now());
  dirty_ = snapshots_.watch_showed(which, loop_.now()) || dirty_;
  history& terms = histories_[core::place(which)];
  if (terms.observed(seen, os::wall_now_ms())) {
    snapshots_.terms_changed(which, terms.terms());
    dirty_ = true;
  }
  if (member_log& members = member_logs_[core::place(which)];
      members.observed(seen.members, os::wall_now_ms())) {
    snapshots_.members_gone(which, members.gone());
    dirty_ = true;
  }
  const std::vector<core::left_order> orders = seen.orders;
  feed(which, core::event::observed{std::move(seen)});
  // Judged by what the election has made of the rest.
  if (!ended_) order_relay_.seen(which, orders);
}

/// Time has passed.
void agent_loop::turn() {
  if (ended_) return;
  const core::time_point now = loop_.now();
  if (first_watch_ <= now) open_watches(now);
  session_.wake(moment(), effects_);
  carry_out();
}

void agent_loop::feed(core::election_index which, const core::election_event& what) {
  if (ended_) return;
  if (session_.size() == 0) {
    early_.push_back(what);
    return;
  }
  step(which, what);
  carry_out();
}

/// What follows is for `carry_out`. That a member is held back, or is not any more, makes no
/// command.
void agent_loop::step(core::election_index which, const core::election_event& what) {
  const core::held_back before = session_.at(which).view().held_back;
  session_.step(moment(), which, what, effects_);
  const core::election_view& view = session_.at(which).view();
  if (view.held_back == before) return;
  snapshots_.changed(which);
  dirty_ = true;
  if (view.held_back.why == before.why) return;
  const core::election_settings& s = session_.at(which).settings();
  const auto words = [&](core::campaign_obstacle why) {
    return api::disagreement_text(why, view, name_of(which), s.identity, s.slots);
  };
  const std::string now = words(view.held_back.why);
  if (!now.empty() || core::is_disagreement(before.why)) {
    say_disagreement(log_, speaker_of(which), now);
  }
}

// --- what goes out ---------------------------------------------------------------------------

void agent_loop::carry_out() {
  // Before a workload is started, and before it is told to stop.
  if (guard_ && !effects_.commands.empty()) show_to_workload();
  // Nothing below calls back from inside the call, so the list cannot grow under us.
  for (const core::addressed& one : effects_.commands) {
    std::visit([&](const auto& c) { carry_out(one.which, c); }, one.what);
  }
  if (effects_.renew && !ended_) renew(*effects_.renew);
  effects_.clear();
  if (std::exchange(dirty_, false)) snapshots_.publish(session_, loop_.now());
  if (!ended_) set_timer();
}

void agent_loop::set_timer() {
  const core::time_point now = loop_.now();
  if (now >= next_beat_) {
    board_.beat(now);
    next_beat_ = now + beat_interval;
  }
  const core::time_point next = std::min({session_.next_wake(), next_beat_, first_watch_});
  if (timer_.when() != next) timer_.at(next, [this] { turn(); });
  clocks_.await(next);
}

void agent_loop::carry_out(core::election_index which, const core::command::acquire& c) {
  store_->acquire(which, c.above, c.deadline, [this, which, c](stores::acquire_outcome what) {
    if (!std::holds_alternative<stores::unknown>(what)) answered(store_request::acquire);
    if (auto* grant = std::get_if<stores::grant>(&what)) {
      if (guard_) guard_->note_grant(grant->term);
      feed(which, core::event::granted{.number = c.number,
                                       .term = grant->term,
                                       .sequencer = std::move(grant->sequencer),
                                       .ttl = grant->ttl,
                                       .sent_at = grant->sent_at,
                                       .released_cleanly = grant->released_cleanly});
    } else if (auto* refusal = std::get_if<stores::refusal>(&what)) {
      feed(which, core::event::refused{.number = c.number, .retry_at = refusal->seen.retry_at});
    } else {
      failed(store_request::acquire, std::get<stores::unknown>(what).why);
      feed(which, core::event::acquire_unknown{.number = c.number});
    }
  });
}

void agent_loop::renew(const core::command::renew& c) {
  const auto batch = session_.renewing();
  store_->renew({batch.begin(), batch.end()}, c.deadline, [this, c](stores::renew_outcome what) {
    if (ended_) return;
    if (const auto* done = std::get_if<stores::renewal>(&what)) {
      answered(store_request::renewal);
      if (const auto left = renewal_margin()) instruments_.renewal_left(*left);
      session_.renewed(moment(), c.number, done->sent_at, done->ttl, done->lost, effects_);
      carry_out();
      return leave_if_time();
    } else {
      failed(store_request::renewal, std::get<stores::unknown>(what).why);
      session_.renewal_unknown(moment(), c.number, effects_);
    }
    carry_out();
  });
}

/// Nothing if all that was to be renewed is over. Before the session hears of the answer.
std::optional<core::duration> agent_loop::renewal_margin() const {
  core::time_point first = core::never;
  for (const core::renewal_item& item : session_.renewing()) {
    const auto& lease = session_.at(item.which).view().lease;
    if (lease && lease->term == item.term) first = std::min(first, lease->stop_at);
  }
  if (first == core::never) return std::nullopt;
  return first - loop_.now();
}

void agent_loop::carry_out(core::election_index which, const core::command::watch& c) {
  if (c.not_before <= loop_.now()) {
    open_watch(which);
  } else {
    watch_at_[core::place(which)] = c.not_before;
    first_watch_ = std::min(first_watch_, c.not_before);
  }
}

/// Those whose time has come.
void agent_loop::open_watches(core::time_point now) {
  for (std::uint32_t i = 0; i < watch_at_.size(); ++i) {
    if (watch_at_[i] > now) continue;
    watch_at_[i] = core::never;
    open_watch(core::election_index{i});
  }
  first_watch_ = *std::ranges::min_element(watch_at_);
}

void agent_loop::open_watch(core::election_index which) {
  store_->watch(which, [this, which](std::variant<core::observation, stores::unknown> what) {
    from_watch(which, std::move(what));
  });
}

void agent_loop::carry_out(core::election_index which, const core::command::transition& c) {
  snapshots_.phase_changed(which, os::wall_now_ms());
  snapshots_.transition(which, c);
  count_adoption(which, c);
  say(which, c);
  note_term(which, c);
  if (c.to == core::phase::candidate) workload_ran_ = false;
  if (health_) tell_health(which, c);
}

void agent_loop::note_term(core::election_index which, const core::command::transition& what) {
  history& terms = histories_[core::place(which)];
  const std::optional<core::lease>& lease = session_.at(which).view().lease;
  const bool began = what.from == core::phase::candidate &&
                     (what.to == core::phase::pending || what.to == core::phase::active);
  if (began && lease) terms.began(lease->term, os::wall_now_ms());
  if (what.to == core::phase::draining) terms.ending(what.why);
  if (what.from == core::phase::draining) terms.ended(os::wall_now_ms());
  snapshots_.terms_changed(which, terms.terms());
}

void agent_loop::carry_out(core::election_index which, const core::command::publish&) {
  snapshots_.changed(which);
  dirty_ = true;
}

void agent_loop::carry_out(core::election_index, const core::command::finished& c) {
  const bool by_workload = has_command() && (c.why == core::loss_reason::workload_exited ||
                                             start_failed_ || (shutting_down_ && workload_ran_));
  if (!status_) status_ = core::is_loss(c.why) && !shutting_down_ ? exit_lease_lost : exit_ok;
  if (--unfinished_ > 0) {
    // One agent, one fate: the others are given up in order, too.
    loop_.post([this] { shut_down(SIGTERM); });
    return;
  }
  // After the other commands of this step, which may still be on their way. Nothing is held any
  // more: that our name is there a moment longer harms nobody.
  loop_.post([this, by_workload] {
    store_->leave(loop_.now() + leave_patience, [this, by_workload](stores::release_outcome) {
      end(*status_, by_workload && *status_ == exit_ok);
    });
  });
}

std::string_view agent_loop::name_of(core::election_index which) const {
  return elections_[core::place(which)].name;
}

speaker agent_loop::speaker_of(core::election_index which) const {
  return {.election = name_of(which), .identity = options_.settings.identity};
}

}  // namespace tenure::runtime
