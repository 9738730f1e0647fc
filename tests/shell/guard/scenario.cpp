#include "shell/guard/scenario.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "shell/guard/agent.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// Between two looks of the judge.
constexpr core::duration between_looks = 25ms;
/// For what is left to be over, and a new workload to be well.
constexpr core::duration patience = 45s;
/// For a guard that is told to end, with all the time that it and its agent want.
constexpr core::duration ends_within = 20s;
constexpr core::duration between_dials = 250ms;
/// A world that does so much has a loop in it.
constexpr std::uint64_t most_events = 3'000'000;
constexpr std::uint32_t half = 500'000;

guard_machine draw(world& in, modelled_processes& processes, guard_judge& referee,
                   machine_clock clock) {
  rng& dice = in.dice;
  guard_machine out{.in = in,
                    .clock = clock,
                    .processes = processes,
                    .referee = referee,
                    .rules = {.stop_signal = SIGTERM,
                              .after_exit_grace = dice.between(core::duration(100ms), 2s),
                              .drain = dice.between(core::duration(100ms), 3s)},
                    .ttl = dice.between(core::duration(2s), 12s),
                    .drain = dice.between(core::duration(10ms), 2s),
                    .socket_room = static_cast<std::size_t>(dice.between(std::int64_t{1}, 5)),
                    .socket_delay = dice.spread(20us, 300ms),
                    .preempted_for = dice.spread(20us, 5ms),
                    .has_door = dice.chance(400'000)};
  processes.stops_within = dice.spread(1ms, 4s);
  return out;
}

class scenario {
 public:
  scenario(std::uint64_t seed, bool trace)
      : world_(seed),
        processes_(world_),
        clock_(world_.dice.between(core::duration(1h), 1000h),
               world_.dice.between(-sim::most_ppm_off, sim::most_ppm_off)),
        judge_(world_, processes_, clock_, trace),
        on_(draw(world_, processes_, judge_, clock_)) {
    processes_.agent_died = [this](pid_t pid) { world_.after(0ns, [this, pid] { bury(pid); }); };
    judge_.say(on_.has_door ? "agents come in by a door" : "the guard starts its agent");
    start_guard();
    if (on_.has_door) start_door_agent();
    if (on_.has_door && world_.dice.chance(half)) start_door_agent();
    tick();
    clean_up();
  }

  tests::seed_outcome run() {
    const world_time began = world_.now;
    const world_time quiet = world_.now + world_.dice.between(core::duration(15s), 60s);
    const auto faults = world_.dice.between(std::int64_t{2}, 30);
    for (std::int64_t i = 0; i < faults; ++i) {
      world_.at(world_.now + world_.dice.between(core::duration(500ms), quiet - world_.now),
                [this, quiet] { fault(quiet); });
    }
    go_until(quiet);
    mend();
    go_until(quiet + patience + 4 * on_.ttl);
    if (judge_.broken() == guard_rule::none) check_end();
    return {.broken = judge_.broken() == guard_rule::none ? "" : name(judge_.broken()),
            .details = judge_.details(),
            .simulated = world_.now - began,
            .events = world_.events,
            .fingerprint = world_.events * 31 + on_.versions + world_.dice.bits()};
  }

 private:
  struct agent_entry {
    std::unique_ptr<guarded_agent> agent;  ///< null: it has not come to its first instruction
    std::shared_ptr<modelled_line> line;   ///< to its guard
  };

  void go_until(world_time end) {
    while (world_.now < end && judge_.broken() == guard_rule::none) {
      world_.run_until(std::min(end, world_.now + 1s));
      if (world_.events > most_events) judge_.broke(guard_rule::busy_loop, "too many events");
    }
  }

  // --- guards and agents -----------------------------------------------------------------------

  void start_guard() {
    judge_.say("a guard starts");
    judge_.session.clear();
    told_to_end_at_ = sim::world_never;
    guard_ = std::make_unique<modelled_guard>(
        on_, [this](pid_t pid, std::shared_ptr<modelled_line> line) { launched(pid, line); });
  }

  void launched(pid_t pid, const std::shared_ptr<modelled_line>& line) {
    judge_.say("the guard starts agent " + std::to_string(pid));
    agents_[pid].line = line;
    world_.after(world_.dice.spread(1ms, 300ms), [this, pid, line] {
      const auto found = agents_.find(pid);
      const modelled_process* const one = processes_.find(pid);
      if (found == agents_.end() || one == nullptr || !one->alive()) return;
      found->second.agent = make_agent(pid);
      found->second.agent->connect(guard_->memory(), line, guard_->pid());
    });
  }

  void start_door_agent() {
    modelled_process& one = processes_.fork(modelled_processes::init);
    one.of_agent = one.ignores_term = true;
    judge_.say("agent " + std::to_string(one.pid) + " starts");
    agents_[one.pid].agent = make_agent(one.pid);
  }

  std::unique_ptr<guarded_agent> make_agent(pid_t pid) {
    std::string id = std::to_string(pid);
    id.insert(0, 32 - id.size(), '0');
    return std::make_unique<guarded_agent>(on_, pid, id, [this, pid](int status) {
      world_.after(0ns, [this, pid, status] { processes_.ends(pid, status << 8); });
    });
  }

  void bury(pid_t pid) {
    const auto found = agents_.find(pid);
    if (found == agents_.end()) return;
    judge_.say("agent " + std::to_string(pid) + " is dead");
    if (found->second.line) found->second.line->agent_closes();
    judge_.agent_gone(pid);
    agents_.erase(found);
    if (on_.has_door) {
      world_.after(world_.dice.spread(10ms, 3s), [this] { start_door_agent(); });
    }
  }

  void dial(guarded_agent& one) {
    if (!one.dials() || !guard_->lives()) return;
    one.set_dialing(true);
    guard_->knock([this, pid = one.pid()](const std::shared_ptr<modelled_line>& line) {
      const auto found = agents_.find(pid);
      if (found == agents_.end()) {
        if (line) line->agent_closes();
        return;
      }
      if (line) {
        connected_ = pid;
        found->second.line = line;
      }
      found->second.agent->loop()->post(
          [this, agent = found->second.agent.get(), line, memory = guard_->memory()] {
            if (!line) {
              world_.after(between_dials, [this, pid = agent->pid()] {
                const auto then = agents_.find(pid);
                if (then != agents_.end()) then->second.agent->set_dialing(false);
              });
              return;
            }
            agent->connect(memory, line, 0);
          });
    });
  }

  // --- what happens ----------------------------------------------------------------------------

  [[nodiscard]] guarded_agent* agent() {
    for (auto& [pid, one] : agents_) {
      if (one.agent && (!on_.has_door || pid == connected_)) return one.agent.get();
    }
    return nullptr;
  }

  /// Some process of a workload.
  [[nodiscard]] modelled_process* some_process() {
    std::vector<modelled_process*> all;
    for (auto& [pid, one] : processes_.all()) {
      if (one.term != 0 && one.alive()) all.push_back(&one);
    }
    return all.empty() ? nullptr : all[world_.dice.below(all.size())];
  }

  void tick() {
    world_.after(between_looks, [this] { tick(); });
    guarded_agent* const with = agent();
    judge_.look({.guard = on_.guard_able_since,
                 .agent_pid = with ? with->pid() : 0,
                 .agent = with ? with->able_since() : sim::world_never,
                 .agent_reaches =
                     with && with->reaches_workload() ? with->able_since() : sim::world_never});
    for (auto& [pid, one] : agents_) {
      if (one.agent) dial(*one.agent);
    }
    check_guard_ends(with);
    if (!guard_->lives() && !restarting_ && (on_.has_door || all_is_over())) {
      restarting_ = true;
      world_.after(world_.dice.spread(10ms, 3s), [this] { restart(); });
    }
  }

  [[nodiscard]] bool all_is_over() { return agents_.empty() && some_process() == nullptr; }

  void restart() {
    if (guard_->in_a_turn()) {
      world_.after(1ms, [this] { restart(); });
      return;
    }
    restarting_ = false;
    start_guard();
  }

  void check_guard_ends(const guarded_agent* with) {
    const bool hangs =
        std::ranges::any_of(processes_.all(), [](const auto& one) { return one.second.hangs; });
    if (!guard_->lives() || !guard_->was_told_to_end() || hangs ||
        on_.guard_able_since == sim::world_never ||
        (with && with->able_since() == sim::world_never)) {
      told_to_end_at_ = sim::world_never;
      return;
    }
    if (told_to_end_at_ == sim::world_never) told_to_end_at_ = world_.now;
    if (told_to_end_at_ + ends_within < world_.now) judge_.broke(guard_rule::never_ends, "told to");
  }

  void freeze_guard(core::duration lasts) {
    judge_.say("the guard is frozen");
    guard_->freeze();
    world_.after(lasts, [this, which = guard_.get()] {
      if (guard_.get() != which) return;
      judge_.say("the guard goes on");
      guard_->thaw();
    });
  }

  void pause_agent(core::duration lasts) {
    guarded_agent* const one = agent();
    if (!one) return;
    judge_.say("agent " + std::to_string(one->pid()) + " is paused");
    one->pause();
    world_.after(lasts, [this, pid = one->pid()] {
      const auto found = agents_.find(pid);
      if (found == agents_.end() || !found->second.agent) return;
      judge_.say("agent " + std::to_string(pid) + " goes on");
      found->second.agent->go_on();
    });
  }

  void fork_something() {
    modelled_process* const from = some_process();
    if (from == nullptr || from->killed || from->hangs) return;
    rng& dice = world_.dice;
    modelled_process& child = processes_.fork(from->pid);
    child.ignores_term = dice.chance(half);
    if (dice.chance(half)) {
      child.group = child.pid;
      if (dice.chance(half)) child.parent = processes_.subreaper;
      const modelled_process* const above = processes_.find(child.parent);
      if (above == nullptr || !above->alive()) child.parent = modelled_processes::init;
      if (dice.chance(200'000)) child.mark.clear();
    }
    judge_.say("process " + std::to_string(child.pid) + " comes out of " +
               std::to_string(from->pid) + (child.mark.empty() ? ", and hides" : ""));
  }

  void hang_something(core::duration lasts) {
    modelled_process* const one = some_process();
    if (one == nullptr) return;
    judge_.say("process " + std::to_string(one->pid) + " hangs in the kernel");
    processes_.set_hanging(one->pid, true);
    world_.after(lasts, [this, pid = one->pid] { processes_.set_hanging(pid, false); });
  }

  void fault(world_time quiet) {
    rng& dice = world_.dice;
    const core::duration lasts =
        std::min(dice.spread(5ms, 2 * on_.ttl), core::duration(quiet - world_.now));
    switch (dice.below(24)) {
      case 0:
      case 1:
        return freeze_guard(lasts);
      case 2:
        return guard_->kill();
      case 3:
        return pause_agent(lasts);
      case 4:
      case 5:
        if (guarded_agent* const one = agent()) {
          judge_.say("agent " + std::to_string(one->pid()) + " is killed");
          processes_.signal(one->pid(), SIGKILL);
        }
        return;
      case 6:
        freeze_guard(lasts);
        return pause_agent(lasts);
      case 7:
        judge_.say("the store is away");
        on_.store_is_up = false;
        return world_.after(lasts, [this] { on_.store_is_up = true; });
      case 8:
      case 9:
      case 10:
      case 11:
        return fork_something();
      case 12:
        return hang_something(lasts);
      case 13:
        if (modelled_process* const one = some_process()) {
          judge_.say("process " + std::to_string(one->pid) + " ends by itself");
          if (!one->hangs) processes_.ends(one->pid, dice.chance(half) ? 0 : SIGSEGV);
        }
        return;
      case 14:
        if (guarded_agent* const one = agent()) one->resign();
        return;
      case 15:
        judge_.say("the guard gets SIGTERM");
        return guard_->signal(SIGTERM);
      case 16:
        return guard_->signal(SIGHUP);
      case 17:
      case 18:
        // Nobody renews, and the guard sleeps through the deadline.
        judge_.say("the store is away");
        on_.store_is_up = false;
        world_.after(lasts, [this] { on_.store_is_up = true; });
        return freeze_guard(lasts);
      case 19:
      case 20:
        on_.before_renewal = [this, lasts] {
          freeze_guard(lasts);
          world_.after(world_.dice.spread(1ms, 300ms), [this] {
            if (guarded_agent* const one = agent()) one->resign();
          });
        };
        return;
      case 21:
      case 22:
        on_.after_start = [this, lasts] {
          freeze_guard(lasts);
          world_.after(world_.dice.spread(1ms, 300ms), [this] {
            if (guarded_agent* const one = agent()) processes_.signal(one->pid(), SIGKILL);
          });
        };
        return;
      default:
        // As in a crash of the machine's service: both at about the same time.
        guard_->kill();
        if (guarded_agent* const one = agent()) processes_.signal(one->pid(), SIGKILL);
        return;
    }
  }

  void mend() {
    judge_.say("all is well again");
    on_.quiet = true;
    on_.before_renewal = on_.after_start = nullptr;
    on_.store_is_up = true;
    guard_->thaw();
    for (auto& [pid, one] : agents_) {
      if (one.agent) one.agent->go_on();
    }
    for (auto& [pid, one] : processes_.all()) {
      if (one.hangs) processes_.set_hanging(pid, false);
    }
  }

  /// An operator ends what a guard and an agent that died together have left.
  void clean_up() {
    world_.after(2s, [this] { clean_up(); });
    if (guard_->lives() || !agents_.empty()) return;
    for (auto& [pid, one] : processes_.all()) {
      if (one.term != 0) processes_.signal(pid, SIGKILL);
    }
  }

  void check_end() {
    const guarded_agent* const with = agent();
    if (guard_->lives() && with && with->holds_and_runs() && some_process() != nullptr) return;
    judge_.broke(guard_rule::no_progress, !guard_->lives() ? "no guard"
                                          : !with          ? "no agent"
                                                  : "the agent holds nothing, or nothing runs");
  }

  world world_;
  modelled_processes processes_;
  machine_clock clock_;
  guard_judge judge_;
  guard_machine on_;
  std::unique_ptr<modelled_guard> guard_;
  std::map<pid_t, agent_entry> agents_;
  pid_t connected_ = 0;  ///< of a guard with a door: the agent that has come in last
  bool restarting_ = false;
  world_time told_to_end_at_ = sim::world_never;
};

}  // namespace

tests::seed_outcome run_guard_seed(std::uint64_t seed, bool trace) {
  return scenario(seed, trace).run();
}

}  // namespace tenure::shell
