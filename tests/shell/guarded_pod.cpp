#include "guarded_pod.hpp"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>
#include <vector>

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

/// Between two looks of the judge.
constexpr core::duration between_looks = 100ms;
/// For a guard that is told to end, with all the time that it and its agent want.
constexpr core::duration ends_within = 20s;
/// Of its agent, to a guard.
constexpr int orders_before = 6;
/// For a guard or an agent that gets its time, to kill in rounds.
constexpr core::duration killing_takes = 200ms;
/// How often a guard looks for what runs without a lease (foreign_workload.cpp).
constexpr core::duration sweeps_every = 500ms;
constexpr std::uint32_t half = 500'000;

guard_machine draw(stage& s, const pod_machine& pod, modelled_processes& processes,
                   guard_judge& referee) {
  rng& dice = s.in.dice;
  guard_machine out{.in = s.in,
                    .clock = pod.clock,
                    .clock_off = pod.guard_clock_off,
                    .processes = processes,
                    .referee = referee,
                    .rules = {.stop_signal = SIGTERM,
                              .after_exit_grace = dice.between(core::duration(100ms), 2s),
                              .drain = dice.between(core::duration(100ms), 3s)},
                    .socket_room = static_cast<std::size_t>(dice.between(std::int64_t{1}, 5)),
                    .socket_delay = dice.spread(20us, 300ms),
                    .preempted_for = dice.spread(20us, 5ms),
                    .accepts_agents = s.guard_socket,
                    .salt_of_log = 0};
  if (s.found) {
    out.found = guard::foreign_rules{.may_run_on_standby = s.found_may_run,
                                     .gain_signal = s.found_may_run ? SIGUSR1 : 0};
  }
  out.salt_of_log = static_cast<std::uint64_t>(out.rules.drain.count() ^ out.socket_delay.count());
  processes.stops_within = dice.spread(1ms, s.when.grace + s.when.drain + 1ms);
  // It may be the agent that kills, 50 ms after a guard that does not.
  processes.killed_within = dice.spread(1ms, s.when.kill_budget / 3);
  return out;
}

}  // namespace

guarded_pod::guarded_pod(stage& s, const pod_machine& on, agent_hooks agent, bool traced)
    : stage_(s),
      pod_(on),
      world_(s.in),
      agent_hooks_(std::move(agent)),
      processes_(s.in),
      judge_(s.in, processes_, on.clock, traced, "pod " + std::to_string(on.number) + ": "),
      on_(draw(s, on, processes_, judge_)) {
  const bool starts_agents = !on_.accepts_agents && !on_.found;
  has_record_ = starts_agents && world_.dice.chance(800'000);
  leaves_the_rest_ = starts_agents && world_.dice.chance(half);
  const std::string& which = s.elections.front();
  judge_.on_broken = [this](guard_rule what, const std::string& details) {
    stage_.referee.broke_guard_rule(name(what), details);
  };
  judge_.on_start = [this, which](std::uint64_t version, bool late, world_time asked_at) {
    stage_.referee.starts(pod_.number, which, version, late, asked_at);
  };
  on_.stops = [this, which](core::time_point kill_by) {
    std::set<std::uint64_t> alive;
    for (const auto& [pid, one] : processes_.all()) {
      if (one.alive() && one.version != 0) alive.insert(one.version);
    }
    for (const std::uint64_t version : alive) {
      stage_.referee.stops(pod_.number, which, version, on_.clock.world(kill_by));
    }
  };
  on_.shown = agent_hooks_.shows;
  processes_.workload_ended = [this, which](std::uint64_t version) {
    stage_.referee.ends(pod_.number, which, version);
  };
  processes_.agent_died = [this](pid_t pid) { world_.after(0ns, [this, pid] { bury(pid); }); };
  processes_.agent_told = [this](pid_t pid, int signo) {
    if (agent_ && agent_->pid == pid) agent_hooks_.told_to_end(signo);
  };
}

// --- guards and agents -----------------------------------------------------------------------

void guarded_pod::open() {
  start_guard();
  start_agent_in(world_.dice.between(core::duration{}, 500ms));
  tick();
  clean_up();
}

void guarded_pod::start_guard() {
  if (guard_ && guard_->in_a_turn()) return start_guard_in(1ms);
  guard_comes_ = false;
  if (away_) return;
  judge_.say("a guard starts");
  judge_.session.clear();
  judge_.bound_sessions.clear();
  told_to_end_at_ = sim::world_never;
  stage_.referee.guard_begins(pod_.number);
  guard_ = std::make_unique<modelled_guard>(
      on_, [this](pid_t pid, const std::shared_ptr<modelled_line>& line) { launched(pid, line); });
  if (stage_.kubelet == nullptr) return;
  const auto words = guard_->tree().last_words;
  guard_->tree().speaks = [this, words] { stage_.kubelet->speaks(pod_.identity, *words); };
  guard_->memory()->container.ended.emplace_back(
      [this, words] { stage_.kubelet->has_ended(pod_.identity, *words); });
}

void guarded_pod::start_guard_in(core::duration wait) {
  guard_comes_ = true;
  world_.after(wait, [this] { start_guard(); });
}

void guarded_pod::launched(pid_t pid, const std::shared_ptr<modelled_line>& line) {
  judge_.say("the guard starts agent " + std::to_string(pid));
  agent_ = std::make_shared<agent_process>(
      agent_process{.pid = pid, .able_since = sim::world_never, .lines = {line}});
  world_.after(world_.dice.spread(1ms, 300ms), [this, pid] { begin_agent(pid); });
}

void guarded_pod::begin_agent(pid_t pid) {
  const modelled_process* const one = processes_.find(pid);
  if (!agent_ || agent_->pid != pid || one == nullptr || !one->alive()) return;
  agent_->able_since = world_.now;
  if (std::exchange(dies_when_found_, false)) end_what_is_found();
  agent_hooks_.begins();
}

/// In a container of its own.
void guarded_pod::start_agent_in(core::duration wait) {
  if (!on_.accepts_agents || agent_comes_) return;
  agent_comes_ = true;
  world_.after(wait, [this] {
    agent_comes_ = false;
    if (away_ || agent_) return;
    modelled_process& one = processes_.fork(modelled_processes::init);
    one.of_agent = true;
    judge_.say("agent " + std::to_string(one.pid) + " starts");
    agent_ = std::make_shared<agent_process>(agent_process{.pid = one.pid});
    begin_agent(one.pid);
  });
}

void guarded_pod::agent_exits(int status) {
  world_.after(0ns, [this, pid = agent_->pid, status] { processes_.ends(pid, status << 8); });
}

void guarded_pod::bury(pid_t pid) {
  if (!agent_ || agent_->pid != pid) return;
  judge_.say("agent " + std::to_string(pid) + " is dead");
  agent_hooks_.dies();
  for (const auto& line : agent_->lines) line->agent_closes();
  judge_.agent_gone(pid);
  agent_.reset();
  const core::duration away = std::exchange(agent_away_, core::duration{});
  start_agent_in(away != core::duration{} ? away : world_.dice.spread(10ms, 3s));
}

runtime::guard_result guarded_pod::connect_parent(const std::shared_ptr<process>& loop,
                                                  const runtime::guard_wish& how,
                                                  runtime::guard_handler to) {
  if (on_.accepts_agents) return std::unexpected(std::string("no guard has started this agent"));
  const modelled_process* const self = processes_.find(agent_->pid);
  return connect({.line = agent_->lines.front(),
                  .memory = guard_->memory(),
                  .guard = self == nullptr ? 0 : guard_->pid()},
                 loop, how, std::move(to));
}

runtime::run_record_result guarded_pod::open_run_record() {
  if (!has_record_) return std::unexpected(workload::no_record::unusable);
  const bool is_full = !on_.quiet && world_.dice.chance(20'000);
  return std::make_unique<modelled_run_record>(on_, record_, guard_->pid(), is_full);
}

void guarded_pod::knock(const std::shared_ptr<process>& loop,
                        std::function<void(std::optional<way_to_guard>)> answer) {
  guard_->knock([this, of = std::weak_ptr(agent_), noted = std::weak_ptr(loop),
                 answer = std::move(answer)](const std::shared_ptr<modelled_line>& line) {
    const auto agent = of.lock();
    const auto on = noted.lock();
    if (!agent || !on) {
      if (line) line->agent_closes();
      return;
    }
    std::optional<way_to_guard> way;
    if (line) {
      agent->lines.push_back(line);
      way = {.line = line, .memory = guard_->memory()};
    }
    on->post([answer, way = std::move(way)] { answer(way); });
  });
}

std::unique_ptr<workload::workload_owner> guarded_pod::connect(way_to_guard over,
                                                               const std::shared_ptr<process>& loop,
                                                               const runtime::guard_wish& how,
                                                               runtime::guard_handler to) {
  auto made = std::make_unique<judged_link>(on_, agent_, std::move(over), loop, how, std::move(to));
  made->out_of_sight = [this](std::uint64_t version) {
    stage_.referee.out_of_sight(pod_.number, stage_.elections.front(), version);
  };
  made->in_sight = [this] { stage_.referee.in_sight(pod_.number, stage_.elections.front()); };
  return made;
}

// --- what the judge looks at -----------------------------------------------------------------

void guarded_pod::tick() {
  world_.after(between_looks, [this] { tick(); });
  judge_.look({.guard = on_.guard_able_since,
               .agent_pid = agent_ ? agent_->pid : 0,
               .agent = agent_ ? agent_->able_since : sim::world_never,
               .agent_reaches = agent_ ? agent_->reaches_since() : sim::world_never,
               .guards = on_.guards,
               .stops_astray_within = on_.found
                                          ? std::optional(sweeps_every + on_.rules.after_exit_grace)
                                          : std::nullopt,
               .may_run_on_standby = on_.found && on_.found->may_run_on_standby,
               .found_term = guard_->found_term()});
  if (agent_ && agent_->link != nullptr) agent_->link->look();
  check_guard_ends();
  keep_container();
  const bool all_is_over =
      on_.accepts_agents ? guard_->memory()->container.is_over
                         : !agent_ && (on_.found || leaves_the_rest_ || some_process() == nullptr);
  if (!guard_->lives() && !guard_comes_ && !away_ && all_is_over) {
    start_guard_in(world_.dice.spread(10ms, 3s));
  }
}

void guarded_pod::check_guard_ends() {
  const bool hangs =
      std::ranges::any_of(processes_.all(), [](const auto& one) { return one.second.hangs; });
  if (!guard_->lives() || !guard_->was_told_to_end() || hangs ||
      on_.guard_able_since == sim::world_never ||
      (agent_ && agent_->able_since == sim::world_never)) {
    told_to_end_at_ = sim::world_never;
    return;
  }
  if (told_to_end_at_ == sim::world_never) told_to_end_at_ = world_.now;
  // Its agent may have to wait until its lease has run out.
  if (world_.now - told_to_end_at_ < ends_within + 2 * stage_.when.ttl) return;
  judge_.broke(guard_rule::never_ends, "told to");
}

void guarded_pod::keep_container() {
  const auto lives = [](const auto& one) { return one.second.foreign && one.second.alive(); };
  if (!on_.found || away_ || container_comes_ || std::ranges::any_of(processes_.all(), lives)) {
    return;
  }
  container_comes_ = true;
  world_.after(world_.dice.spread(10ms, 5s), [this] {
    container_comes_ = false;
    if (away_) return;
    modelled_process& one = processes_.fork(modelled_processes::init);
    one.group = one.pid;
    one.foreign = true;
    one.ignores_term = world_.dice.chance(300'000);
    one.version = processes_.open_term;
    one.known_to = on_.guards;
    judge_.say("the kubelet starts process " + std::to_string(one.pid) + ", under version " +
               std::to_string(one.version));
  });
}

/// An operator ends what a guard and an agent that died together have left.
void guarded_pod::clean_up() {
  world_.after(2s, [this] { clean_up(); });
  if (on_.found) return;
  const bool both_are_dead = !guard_->lives() && !agent_ && !leaves_the_rest_;
  for (auto& [pid, one] : processes_.all()) {
    if (one.version != 0 && (both_are_dead || !is_known(one))) processes_.signal(pid, SIGKILL);
  }
}

bool guarded_pod::agent_has_guard() const {
  return agent_ && agent_->link != nullptr && agent_->link->is_usable();
}

world_time guarded_pod::agent_able_since() const {
  return agent_ ? agent_->able_since : sim::world_never;
}

bool guarded_pod::guard_hangs() const {
  return guard_ && guard_->lives() && on_.guard_able_since == sim::world_never;
}

/// What has outlived its guard and its agent is not known to the next ones, nor until when it may
/// run.
bool guarded_pod::is_known(const modelled_process& what) const {
  return what.known_to == on_.guards;
}

bool guarded_pod::could_kill(const modelled_process& what) const {
  const world_time due = judge_.due(what.version);
  const bool hung = what.hangs || what.hung_until > due;
  const bool late = what.born >= due;
  if (hung || late || !is_known(what)) return false;
  const bool guard_could = guard_->lives() && on_.guard_able_since <= due;
  const bool agent_could = !what.hidden() && agent_ && agent_->reaches_since() <= due;
  return guard_could || agent_could;
}

bool guarded_pod::lives_by_mistake(std::uint64_t version) const {
  if (world_.now < judge_.due(version)) return true;
  return std::ranges::any_of(processes_.all(), [&](const auto& one) {
    return one.second.alive() && one.second.version == version && could_kill(one.second);
  });
}

bool guarded_pod::outlives_news(std::uint64_t version, world_time heard_at) const {
  if (!agent_) return false;
  // The order may have to wait for others that are before it, each for room in the socket.
  const core::duration takes =
      stage_.when.kill_budget + orders_before * on_.socket_delay + killing_takes;
  return std::ranges::any_of(processes_.all(), [&](const auto& of) {
    const modelled_process& one = of.second;
    if (!one.alive() || one.version != version || one.hangs || !is_known(one)) return false;
    const world_time from = std::max({heard_at, one.born, one.hung_until});
    const auto is_late = [&](world_time able_since) {
      return able_since != sim::world_never && std::max(from, able_since) + takes < world_.now;
    };
    const world_time by_guard = std::max(on_.guard_able_since, agent_->orders_since());
    return (guard_->lives() && is_late(by_guard)) ||
           (!one.hidden() && is_late(agent_->reaches_since()));
  });
}

// --- what goes wrong -------------------------------------------------------------------------

modelled_process* guarded_pod::some_process() {
  std::vector<modelled_process*> all;
  for (auto& [pid, one] : processes_.all()) {
    if ((one.version != 0 || one.foreign) && one.alive()) all.push_back(&one);
  }
  return all.empty() ? nullptr : all[world_.dice.below(all.size())];
}

void guarded_pod::freeze_guard(core::duration lasts) {
  if (!guard_) return;
  judge_.say("the guard is frozen");
  guard_->freeze();
  world_.after(lasts, [this, pid = guard_->pid()] {
    if (guard_->pid() != pid) return;
    judge_.say("the guard goes on");
    guard_->thaw();
  });
}

void guarded_pod::pause_agent(bool on) {
  if (!agent_) return;
  judge_.say("agent " + std::to_string(agent_->pid) + (on ? " is paused" : " goes on"));
  agent_->able_since = on ? sim::world_never : world_.now;
  agent_hooks_.pause(on);
}

void guarded_pod::pause_agent_for(core::duration lasts) {
  if (!agent_) return;
  pause_agent(true);
  world_.after(lasts, [this, pid = agent_->pid] {
    if (agent_ && agent_->pid == pid) pause_agent(false);
  });
}

void guarded_pod::kill_agent(core::duration away) {
  if (!agent_) return;
  judge_.say("agent " + std::to_string(agent_->pid) + " is killed");
  agent_away_ = away;
  processes_.signal(agent_->pid, SIGKILL);
}

void guarded_pod::end_agent() {
  if (agent_) processes_.signal(agent_->pid, SIGTERM);
}

void guarded_pod::kill_guard() {
  guard_->kill();
}

void guarded_pod::end_workload() {
  modelled_process* const one = some_process();
  if (one == nullptr || one->hangs) return;
  judge_.say("process " + std::to_string(one->pid) + " ends by itself");
  processes_.ends(one->pid, world_.dice.chance(half) ? 0 : SIGSEGV);
}

void guarded_pod::vanish(core::duration away) {
  if (away_ || !guard_) return;
  away_ = true;
  guard_->kill();
  std::vector<pid_t> all;
  for (auto& [pid, one] : processes_.all()) {
    one.hangs = false;
    if (pid != guard_->pid()) all.push_back(pid);
  }
  for (const pid_t pid : all) processes_.ends(pid, SIGKILL);
  world_.after(away, [this] {
    away_ = false;
    start_agent_in({});
  });
}

void guarded_pod::boots() {
  on_.clock = pod_.clock;
  judge_.boots(pod_.clock);
  record_ = {};
}

void guarded_pod::fork_something() {
  modelled_process* const from = some_process();
  if (from == nullptr || from->killed || from->hangs) return;
  rng& dice = world_.dice;
  modelled_process& child = processes_.fork(from->pid);
  child.ignores_term = dice.chance(half);
  if (dice.chance(half)) {
    child.group = child.pid;
    if (dice.chance(half)) {
      // What an earlier guard has left is not below the present one.
      const bool is_below = !child.foreign && is_known(child);
      child.parent = is_below ? processes_.subreaper : modelled_processes::init;
    }
    const modelled_process* const above = processes_.find(child.parent);
    if (above == nullptr || !above->alive()) child.parent = modelled_processes::init;
    if (dice.chance(200'000)) child.mark.clear();
  }
  judge_.say("process " + std::to_string(child.pid) + " comes out of " + std::to_string(from->pid) +
             (child.mark.empty() ? ", and hides" : ""));
}

/// A daemon of the workload outlives its guard. The guard's container would end with it.
void guarded_pod::leave_daemon(bool hides) {
  modelled_process* const from = some_process();
  if (on_.accepts_agents || from == nullptr || from->foreign) return;
  modelled_process& child = processes_.fork(from->pid);
  child.group = child.pid;
  child.parent = modelled_processes::init;
  if (hides) child.mark.clear();
  child.ignores_term = true;
  judge_.say("process " + std::to_string(child.pid) + " is a daemon" +
             (hides ? ", and hides" : ""));
}

/// So that its agent finds the workload running, and hears of its end before it campaigns.
void guarded_pod::end_what_is_found() {
  world_.after(world_.dice.spread(100us, 300ms), [this] {
    std::vector<pid_t> all;
    for (const auto& [pid, one] : processes_.all()) {
      const bool is_workload = one.version != 0 || one.foreign;
      if (is_workload && one.alive() && !one.hangs) all.push_back(pid);
    }
    for (const pid_t pid : all) processes_.ends(pid, 0);
  });
}

void guarded_pod::hang_something(core::duration lasts) {
  modelled_process* const one = some_process();
  if (one == nullptr) return;
  judge_.say("process " + std::to_string(one->pid) + " hangs in the kernel");
  processes_.set_hanging(one->pid, true);
  world_.after(lasts, [this, pid = one->pid] { processes_.set_hanging(pid, false); });
}

/// The guard stands still when its agent moves the deadline, and the agent loses its lease then.
void guarded_pod::fail_at_next_renewal(core::duration lasts) {
  on_.before_renewal = [this, lasts] {
    freeze_guard(lasts);
    world_.after(world_.dice.spread(1ms, 300ms), [this] { end_agent(); });
  };
}

/// From all servers.
void guarded_pod::cut_off(core::duration lasts) {
  judge_.say("it is cut off from the store");
  for (std::size_t i = 0; i < modelled_cluster::most_servers; ++i) {
    stage_.network.cut(pod_.number, i);
    world_.after(lasts, [this, i] { stage_.network.heal(pod_.number, i); });
  }
}

/// Nobody renews, and the guard does not see the deadline pass.
void guarded_pod::sleep_through_deadline() {
  cut_off(2 * stage_.when.ttl);
  freeze_guard(world_.dice.between(stage_.when.ttl, 2 * stage_.when.ttl));
}

/// The agent dies just when it has ordered a start, and the guard may stand still.
void guarded_pod::die_at_next_start(core::duration lasts) {
  on_.after_start = [this, lasts] {
    if (world_.dice.chance(half)) freeze_guard(lasts);
    world_.after(world_.dice.spread(10us, 300ms), [this] { kill_agent({}); });
  };
}

/// The guard stands still when it is to start something, until that is due to be dead. Nothing can
/// be released meanwhile, so the agent is there to hear what the guard says then.
void guarded_pod::hang_at_next_start() {
  on_.after_start = [this] {
    const core::duration ttl = stage_.when.ttl;
    freeze_guard(world_.dice.between(ttl * 8 / 10, ttl * 12 / 10));
    cut_off(2 * ttl);
  };
}

void guarded_pod::stand_still(core::duration lasts) {
  if (away_ || !guard_) return;
  judge_.say("the pod stands still");
  freeze_guard(lasts);
  pause_agent_for(lasts);
}

void guarded_pod::fault(const swarm<guard_fault>& kinds, core::duration lasts) {
  if (away_ || !guard_) return;
  switch (kinds.draw(world_.dice)) {
    case guard_fault::guard_frozen:
      return freeze_guard(lasts);
    case guard_fault::guard_killed:
      judge_.say("the guard is killed");
      return kill_guard();
    case guard_fault::agent_paused:
      return pause_agent_for(lasts);
    case guard_fault::agent_killed:
      return kill_agent({});
    case guard_fault::stands_still:
      return stand_still(lasts);
    case guard_fault::forks:
      return fork_something();
    case guard_fault::hangs:
      return hang_something(lasts);
    case guard_fault::workload_ends:
      return end_workload();
    case guard_fault::guard_told_to_end:
      judge_.say("the guard gets SIGTERM");
      return guard_->signal(SIGTERM);
    case guard_fault::guard_hung_up:
      return guard_->signal(SIGHUP);
    case guard_fault::fails_at_renewal:
      return fail_at_next_renewal(lasts);
    case guard_fault::dies_at_start:
      return die_at_next_start(lasts);
    case guard_fault::hangs_at_start:
      return hang_at_next_start();
    case guard_fault::sleeps_through_deadline:
      return sleep_through_deadline();
    case guard_fault::both_killed:
      if (world_.dice.chance(half)) leave_daemon(world_.dice.chance(half));
      judge_.say("the guard and its agent are killed");
      pause_agent(true);  // what has got SIGKILL executes nothing more
      kill_guard();
      return kill_agent({});
    case guard_fault::pod_told_to_end:
      judge_.say("the pod is told to end");
      guard_->signal(SIGTERM);
      return end_agent();
    case guard_fault::leaves_hidden:
      leave_daemon(true);
      judge_.say("the guard is killed");
      return kill_guard();
    case guard_fault::dies_when_found:
      dies_when_found_ = true;
      return kill_agent({});
  }
}

void guarded_pod::mend() {
  on_.quiet = true;
  if (!guard_) return;
  on_.before_renewal = on_.after_start = nullptr;
  dies_when_found_ = false;
  guard_->thaw();
  pause_agent(false);
  for (auto& [pid, one] : processes_.all()) {
    if (one.hangs) processes_.set_hanging(pid, false);
  }
}

}  // namespace tenure::shell
