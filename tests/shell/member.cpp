#include "member.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "etcd/accounts.hpp"
#include "sqlite/sqlite_host.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

std::size_t number_of(const std::string& identity) {
  return static_cast<std::size_t>(std::stoul(identity.substr(identity.find('-') + 1)));
}

/// Of 32 digits, as a guard keeps them.
std::string session_of(std::size_t pod, std::uint32_t incarnation) {
  constexpr std::size_t digits = 32;
  std::string out = std::to_string(pod + 1);
  const std::string tail = std::to_string(incarnation);
  out.append(digits - out.size() - tail.size(), '0');
  return out + tail;
}

settings::agent settings_of(stage& s, const pod_machine& on) {
  settings::agent out;
  out.identity = on.identity;
  out.timing = s.when;
  out.stop_signal = SIGTERM;
  out.unlisted = s.in.dice.chance(500'000);
  out.store = s.store == kept_in::sqlite       ? "sqlite"
              : s.store == kept_in::consul     ? "consul"
              : s.store == kept_in::kubernetes ? "kubernetes"
                                               : "etcd";
  out.consul = s.consul;
  const std::size_t first = s.in.dice.below(modelled_cluster::most_servers);
  for (std::size_t i = 0; s.host == nullptr && i < modelled_cluster::most_servers; ++i) {
    out.endpoints.push_back(
        "http://" + std::to_string((first + i) % modelled_cluster::most_servers) + ".store:2379");
  }
  if (s.host != nullptr) out.endpoints.push_back(s.host->path());
  for (const std::string& name : s.elections) {
    out.elections.push_back({.name = name, .slots = on.slots});
  }
  if (!s.password_file.empty()) {
    out.secure = {.user = std::string(accounts::user), .password_file = s.password_file};
  }
  if (s.hooked) {
    out.hooks = {.gain_http = "http://127.0.0.1/active",
                 .gain_command = {"gain"},
                 .stop_http = "http://127.0.0.1/standby",
                 .stop_command = {"stop"}};
  }
  if (s.peers != nullptr && s.peers->has_channel(on.number)) {
    out.peer_listen.at = settings::listen_address{.host = "127.0.0.1", .port = 4041};
  }
  if (s.guard_socket) out.guard_dir = "/run/guard";
  if (s.kubelet != nullptr) {
    out.kubernetes = {.witness = settings::witness::kubelet,
                      .pod_name = on.identity,
                      .pod_namespace = "team",
                      .cluster = settings::pod_cluster{}};
  }
  if (s.found) {
    out.target = {.value = "app"};
    if (s.found_may_run) {
      out.target.while_standby = settings::on_standby::run;
      out.target.on_gain = settings::on_gain::signal;
      out.target.gain_signal = SIGUSR1;
    }
  }
  if (on.checks_health) {
    out.health.command = {"check"};
    out.health.interval = s.when.ttl / 4;
    out.health.timeout = s.when.ttl / 8;
    out.health.failures = 2;
    if (on.checks_always) out.health.when = settings::health_time::always;
  }
  return out;
}

}  // namespace

member::member(stage& s, const pod_machine& on, std::uint32_t incarnation,
               const owned_workload& owned, bool trace)
    : stage_(s),
      on_(on),
      loop_(std::make_shared<process>(s.in, on.clock)),
      heard_{.shown = std::vector<std::optional<std::vector<std::uint64_t>>>(s.elections.size()),
             .campaigns = [this](core::election_index which) { judge_campaign(which); },
             .hears = [this] { note_terms(); },
             .believes = [this](auto late, auto granted) { judge_beliefs(late, granted); }},
      guarded_(owned.guarded),
      log_(log::log_form::logfmt,
           trace || !s.password_file.empty() ? log::log_level::info : log::log_level::error,
           [this, trace](const std::string& line) {
             judge_line(line);
             if (trace) std::printf("            %s\n", line.c_str());
           }),
      machine_(s, on, loop_, owned, heard_),
      settings_(settings_of(s, on)),
      agent_(std::make_unique<runtime::agent>(
          runtime::agent_options{.settings = settings_,
                                 .session = session_of(on.number, incarnation),
                                 .started_by_guard = s.guarded},
          machine_, log_, [this](int status) {
            ended_ = true;
            if (guarded_ != nullptr) guarded_->agent_exits(status);
          })) {
  s.referee.begins_anew(on.number);
  loop_->post([this] { agent_->start(); });
}

member::~member() {
  if (!ended_) machine_.killed();
}

void member::terminate(int signo) {
  told_to_end_ = true;
  loop_->post([this, signo] { agent_->told_to_end(signo); });
}

void member::order(std::size_t election, core::order what) {
  if (!machine_.asked_by().is_open() || ended_) return;
  const std::string& which = stage_.elections[election];
  // It may campaign before the answer is here.
  if (what.what == core::order_action::resume) {
    stage_.referee.resumes(what.member.empty() ? on_.number : number_of(what.member), which);
  }
  if (!what.heir.empty()) {
    const core::duration longest = stage_.when.drain + 2 * stage_.when.ttl + stage_.longest_order();
    stage_.referee.is_heir(number_of(what.heir), which, stage_.in.now + longest);
  }
  machine_.asked_by().order(
      core::election_index{static_cast<std::uint32_t>(election)}, what,
      [&s = stage_, on = on_.number, which, what,
       given_at = stage_.in.now](const api::control_result& said) {
        if (!said) return;
        const std::size_t by = number_of(said->by);
        // Asked for by another agent, it may come when that term is over, and is not obeyed then;
        // and the store tells who obeys.
        const bool was_asked_itself = by == on;
        if (what.what == core::order_action::pause && was_asked_itself) {
          s.referee.paused(by, which);
        }
        if (what.what == core::order_action::resume) s.referee.resumes(by, which);
        if (what.what == core::order_action::resign && what.aside && was_asked_itself) {
          // By clocks of which one may be that much faster than the truth.
          s.referee.stands_aside(by, which, given_at + *what.aside * 99 / 100);
        }
      });
}

std::optional<core::version> member::answer(std::size_t election) {
  const api::published* published = machine_.asked_by().published();
  if (published == nullptr || ended_) return std::nullopt;
  const auto all = published->current();
  if (all->elections.size() <= election) return std::nullopt;
  const core::election_view& view = all->elections[election].view;
  if (!view.valid_at(loop_->now())) return std::nullopt;
  return view.lease->version;
}

std::optional<std::uint64_t> member::shown() {
  const api::published* published = machine_.asked_by().published();
  const auto all = published != nullptr && !ended_ ? published->current() : nullptr;
  if (!all || all->elections.size() == 0) return std::nullopt;
  const core::election_view& view = all->elections[0].view;
  return view.phase == core::phase::active ? core::number(view.lease->version) : 0;
}

bool member::is_in(const std::string& which, std::uint64_t version) const {
  if (ended_ || !opened()) return false;
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    if (stage_.elections[e] != which) continue;
    const core::lease* const one = term_of(e);
    if (one != nullptr && stage_.judged(e, one->version) == version) return true;
  }
  return false;
}

/// The term that it is in; null: it is in none, or gives it up.
const core::lease* member::term_of(std::size_t election) const {
  const core::election_view& one = view(election);
  const bool in_term = one.phase == core::phase::pending || one.phase == core::phase::active;
  return in_term && one.lease ? &*one.lease : nullptr;
}

bool member::is_in_term() const {
  if (ended_ || !opened()) return false;
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    if (term_of(e) != nullptr) return true;
  }
  return false;
}

void member::note_terms() {
  present_.clear();
  overdue_.clear();
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    const core::lease* const one = term_of(e);
    if (one == nullptr) continue;
    present_.push_back(stage_.judged(e, one->version));
    if (one->stop_at <= loop_->now()) overdue_.push_back(present_.back());
  }
}

/// What the elections have made of what the store has said.
void member::judge_beliefs(std::optional<std::uint64_t> late,
                           std::optional<core::election_index> granted) {
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    const core::lease* const one = term_of(e);
    if (one == nullptr) continue;
    const std::uint64_t version = stage_.judged(e, one->version);
    const std::string who =
        "pod " + std::to_string(on_.number) + " in version " + std::to_string(version);
    // The answer to an older try changes nothing of a term that the answer to a newer one began.
    const bool is_new = std::ranges::find(present_, version) == present_.end();
    if (late == version && is_new) stage_.referee.broke(rule::believed_late_grant, who);
    // A grant is no news for other terms; those of an agent that stood still end by their timers.
    const bool is_answered = !granted || core::place(*granted) == e;
    if (is_answered && std::ranges::find(overdue_, version) != overdue_.end()) {
      stage_.referee.broke(rule::believed_late_reply, who);
    }
    stage_.referee.enters(on_.number, stage_.elections[e], version);
    stage_.referee.believes(on_.number, stage_.elections[e], version, on_.clock.world(one->sent_at),
                            one->ttl, stage_.promised);
  }
}

void member::judge_losses() const {
  if (ended_ || !opened()) return;
  using core::loss_reason;
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    const core::election_view& one = view(e);
    const bool by_the_store = one.last_loss == loss_reason::taken_over ||
                              one.last_loss == loss_reason::revoked ||
                              one.last_loss == loss_reason::session_invalid;
    if (one.phase != core::phase::draining || !by_the_store || !one.lease) continue;
    stage_.referee.gives_up_as_lost(on_.number, stage_.elections[e],
                                    stage_.judged(e, one.lease->version));
  }
}

void member::judge_line(const std::string& line) {
  if (line.find("--accept-versions") != std::string::npos) has_said_how_to_accept_ = true;
  if (line.find(accounts::mark_of_secrets) != std::string::npos) {
    stage_.referee.broke(rule::secret_in_log, line);
  }
}

bool member::stays() const {
  if (ended_ || told_to_end_) return false;
  for (std::size_t e = 0; e < agent_->elections().size(); ++e) {
    const core::phase now = view(e).phase;
    if (now == core::phase::draining || now == core::phase::stopped) return false;
  }
  return true;
}

bool member::is_held_back_by_versions(std::size_t election) const {
  return !ended_ && opened() &&
         view(election).held_back.why == core::campaign_obstacle::old_version;
}

/// A loss waits a moment for news that may leave it room. The timer is of the agent's own loop: one
/// that stands still has heard nothing yet, as far as it can act.
void member::hears_that_session_is_gone(const std::string& id, world_time asked_at) {
  constexpr core::duration longest_patience = 250ms;
  if (ended_ || !opened() || heard_.renewals == 0 || heard_.acquires > 0) return;
  // The answer to an earlier renewal, whose time is over, is not heard any more.
  if (asked_at < heard_.renews_since) return;
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    const core::election_view& one = view(e);
    if (!one.lease || !one.sequencer.ends_with("@" + id)) continue;
    const std::uint64_t version = stage_.judged(e, one.lease->version);
    if (!stage_.referee.is_over(on_.number, stage_.elections[e], version)) continue;
    looks_.push_back(std::make_unique<base::timer>(*loop_));
    looks_.back()->after(longest_patience, [this, version, e] {
      if (!is_in(stage_.elections[e], version)) return;
      stage_.referee.broke(rule::ignores_its_loss, "pod " + std::to_string(on_.number) +
                                                       " in version " + std::to_string(version) +
                                                       " of " + stage_.elections[e]);
    });
  }
}

void member::judge_campaign(core::election_index which) {
  const core::election_view& one = view(core::place(which));
  const bool adopts = one.phase == core::phase::candidate && one.workload_running;
  const bool must_be_well = on_.checks_health && on_.checks_always && !machine_.has_been_well;
  stage_.referee.campaigns(on_.number, stage_.elections[core::place(which)],
                           {.ill = on_.is_ill(stage_) || (must_be_well && !adopts),
                            .adopts = adopts,
                            .lacks_guard = guarded_ != nullptr && !guarded_->agent_has_guard()});
}

}  // namespace tenure::shell
