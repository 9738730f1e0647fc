#include "shell/guard/modelled_guard.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <utility>

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t start_fails_ppm = 20'000;
constexpr std::uint32_t exec_fails_ppm = 30'000;
constexpr std::uint32_t launch_fails_ppm = 50'000;
constexpr std::uint32_t preempted_ppm = 20'000;
constexpr std::uint32_t half = 500'000;
/// Of a release that does.
constexpr std::uint32_t hands_pidfd_ppm = 800'000;

/// "KEY=VALUE" of a block of variables.
std::string_view entry_of(std::string_view key, std::string_view environment) {
  const auto at = environment.find(key);
  if (at == std::string_view::npos) return {};
  return environment.substr(at, environment.find('\0', at) - at);
}

std::uint64_t term_of(const std::string& mark) {
  std::uint64_t out = 0;
  const auto dot = mark.rfind('.');
  if (dot != std::string::npos) {
    std::from_chars(mark.data() + dot + 1, mark.data() + mark.size(), out);
  }
  return out;
}

}  // namespace

// --- the workload ----------------------------------------------------------------------------

int modelled_tree::start(std::string_view environment) {
  rng& dice = on_.in.dice;
  const std::string mark(entry_of(guard::run_variable, environment));
  term_ = term_of(mark);
  if (!on_.quiet && dice.chance(start_fails_ppm)) return EAGAIN;
  modelled_process& leader = on_.processes.fork(guard_);
  leader_ = group_ = leader.group = leader.pid;
  leader.version = term_;
  leader.mark = mark;
  leader.known_to = on_.guards;
  leader.dies_with_parent = true;
  leader.ignores_term = dice.chance(300'000);
  on_.referee.starts(term_, decided_at);
  const std::string_view words = entry_of(guard::last_words_variable, environment);
  if (!words.empty()) *last_words = words.substr(guard::last_words_variable.size() + 1);
  if (speaks) speaks();
  exec_pending_ = true;
  exec_known_.reset();
  const bool fails = !on_.quiet && dice.chance(exec_fails_ppm);
  on_.in.after(dice.spread(20us, 5ms), [this, fails, pid = leader_, noted = std::weak_ptr(alive_)] {
    if (noted.expired()) return;
    const modelled_process* const one = on_.processes.find(pid);
    if (leader_ != pid || one == nullptr || one->zombie) return;
    exec_known_ = fails ? ENOENT : 0;
    if (fails) {
      on_.referee.may_end("it cannot be executed");
      on_.processes.ends(pid, 127 << 8);
    }
    wakes();
  });
  return 0;
}

std::optional<int> modelled_tree::exec_result() {
  // The pipe closes when its last process ends.
  const modelled_process* const leader = on_.processes.find(leader_);
  if (exec_pending_ && (leader == nullptr || leader->zombie)) exec_known_ = 0;
  if (exec_known_) exec_pending_ = false;
  return std::exchange(exec_known_, std::nullopt);
}

bool modelled_tree::empty(pid_t agent) {
  if (leader_ != 0) return false;
  return std::ranges::all_of(on_.processes.children_of(guard_),
                             [&](const modelled_process* one) { return one->pid == agent; });
}

void modelled_tree::signal_all(int signo, pid_t agent) {
  if (signo == SIGTERM || signo == SIGINT || signo == SIGQUIT || signo == SIGKILL) {
    told(term_, signo);
  }
  bool group_done = leader_ != 0;
  if (group_done) on_.processes.signal_group(group_, signo);
  for (const modelled_process* const child : on_.processes.children_of(guard_)) {
    if (child->pid == agent) continue;
    if (child->group == group_) {
      if (!group_done) on_.processes.signal_group(group_, signo);
      group_done = true;
    } else if (child->group == child->pid) {
      on_.processes.signal_group(child->group, signo);
    } else {
      on_.processes.signal(child->pid, signo);
    }
  }
}

void modelled_tree::kill_all(pid_t agent, bool deep) {
  signal_all(SIGKILL, agent);
  if (!deep) return;
  for (const modelled_process* const one : on_.processes.descendants_of(guard_, agent)) {
    on_.processes.signal(one->pid, SIGKILL);
  }
}

void modelled_tree::signal_group(int signo, pid_t) {
  on_.processes.signal_group(group_, signo);
}

tenure::process::survivors modelled_tree::living(pid_t agent) {
  return modelled_processes::living(on_.processes.descendants_of(guard_, agent));
}

// --- the process -----------------------------------------------------------------------------

modelled_guard::modelled_guard(guard_machine& on, launch_agent launches)
    : on_(on),
      launches_(std::move(launches)),
      pid_(on.processes.fork(modelled_processes::init).pid),
      tree_(on, pid_),
      sink_(*this),
      found_(on.found ? std::make_unique<found_workload>(on, memory_->page, *on.found, log_)
                      : nullptr),
      loop_({.host = *this,
             .page = memory_->page,
             .worker_page = memory_->worker,
             .socket = socket_,
             .agent = agent_,
             .acceptor = on.accepts_agents ? this : nullptr,
             .workload = found_ ? static_cast<guard::guarded_processes&>(*found_) : workload_,
             .log = log_},
            on.rules) {
  on_.guard_able_since = on_.in.now;
  ++on_.guards;
  memory_->container.is_watchable = on_.in.dice.chance(hands_pidfd_ppm);
  on_.processes.subreaper = pid_;
  on_.processes.child_died = [this](pid_t parent) {
    if (parent == pid_) child_died();
  };
  on_.processes.foreign_died = [this] { wake(); };
  if (found_) {
    found_->told = [this](std::uint64_t version, int signo) { told(version, signo); };
  }
  tree_.wakes = [this] { wake(); };
  tree_.told = [this](std::uint64_t version, int signo) { told(version, signo); };
  wake();
}

modelled_guard::~modelled_guard() {
  if (socket_.line()) socket_.line()->wakes_guard = nullptr;
  socket_.close();
}

void modelled_guard::freeze() {
  if (!lives_) return;
  frozen_ = true;
  on_.guard_able_since = sim::world_never;
}

void modelled_guard::thaw() {
  // One that was killed meanwhile does nothing more.
  if (!lives_ || !frozen_) return;
  frozen_ = false;
  on_.guard_able_since = on_.in.now;
  wake();
}

void modelled_guard::kill() {
  if (lives_) ends(SIGKILL);
}

void modelled_guard::signal(int signo) {
  if (signo == SIGTERM || signo == SIGINT) {
    told_to_end_ = true;
    on_.referee.all_may_end("the guard was told to end");
  }
  signals_.insert(signo);
  wake();
}

void modelled_guard::child_died() {
  signals_.insert(SIGCHLD);
  wake();
}

void modelled_guard::knock(std::function<void(std::shared_ptr<modelled_line>)> answer) {
  knocks_.push_back(std::move(answer));
  wake();
}

void modelled_guard::wake() {
  if (!lives_ || turning_ || frozen_ || in_turn_) return;
  turning_ = true;
  on_.in.after(on_.in.dice.between(core::duration(1us), 50us),
               [this, noted = std::weak_ptr(here_)] {
                 if (!noted.expired()) turn();
               });
}

bool modelled_guard::has_something() const {
  const auto& line = socket_.line();
  return waits_.only_look || !signals_.empty() || !knocks_.empty() || tree_.has_news() ||
         (found_ && found_->has_news()) ||
         (line && (line->guard_can_read() || (waits_.room_to_send && line->guard_has_room()))) ||
         on_.now() >= timer_;
}

void modelled_guard::told(std::uint64_t version, int signo) {
  // Also one that was started after that, by an order which had come before.
  if (told_to_end_) on_.referee.all_may_end("the guard was told to end");
  on_.referee.told_to_end(version, signo, "the guard");
  tenure_term shown{};
  const bool read = tenure_read(&memory_->worker, &shown) != 0;
  if (signo == SIGKILL || socket_.is_open() || !read || shown.state != TENURE_ACTIVE) return;
  on_.referee.broke(guard_rule::page_outlives_agent, "version " + std::to_string(shown.version));
}

/// From waking up to falling asleep again, as `run_guard` has it.
void modelled_guard::turn() {
  turning_ = false;
  if (!lives_ || frozen_) return;
  in_turn_ = true;
  bool goes_on = true;
  try {
    tree_.decided_at = on_.in.now;
    if (found_) found_->decided_at = on_.in.now;
    sink_.new_turn();
    if (std::exchange(began_, true)) {
      loop_.act();
    } else {
      goes_on = loop_.begin();
    }
    goes_on = goes_on && !loop_.finished();
    if (goes_on) waits_ = loop_.prepare();
    if (!goes_on) loop_.say_last();
  } catch (const killed_in_turn&) {
    in_turn_ = false;
    return;
  }
  in_turn_ = false;
  if (!goes_on) return ends(0);
  sleep();
}

void modelled_guard::sleep() {
  if (has_something()) return wake();
  const world_time rings = on_.world(timer_);
  if (rings == sim::world_never) return;
  on_.in.at(rings, [this, noted = std::weak_ptr(here_), set_to = timer_] {
    if (!noted.expired() && timer_ == set_to) wake();
  });
}

void modelled_guard::ends(int status) {
  lives_ = false;
  on_.guard_able_since = sim::world_never;
  on_.referee.say(status == SIGKILL ? "the guard is killed" : "the guard ends");
  on_.referee.all_may_end("the guard is gone");
  if (found_) found_->abandon();
  if (socket_.line()) socket_.line()->wakes_guard = nullptr;
  socket_.close();
  for (auto& one : std::exchange(knocks_, {})) one(nullptr);
  if (on_.accepts_agents) end_container();
  on_.processes.ends(pid_, status);
}

/// It is the first process of its container. The kernel kills the others, which may take long for
/// one that hangs or has much memory, and says that it has ended when all are dead.
void modelled_guard::end_container() {
  rng& dice = on_.in.dice;
  core::duration last{};
  for (const modelled_process* const one : on_.processes.descendants_of(pid_, 0)) {
    const core::duration takes = dice.spread(20us, dice.chance(half) ? 50ms : 5s);
    last = std::max(last, takes);
    on_.processes.all()[one->pid].killed = true;
    on_.in.after(takes, [&in = on_.processes, pid = one->pid] {
      modelled_process* const there = in.find(pid);
      if (there == nullptr) return;
      there->hangs = false;
      in.ends(pid, SIGKILL);
    });
  }
  on_.in.after(last, [noted = memory_] { noted->container.end(); });
}

// --- what the loop asks of the kernel --------------------------------------------------------

/// Others get the processor now and then, or all of it.
void modelled_guard::may_be_preempted() const {
  // Of two guards that stood still in their turns, the first could not go on before the second.
  if (!in_turn_ || on_.in.is_nested() || !on_.in.dice.chance(preempted_ppm)) return;
  stand_still(on_.in.dice.spread(10us, on_.preempted_for));
}

void modelled_guard::stand_still(core::duration lasts) const {
  on_.in.run_until(on_.in.now + lasts);
  while (frozen_ && lives_) on_.in.run_until(on_.in.now + 1ms);
  if (!lives_) throw killed_in_turn{};
}

/// Draws nothing from the world's dice, since the guard takes no notice of it.
bool modelled_guard::unread_sink::is_full() const {
  constexpr core::duration lasts = 5s;
  const auto window = static_cast<std::uint64_t>(of_.on_.in.now.time_since_epoch() / lasts);
  return !of_.on_.quiet && rng(of_.on_.salt_of_log ^ window).chance(half);
}

/// Who waits for room by trying again and again spends time with it.
bool modelled_guard::unread_sink::write(std::string_view line) {
  constexpr int more_than_it_has_to_say = 20;
  const std::string text(line.substr(0, line.size() - 1));
  if (!is_full()) {
    of_.on_.referee.say("guard's log: " + text);
    return true;
  }
  of_.on_.referee.say("guard's log, which takes nothing: " + text);
  if (++refused_ > more_than_it_has_to_say && of_.in_turn_ && !of_.on_.in.is_nested()) {
    of_.stand_still(10ms);
  }
  return false;
}

core::time_point modelled_guard::now() const {
  may_be_preempted();
  return on_.now();
}

void modelled_guard::set_timer(core::time_point when) {
  may_be_preempted();
  timer_ = when;
}

std::optional<int> modelled_guard::next_signal() {
  may_be_preempted();
  if (signals_.empty()) return std::nullopt;
  return signals_.extract(signals_.begin()).value();
}

std::optional<guard::child_change> modelled_guard::next_child() {
  for (const modelled_process* const one : on_.processes.children_of(pid_)) {
    if (!one->zombie) continue;
    const guard::child_change out{.pid = one->pid, .status = one->status};
    // What ends by itself, or by somebody else's hand, takes the rest with it.
    if (one->pid == tree_.leader()) on_.referee.may_end("its first process has ended");
    if (one->pid == agent_.pid() && (one->status & 0x7f) == 0) {
      on_.referee.all_may_end("its agent has ended");
    }
    on_.processes.reap(one->pid);
    return out;
  }
  return std::nullopt;
}

std::shared_ptr<modelled_line> modelled_guard::new_line() {
  auto line = std::make_shared<modelled_line>(on_.in, on_.socket_room, on_.socket_delay);
  // A line outlives its guard if the agent has its end.
  line->wakes_guard = [this, here = std::weak_ptr(here_)] {
    if (!here.expired()) wake();
  };
  socket_.attach(line);
  return line;
}

std::expected<pid_t, const char*> modelled_guard::launch() {
  if (!on_.quiet && on_.in.dice.chance(launch_fails_ppm)) {
    return std::unexpected("there is no room for another process");
  }
  modelled_process& agent = on_.processes.fork(pid_);
  agent.of_agent = true;
  agent.ignores_term = true;
  launches_(agent.pid, new_line());
  return agent.pid;
}

void modelled_guard::signal(pid_t agent, int signo) {
  on_.referee.say("the guard signals its agent: " + std::to_string(signo));
  on_.processes.signal(agent, signo);
}

bool modelled_guard::next(int& connections) {
  if (connections <= 0 || knocks_.empty()) return false;
  --connections;
  connecting_ = std::move(knocks_.front());
  knocks_.pop_front();
  return true;
}

bool modelled_guard::welcome() {
  connecting_(new_line());
  return true;
}

void modelled_guard::turn_away() {
  connecting_(nullptr);
}

}  // namespace tenure::shell
