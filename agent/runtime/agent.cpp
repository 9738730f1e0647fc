#include "runtime/agent.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/number_text.hpp"
#include "core/sometimes.hpp"
#include "kube/wish_of.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/lines.hpp"
#include "runtime/metered_store.hpp"

namespace tenure::runtime {
namespace {

/// Between attempts to open a store on which an earlier agent's workload depends.
constexpr core::duration open_pause = std::chrono::milliseconds(200);

constexpr core::duration listen_again_after = std::chrono::seconds(1);

/// How long the store may take to remove our name at the end, and Kubernetes to show that this pod
/// is not active any more.
constexpr core::duration leave_patience = std::chrono::milliseconds(500);

/// How long the store may take to end the term of another member. The witness tells of it again.
constexpr core::duration end_patience = std::chrono::seconds(1);

stores::setup store_setup(const agent_options& o) {
  const settings::agent& s = o.settings;
  return {.kind = s.store,
          .endpoints = s.endpoints,
          .identity = s.identity,
          .session = o.session,
          .ttl = s.timing.ttl,
          .elections = s.elections,
          .announce = !s.observe && !s.unlisted,
          .secure = s.secure,
          .name_space = s.name_space,
          .consul = s.consul};
}

}  // namespace

agent::agent(agent_options options, surroundings& on, log::logger& to,
             std::function<void(int)> ended)
    : options_(std::move(options)),
      machine_(on),
      log_(to),
      on_end_(std::move(ended)),
      instruments_({.when = options_.settings.timing,
                    .has_health = options_.settings.health.is_checked(),
                    .has_traffic = options_.settings.kubernetes.writes_traffic()}),
      shown_(published_,
             {.agent = base::hex(on.loop().random_bits()),
              .identity = options_.settings.identity,
              .store = options_.settings.store,
              .started_unix_ms = on.read_clocks().unix_ms()},
             options_.settings.elections, !options_.settings.observe),
      workload_(make_workload_mode({.settings = options_.settings,
                                    .session = options_.session,
                                    .election = options_.settings.elections.front(),
                                    .machine = machine_,
                                    .to = log_,
                                    .instruments = instruments_,
                                    .shown = shown_,
                                    .host = *this},
                                   options_.started_by_guard)),
      reports_({.loop = on.loop(),
                .read_clocks = [this] { return machine_.read_clocks(); },
                .settings = options_.settings,
                .elections = options_.settings.elections,
                .to = log_,
                .instruments = instruments_,
                .published = published_,
                .shown = shown_,
                .way_to_stop =
                    [this](const core::command::stop_workload& what) {
                      return workload_->way_to_stop(what);
                    },
                .watch_works =
                    [this] {
                      if (!store_reached_) store_reached(store_->describe());
                    }}),
      driver_(on.loop(), [this] { return machine_.read_clocks(); }, options_.settings.timing,
              {.workload = *workload_, .listener = reports_, .host = *this}),
      fresh_reads_(on.loop()),
      orders_({.loop = on.loop(),
               .settings = options_.settings,
               .to = log_,
               .driver = driver_,
               .reports = reports_,
               .shown = shown_}),
      opening_(on.loop()),
      listening_(on.loop()) {
  if (workload_->has_guard()) instruments_.add_guard();
  if (!workload_->owns_workload()) shown_.clients_are_the_workload();
  workload_->drive_by(driver_);
  reports_.follow(driver_);
}

agent::~agent() = default;

// --- start -----------------------------------------------------------------------------------

void agent::start() {
  started_unix_ms_ = machine_.read_clocks().unix_ms();
  published_.beat(machine_.loop().now());
  reports_.publish();
  if (!workload_->open()) end(status_.value_or(exit_failed));
}

void agent::open_store(const workload::guard_ready& left) {
  if (ended_ || store_) return;
  left_ = left;
  if (!left.session.empty()) options_.session = left.session;
  meet_kubernetes();
  try_store();
}

void agent::meet_kubernetes() {
  const settings::kubernetes& its = options_.settings.kubernetes;
  if (!its.is_used() || !its.cluster) return;
  auto api = machine_.make_kubernetes_api(*its.cluster);
  if (!api) return say_cannot_tell_kubernetes(log_, options_.settings.identity, api.error());
  cluster_ = std::move(*api);
  if (its.has_witness() && !options_.settings.observe) {
    witness_ = std::make_unique<kube::container_witness>(kube::container_witness::parts{
        .loop = machine_.loop(),
        .through = *cluster_,
        .settings = options_.settings,
        .to = log_,
        .ended = [this](core::election_index which, const core::holder& whose) {
          end_term(which, whose);
        }});
  }
  announcer_ = std::make_unique<kube::announcer>(
      kube::announcer::parts{.loop = machine_.loop(),
                             .through = *cluster_,
                             .settings = options_.settings,
                             .to = log_,
                             .wanted = [this] { return wanted_traffic(); },
                             .named = [this](bool is) { instruments_.traffic_named(is); },
                             .failed = [this] { instruments_.traffic_failed(); },
                             .unix_ms = [this] { return machine_.read_clocks().unix_ms(); }});
  announcer_->begin();
}

/// Before the elections begin, what an earlier agent has left behind tells.
kube::traffic_wish agent::wanted_traffic() const {
  using kind = kube::traffic_wish::kind;
  const auto& found = left_.found;
  const bool may_go_on = found && !found->ended && !found->stopping;
  kube::traffic_wish out{.what = may_go_on ? kind::as_it_is : kind::standby};
  if (driver_.begun()) {
    out = kube::wish_of(elections().at(core::election_index{0}), machine_.loop().now());
  }
  if (out.what == kind::standby) out.version = left_.last_term;
  return out;
}

void agent::try_store() {
  opening_.cancel();
  if (!serve()) return end(exit_failed);
  stores::setup with = store_setup(options_);
  with.hears = [this](const core::contact_event& what) {
    if (!ended_) reports_.heard(what);
  };
  with.notes = [this](const stores::notice& what) {
    say_store_notice(log_, options_.settings.store, what);
  };
  open_channel(with);
  auto made = machine_.make_store(std::move(with));
  if (!made) return store_failed_to_open(made.error());
  store_ = make_metered_store(std::move(*made), instruments_, machine_.loop());
  store_->open([this](std::expected<stores::description, stores::open_error> what) {
    store_opened(std::move(what));
  });
}

/// It stays open for the next try. Without it, hand-overs wait for the store.
void agent::open_channel(stores::setup& with) {
  const auto& at = options_.settings.peer_listen.at;
  if (!at || !with.announce) return;
  if (!channel_) {
    auto opened = machine_.open_channel(*at, [this](const core::word& what) {
      if (!store_ || ended_) return;
      const auto& ours = options_.settings.elections;
      if (std::ranges::find(ours, what.election, &settings::election::name) == ours.end()) return;
      say_word_heard(log_, what, store_->hear(what));
    });
    if (!opened) return say_cannot_hear_peers(log_, opened.error());
    channel_ = std::move(*opened);
  }
  with.peer_address = channel_->address();
  with.tell = [this](const std::string& to, const core::word& what) {
    channel_->tell(to, what);
    say_word_told(log_, what, to);
  };
}

/// Ending now would also end the workload that was found, and its lease may still be confirmed.
void agent::store_failed_to_open(const stores::open_error& why) {
  const std::string& store = options_.settings.store;
  const core::time_point now = machine_.loop().now();
  const auto& found = left_.found;
  if (!found || found->ended || found->stopping || now + open_pause >= found->stop_at) {
    say_cannot_use_store(log_, store, why.text);
    return end_in_order(exit_failed);
  }
  if (failures_.let_through("open", now)) {
    say_store_tried_again(log_, store, why.text, found->stop_at - now);
  }
  opening_.after(open_pause, [this] {
    if (ended_) return;
    // Closed already: it has reported its failure.
    store_.reset();
    try_store();
  });
}

void agent::store_opened(std::expected<stores::description, stores::open_error> what) {
  if (ended_) return;
  if (!what) return store_failed_to_open(what.error());
  const settings::agent& s = options_.settings;
  if (s.timing.ttl < what->min_ttl || s.timing.ttl > what->max_ttl) {
    say_ttl_impossible(log_, s.store, s.timing.ttl, *what);
    return end_in_order(exit_bad_settings);
  }
  // A store that was not reached is reported by the first operation that fails.
  if (!what->server_version.empty()) store_reached(*what);
  fresh_reads_.begin(*store_);
  orders_.begin(*store_);
  begin_elections();
}

void agent::store_reached(const stores::description& what) {
  if (std::exchange(store_reached_, true)) return;
  reports_.store_reached(what);
  machine_.settled();
}

void agent::begin_elections() {
  health_ = std::make_unique<workload_health>(
      workload_health::parts{.machine = machine_,
                             .settings = options_.settings,
                             .elections = options_.settings.elections,
                             .to = log_,
                             .driver = driver_,
                             .workload = *workload_,
                             .reports = reports_,
                             .shown = shown_,
                             .instruments = instruments_});
  // First: a member that must be found healthy before it campaigns must not even ask for the lease.
  const bool healthy = health_->begin(left_.found && !left_.found->ended);
  core::succession_settings succeeds = options_.settings.succeeds;
  succeeds.started_unix_ms = started_unix_ms_;
  std::vector<core::election_settings> all;
  for (const settings::election& one : options_.settings.elections) {
    all.push_back({.identity = options_.settings.identity,
                   .when = options_.settings.timing,
                   .slots = one.slots,
                   .campaigns = !options_.settings.observe,
                   .owns_workload = workload_->owns_workload(),
                   .ends_with_workload = workload_->ends_with_workload(),
                   .on_lost = options_.settings.on_lost,
                   .checked_always = health_->always(),
                   .succeeds = succeeds});
  }
  unfinished_ = static_cast<std::uint32_t>(all.size());
  election_driver::beginning first;
  if (!workload_->is_ready()) first.emplace_back(core::event::guard_away{});
  if (left_.found) {
    first.emplace_back(event_of(*left_.found));
    if (left_.found->ended) first.emplace_back(core::event::workload_exited{});
  }
  // A term that was found ends for its own reason.
  if (!healthy) first.emplace_back(core::event::workload_unhealthy{});
  first.emplace_back(core::event::started{.session_was_used = !left_.session.empty(),
                                          .last_term = left_.last_term});
  reports_.elections_open();
  driver_.begin(*store_, std::move(all), first);
}

/// A workload that was left running does not pay for a port that somebody has taken meanwhile.
bool agent::serve() {
  if (machine_.asked_by().is_open()) return true;
  const auto open = listen();
  if (open) return true;
  if (!runs_found()) {
    say_cannot_listen(log_, open.error());
    return false;
  }
  if (std::exchange(cannot_listen_, open.error()) != open.error()) {
    say_cannot_listen_yet(log_, open.error());
  }
  listening_.after(listen_again_after, [this] {
    if (!serve()) end(exit_failed);
  });
  return true;
}

/// True while the workload that the agent before has left may run.
bool agent::runs_found() const {
  if (!left_.found || left_.found->ended) return false;
  if (!driver_.begun()) return true;
  const core::election& its = elections().at(core::election_index{0});
  return its.adopting() || its.holding();
}

std::expected<void, std::string> agent::listen() {
  return machine_.asked_by().open(
      {.published = published_,
       .metrics =
           [this] {
             const auto at = [this] {
               const base::clock_reading read = machine_.read_clocks();
               return api::instant{.now = read.boot, .unix_ms = read.unix_ms()};
             };
             return instruments_.page(published_, at, log_.lost());
           },
       .api_traffic = &instruments_.api_traffic(),
       .probe_traffic = &instruments_.probe_traffic(),
       .fresh = [this](core::election_index which,
                       api::fresh_handler done) { fresh_reads_.ask(which, std::move(done)); },
       .control =
           [this](core::election_index which, core::order what, api::control_handler done) {
             orders_.give(which, std::move(what), std::move(done));
           },
       .owns_a_process = workload_->ends_with_workload(),
       .told_api_port = left_.api_port,
       .workload_found = left_.found.has_value()});
}

// --- for the elections -----------------------------------------------------------------------

void agent::phase_changed(core::election_index which, const core::command::transition& what) {
  workload_->phase_changed(what);
  health_->phase_changed(which, what);
  if (!announcer_) return;
  // After the other commands of this step: the workload is asked to stop first.
  machine_.loop().post([this, which, what] {
    if (!ended_) announcer_->phase_changed(which, elections().at(which), what);
  });
}

void agent::view_changed(core::election_index) {
  if (!announcer_) return;
  machine_.loop().post([this] {
    if (!ended_) announcer_->look();
  });
}

void agent::shown(core::election_index which, const std::vector<core::holder>& holders,
                  const std::vector<core::left_order>& orders) {
  orders_.seen(which, orders);
  if (!witness_ || ended_) return;
  witness_->look(which, holders, elections().at(which).view().phase == core::phase::candidate);
}

void agent::lost_sight(core::election_index which) {
  if (witness_) witness_->lost_sight(which);
}

/// Somebody has seen that nothing which ran under this term is alive. An answer is not waited for:
/// the watch shows what became of it. The next holder waits for lock_delay all the same: if the
/// store was restored in the meantime, a later term may run that it does not show.
void agent::end_term(core::election_index which, const core::holder& whose) {
  if (ended_ || !store_) return;
  TENURE_SOMETIMES(term_ended_by_the_kubelets_word);
  store_->end_term(
      which, whose,
      {.why = core::loss_reason::container_died, .at_unix_ms = machine_.read_clocks().unix_ms()},
      machine_.loop().now() + end_patience, [this](const stores::release_outcome& how) {
        if (const auto* failed = std::get_if<stores::unknown>(&how)) {
          say_term_not_ended(log_, options_.settings.identity, failed->why);
        }
      });
}

void agent::workload_ended() {
  if (health_) return health_->workload_ended();
  if (left_.found && !left_.found->ended) left_.found->ended.emplace();
}

void agent::workload_started() {
  health_->workload_started();
}

void agent::finished(core::election_index, core::loss_reason why) {
  const bool as_workload = workload_->exits_as_workload(why);
  if (!status_) status_ = core::is_loss(why) && !shutting_down_ ? exit_lease_lost : exit_ok;
  if (--unfinished_ > 0) {
    // One agent, one fate: the other elections are given up in order, too.
    machine_.loop().post([this] { shut_down(SIGTERM, core::loss_reason::shutdown); });
    return;
  }
  // After the other commands of this step, which may still be on their way. Nothing is held any
  // more, so it does no harm if our name stays a moment longer.
  machine_.loop().post([this, as_workload] {
    const core::time_point by = machine_.loop().now() + leave_patience;
    const auto one_is_done = [this, as_workload, left = std::make_shared<int>(announcer_ ? 2 : 1)] {
      if (--*left == 0) end(*status_, as_workload && *status_ == exit_ok);
    };
    store_->leave(by, [one_is_done](const stores::release_outcome&) { one_is_done(); });
    if (announcer_) announcer_->settle(by, one_is_done);
  });
}

// --- end -------------------------------------------------------------------------------------

void agent::shut_down(int signo, core::loss_reason why) {
  if (ended_) return;
  if (signo == SIGTERM && workload_->leaves()) return;
  workload_->give_up(signo);
  if (std::exchange(shutting_down_, true)) return;
  // If our guard has died, nobody has told us to end.
  if (why != core::loss_reason::guard_gone) {
    say_told_to_end(log_, options_.settings.identity, signo);
  }
  reports_.stopping();
  orders_.stop();
  if (!driver_.begun() || workload_->is_lapsing()) return end_in_order(exit_ok);
  driver_.feed_all(core::event::shutdown{why});
}

/// Nothing of ours runs that could wait for this: Kubernetes may be told first.
void agent::end_in_order(int status) {
  if (!announcer_) return end(status, false);
  announcer_->settle(machine_.loop().now() + leave_patience,
                     [this, status] { end(status, false); });
}

/// Everything is released: closes what is open, in order.
void agent::end(int status, bool as_workload) {
  if (std::exchange(ended_, true)) return;
  status_ = status;
  say_ended(log_, options_.settings.identity, status);
  // First: if a hanging disk keeps the store from closing, the guard ends us.
  workload_->bye(as_workload ? std::nullopt : std::optional(status));
  driver_.end();
  opening_.cancel();
  listening_.cancel();
  // Before the server waits for answers that only this thread can give.
  fresh_reads_.close();
  orders_.close();
  machine_.asked_by().stop();
  if (store_) store_->close();
  channel_.reset();
  if (witness_) witness_->close();
  if (announcer_) announcer_->close();
  if (cluster_) cluster_->close();
  // Not from within a call of one of them, where this may run.
  machine_.loop().post([this] {
    workload_->close();
    health_.reset();
    on_end_(*status_);
  });
}

}  // namespace tenure::runtime
