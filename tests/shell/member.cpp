#include "member.hpp"

#include <utility>
#include <variant>

#include "core/check.hpp"
#include "stores/etcd/etcd_store.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

// The workload -----------------------------------------------------------------------------------

void workload::arm(core::version /*term*/, core::time_point stop_at, core::time_point kill_at) {
  carry_out(guard_.armed(now(), stop_at, kill_at));
}

void workload::start(core::version term) {
  carry_out(guard_.start_asked(now(), term));
}

void workload::stop(core::time_point kill_by) {
  carry_out(guard_.stop_asked(now(), kill_by));
}

void workload::carry_out(const core::guard_actions& todo) {
  if (todo.kill && alive_) {
    dies_in(stage_.in.dice.between(core::duration(100us), stage_.when.kill_budget * 9 / 10));
  }
  if (todo.terminate && alive_ && !ignores_term_) {
    dies_in(stage_.in.dice.spread(1ms, stage_.when.grace + stage_.when.drain + 1ms));
  }
  if (todo.start) {
    TENURE_CHECK(!alive_);
    alive_ = true;
    ++instance_;
    dies_at_ = sim::world_never;
    ignores_term_ = stage_.in.dice.chance(300'000);
    stage_.referee.starts(pod_, election_, core::number(guard_.term()));
    if (reports) reports(guard_.term());
  }
  if (todo.refused && reports) reports(std::nullopt);
  set_timer();
}

void workload::dies_in(core::duration wait) {
  const world_time when = stage_.in.now + wait;
  if (when >= dies_at_) return;
  dies_at_ = when;
  stage_.in.at(when, [this, when, of = instance_, here = std::weak_ptr(here_)] {
    if (!here.expired() && of == instance_ && dies_at_ == when) died();
  });
}

void workload::died() {
  if (!std::exchange(alive_, false)) return;
  dies_at_ = sim::world_never;
  stage_.referee.ends(pod_, election_);
  guard_.emptied();
  if (reports) reports(std::nullopt);
}

void workload::exit() {
  if (alive_) dies_in(1us);
}

void workload::vanish() {
  reports = nullptr;
  if (alive_) died();
  ++instance_;
  guard_ = {};
}

void workload::set_timer() {
  const world_time next = clock_.world(guard_.next_wake());
  if (next == sim::world_never || next == timer_at_) return;
  timer_at_ = next;
  stage_.in.at(next, [this, next, here = std::weak_ptr(here_)] {
    if (here.expired() || timer_at_ != next) return;
    timer_at_ = sim::world_never;
    carry_out(guard_.woke(now()));
  });
}

// The agent --------------------------------------------------------------------------------------

member::member(stage& s, machine_clock clock, std::size_t pod, std::uint32_t incarnation,
               std::vector<std::unique_ptr<workload>>& workloads)
    : stage_(s),
      pod_(pod),
      workloads_(workloads),
      loop_(std::make_shared<process>(s.in, clock)),
      session_(s.when),
      shown_(s.elections.size()),
      entered_(s.elections.size(), core::no_version),
      timer_(*loop_) {
  stores::settings with;
  with.kind = "etcd";
  with.identity = "pod-" + std::to_string(pod);
  with.session = std::to_string(pod) + "." + std::to_string(incarnation);
  with.ttl = s.when.ttl;
  with.announce = s.in.dice.chance(500'000);
  const std::size_t first = s.in.dice.below(modelled_etcd::most_servers);
  for (std::size_t i = 0; i < modelled_etcd::most_servers; ++i) {
    with.endpoints.push_back("http://" + std::to_string((first + i) % modelled_etcd::most_servers) +
                             ".etcd:2379");
  }
  for (const std::string& name : s.elections) with.elections.push_back({.name = name});
  for (std::size_t e = 0; e < s.elections.size(); ++e) {
    watch_timers_.push_back(std::make_unique<base::timer>(*loop_));
    workloads_[e]->reports = [this, e,
                              noted = std::weak_ptr(loop_)](std::optional<core::version> started) {
      const auto loop = noted.lock();
      if (!loop) return;
      loop->post([this, e, started] {
        if (started) {
          step(e, core::event::workload_started{*started});
        } else {
          step(e, core::event::workload_exited{});
        }
      });
    };
  }
  auto made = stores::make_etcd_store(*loop_, s.network.connector(pod, loop_), std::move(with));
  TENURE_CHECK(made.has_value());
  store_ = std::move(*made);
  loop_->post([this] {
    store_->open([this](const std::expected<stores::description, stores::open_error>& what) {
      TENURE_CHECK(what.has_value());
      opened_store();
    });
  });
}

/// SIGKILL: nothing is said to anybody.
member::~member() {
  for (const core::version term : entered_) {
    if (term != core::no_version) stage_.referee.leaves(core::number(term));
  }
  for (const auto& one : workloads_) one->reports = nullptr;
}

void member::opened_store() {
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    core::election_settings settings{.identity = "pod-" + std::to_string(pod_),
                                     .when = stage_.when};
    // As in a container: what has ended is started again, by whoever holds then.
    settings.ends_with_workload = false;
    session_.add(std::move(settings));
  }
  for (std::size_t e = 0; e < stage_.elections.size(); ++e) {
    session_.step(moment(), index(e), core::event::started{}, effects_);
  }
  carry_out();
}

void member::step(std::size_t e, const core::election_event& what) {
  if (!opened()) return;
  session_.step(moment(), index(e), what, effects_);
  carry_out();
}

void member::resign(std::size_t election, core::duration aside) {
  loop_->post([this, election, aside] { step(election, core::event::resign{.aside = aside}); });
}

void member::carry_out() {
  for (const core::addressed& one : effects_.commands) {
    std::visit([&](const auto& c) { carry_out(core::place(one.which), c); }, one.what);
  }
  if (effects_.renew) renew(*effects_.renew);
  effects_.clear();
  const core::time_point next = session_.next_wake();
  if (timer_.when() != next) {
    timer_.at(next, [this] {
      session_.wake(moment(), effects_);
      carry_out();
    });
  }
}

void member::believes(std::size_t e, core::version term, core::time_point sent_at,
                      core::duration ttl) {
  stage_.referee.believes(pod_, stage_.elections[e], core::number(term),
                          loop_->clock().world(sent_at), ttl, stage_.servers);
}

void member::carry_out(std::size_t e, const core::command::acquire& c) {
  store_->acquire(index(e), c.above, c.deadline, [this, e, c](stores::acquire_outcome what) {
    if (auto* grant = std::get_if<stores::grant>(&what)) {
      believes(e, grant->term, grant->sent_at, grant->ttl);
      if (grant->released_cleanly) {
        stage_.referee.believes_clean(pod_, stage_.elections[e], core::number(grant->term));
      }
      step(e, core::event::granted{.number = c.number,
                                   .term = grant->term,
                                   .sequencer = std::move(grant->sequencer),
                                   .ttl = grant->ttl,
                                   .sent_at = grant->sent_at,
                                   .released_cleanly = grant->released_cleanly});
    } else if (auto* refusal = std::get_if<stores::refusal>(&what)) {
      step(e, core::event::refused{.number = c.number, .retry_at = refusal->seen.retry_at});
    } else {
      step(e, core::event::acquire_unknown{.number = c.number});
    }
  });
}

void member::renew(const core::command::renew& c) {
  const auto batch = session_.renewing();
  std::vector<core::renewal_item> items(batch.begin(), batch.end());
  store_->renew(items, c.deadline, [this, c, items](stores::renew_outcome what) {
    if (const auto* done = std::get_if<stores::renewal>(&what)) {
      for (const core::renewal_item& one : items) {
        const bool lost = std::ranges::any_of(
            done->lost, [&](const core::renewal_loss& l) { return l.which == one.which; });
        if (!lost) believes(core::place(one.which), one.term, done->sent_at, done->ttl);
      }
      session_.renewed(moment(), c.number, done->sent_at, done->ttl, done->lost, effects_);
    } else {
      session_.renewal_unknown(moment(), c.number, effects_);
    }
    carry_out();
  });
}

void member::carry_out(std::size_t e, const core::command::release& c) {
  if (c.clean) stage_.referee.says_clean(core::number(c.term));
  store_->release(index(e), c.term, {.clean = c.clean}, c.deadline,
                  [this, e, c](const stores::release_outcome& what) {
                    if (std::holds_alternative<stores::released>(what)) {
                      step(e, core::event::released{c.number});
                    } else {
                      step(e, core::event::release_unknown{c.number});
                    }
                  });
}

void member::carry_out(std::size_t e, const core::command::watch& c) {
  watch_timers_[e]->at(c.not_before, [this, e] { open_watch(e); });
}

void member::open_watch(std::size_t e) {
  store_->watch(index(e), [this, e](std::variant<core::observation, stores::unknown> what) {
    auto* seen = std::get_if<core::observation>(&what);
    if (seen == nullptr) {
      shown_[e].reset();
      return step(e, core::event::watch_failed{});
    }
    auto& versions = shown_[e].emplace();
    for (const core::holder& one : seen->holders) versions.push_back(core::number(one.term));
    step(e, core::event::observed{std::move(*seen)});
  });
}

void member::carry_out(std::size_t e, const core::command::arm& c) {
  workloads_[e]->arm(c.term, c.stop_at, c.kill_at);
}

void member::carry_out(std::size_t e, const core::command::start_workload& c) {
  workloads_[e]->start(c.term);
}

void member::carry_out(std::size_t e, const core::command::stop_workload& c) {
  workloads_[e]->stop(c.kill_by);
}

void member::carry_out(std::size_t e, const core::command::transition& c) {
  const auto& lease = view(e).lease;
  const bool in_term = c.to == core::phase::pending || c.to == core::phase::active;
  if (in_term && lease && entered_[e] == core::no_version) {
    entered_[e] = lease->term;
    stage_.referee.enters(pod_, core::number(lease->term));
  } else if (!in_term && entered_[e] != core::no_version) {
    stage_.referee.leaves(core::number(std::exchange(entered_[e], core::no_version)));
  }
}

}  // namespace tenure::shell
