#include "stand_in_guard.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

/// Between two processes of one machine.
constexpr core::duration shortest_way = 20us;
constexpr core::duration longest_way = 5ms;

}  // namespace

/// The agent's side: what it writes reaches the guard a moment later, but for the page.
class stand_in_guard::link final : public workload::workload_owner {
 public:
  link(stand_in_guard& to, const std::shared_ptr<base::event_loop>& agent,
       runtime::guard_handler on_event)
      : guard_(to),
        agent_(agent),
        on_event_(std::make_shared<runtime::guard_handler>(std::move(on_event))) {}
  ~link() override {
    if (guard_.agent_ == this) guard_.agent_ = nullptr;
  }

  void arm(core::version, core::time_point stop_at, core::time_point kill_at) override {
    guard_.stop_at_ = stop_at;
    guard_.kill_at_ = kill_at;
    guard_.carry_out(guard_.guard_.armed(guard_.now(), stop_at, kill_at));
  }
  void show(const guard::worker_term&) override {}
  void note_grant(core::version term) override {
    guard_.last_term_ = std::max(guard_.last_term_, term);
  }
  void forget_grants(core::version before) override {
    guard_.last_term_ = std::min(guard_.last_term_, before);
  }
  void note_api_port(std::uint16_t) override {}
  void start(core::version term, const std::vector<std::string>&) override {
    may_run_ = true;
    guard_.later([to = &guard_, term] { to->hear_start(term); });
  }
  void stop(core::time_point kill_by, int) override {
    guard_.later([to = &guard_, kill_by] { to->hear_stop(kill_by); });
  }
  void bye(std::optional<int>) override {}
  void presume_dead() override { may_run_ = false; }
  [[nodiscard]] bool may_run() const override { return may_run_; }
  [[nodiscard]] bool gone() const override { return false; }
  void end_orphans() override {}

  void hear(const workload::guard_event& what) {
    const auto loop = agent_.lock();
    if (!loop) return;
    loop->post([this, noted = std::weak_ptr(on_event_), what] {
      const auto handler = noted.lock();
      if (!handler) return;
      note(what);
      (*handler)(what);
    });
  }

 private:
  void note(const workload::guard_event& what) {
    if (const auto* ready = std::get_if<workload::guard_ready>(&what)) {
      may_run_ = ready->found && !ready->found->ended;
    } else if (std::holds_alternative<workload::workload_exited>(what) ||
               std::holds_alternative<workload::start_refused>(what)) {
      may_run_ = false;
    }
  }

  stand_in_guard& guard_;
  std::weak_ptr<base::event_loop> agent_;
  std::shared_ptr<runtime::guard_handler> on_event_;
  bool may_run_ = false;
};

std::unique_ptr<workload::workload_owner> stand_in_guard::connect(
    const std::shared_ptr<base::event_loop>& agent, const runtime::guard_wish& how,
    runtime::guard_handler on_event) {
  auto out = std::make_unique<link>(*this, agent, std::move(on_event));
  agent_ = out.get();
  later([this, to = agent_, how] {
    if (agent_ != to) return;
    workload::guard_ready ready{
        .found = std::nullopt, .session = session_, .last_term = last_term_};
    if (alive_) {
      ready.found = {
          .term = guard_.term(), .stop_at = stop_at_, .kill_at = kill_at_, .stopping = told_};
    } else if (unreported_) {
      ready.found = {.term = unreported_term_,
                     .stop_at = stop_at_,
                     .kill_at = kill_at_,
                     .ended = std::exchange(unreported_, std::nullopt)};
    }
    if (session_.empty() || how.session_is_bound) session_ = how.session;
    tell(ready);
  });
  return out;
}

void stand_in_guard::later(std::function<void()> what) {
  stage_.in.after(stage_.in.dice.spread(shortest_way, longest_way),
                  [what = std::move(what), here = std::weak_ptr(here_)] {
                    if (!here.expired()) what();
                  });
}

void stand_in_guard::tell(const workload::guard_event& what) {
  if (agent_ != nullptr) agent_->hear(what);
}

void stand_in_guard::hear_start(core::version term) {
  carry_out(guard_.start_asked(now(), term));
}

void stand_in_guard::hear_stop(core::time_point kill_by) {
  told_ = true;
  carry_out(guard_.stop_asked(now(), kill_by));
}

void stand_in_guard::carry_out(const core::guard_actions& todo) {
  if (todo.kill && alive_) {
    told_ = true;
    dies_in(stage_.in.dice.between(core::duration(100us), stage_.when.kill_budget * 9 / 10));
  }
  if (todo.terminate && alive_) {
    told_ = true;
    if (!ignores_term_) {
      dies_in(stage_.in.dice.spread(1ms, stage_.when.grace + stage_.when.drain + 1ms));
    }
  }
  if (todo.start) {
    TENURE_CHECK(!alive_);
    alive_ = true;
    told_ = false;
    unreported_.reset();
    ++instance_;
    dies_at_ = sim::world_never;
    ignores_term_ = stage_.in.dice.chance(300'000);
    stage_.referee.starts(on_.number, stage_.elections.front(), core::number(guard_.term()));
    tell(workload::workload_started{.pid = 100, .term = guard_.term()});
  }
  if (todo.refused) tell(workload::start_refused{guard_.term()});
  set_timer();
}

void stand_in_guard::dies_in(core::duration wait) {
  const world_time when = stage_.in.now + wait;
  if (when >= dies_at_) return;
  dies_at_ = when;
  stage_.in.at(when, [this, when, of = instance_, here = std::weak_ptr(here_)] {
    if (!here.expired() && of == instance_ && dies_at_ == when) died();
  });
}

void stand_in_guard::died() {
  if (!std::exchange(alive_, false)) return;
  dies_at_ = sim::world_never;
  stage_.referee.ends(on_.number, stage_.elections.front());
  const workload::workload_exited how{.status = 0, .at = now()};
  if (agent_ == nullptr) {
    unreported_ = how;
    unreported_term_ = guard_.term();
  }
  guard_.emptied();
  tell(how);
}

void stand_in_guard::exit() {
  if (alive_) dies_in(1us);
}

void stand_in_guard::vanish() {
  agent_ = nullptr;
  if (alive_) died();
  ++instance_;
  here_ = std::make_shared<bool>(true);
  guard_ = {};
  session_.clear();
  last_term_ = core::no_version;
  unreported_.reset();
  timer_at_ = sim::world_never;
}

void stand_in_guard::set_timer() {
  const world_time next = on_.clock.world(guard_.next_wake());
  if (next == sim::world_never || next == timer_at_) return;
  timer_at_ = next;
  stage_.in.at(next, [this, next, here = std::weak_ptr(here_)] {
    if (here.expired() || timer_at_ != next) return;
    timer_at_ = sim::world_never;
    carry_out(guard_.woke(now()));
  });
}

}  // namespace tenure::shell
