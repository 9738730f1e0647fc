#include "shell/guard/judge.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// For a guard or an agent that gets its time: to wake up, to kill in rounds, and to look at what
/// is below a process that hangs.
constexpr core::duration kills_within = 200ms;
/// For both, to say what has happened, over a slow connection.
constexpr core::duration says_within = 3s;
/// For a guard that gets its time, to answer an order over a slow connection.
constexpr core::duration answers_within = 1500ms;
/// A guard that gets its time for so long has acknowledged everything.
constexpr core::duration hears_within = 1s;
/// From a look at the deadline to what is done about it.
constexpr core::duration turn_takes = 100ms;

constexpr std::array names{"none",
                           "outlives_deadline",
                           "starts_after_deadline",
                           "start_not_answered",
                           "answered_twice",
                           "exit_not_reported",
                           "exit_reported_twice",
                           "exited_while_alive",
                           "ended_without_cause",
                           "killed_without_cause",
                           "finds_what_is_not",
                           "session_lost",
                           "hangs_though_well",
                           "hang_unnoticed",
                           "outlives_guard",
                           "used_with_other_clock",
                           "refused_though_well",
                           "page_outlives_agent",
                           "told_before_shown",
                           "runs_astray",
                           "never_ends"};
static_assert(names.size() == static_cast<std::size_t>(guard_rule::never_ends) + 1);

bool lasts(world_time since, core::duration for_long, world_time now) {
  return since != sim::world_never && since + for_long < now;
}

std::string version_text(std::uint64_t version) {
  return "version " + std::to_string(version);
}

}  // namespace

const char* name(guard_rule r) {
  return names[static_cast<std::size_t>(r)];
}

void guard_judge::say(const std::string& what) const {
  if (!traced_) return;
  const auto since = world_.now.time_since_epoch() - 1h;
  std::printf("%11.6f   %s%s\n", std::chrono::duration<double>(since).count(), label_.c_str(),
              what.c_str());
}

void guard_judge::broke(guard_rule what, const std::string& details) {
  if (broken_ != guard_rule::none) return;
  broken_ = what;
  const auto since = world_.now.time_since_epoch() - 1h;
  details_ = std::string(name(what)) + " after " +
             std::to_string(std::chrono::duration<double>(since).count()) + " s: " + details;
  say("BROKEN " + details_);
  if (on_broken) on_broken(what, label_ + details_);
}

const modelled_process* guard_judge::living_of(std::uint64_t version) const {
  for (const auto& [pid, one] : processes_.all()) {
    if (one.alive() && one.version != 0 && (version == 0 || one.version == version)) return &one;
  }
  return nullptr;
}

void guard_judge::boots(machine_clock clock) {
  clock_ = clock;
  deadlines_.clear();
  told_.clear();
  session.clear();
}

void guard_judge::armed(std::uint64_t version, core::time_point stop_at, core::time_point kill_at) {
  deadline& of = deadlines_[version];
  of = {.stop_at = stop_at,
        .kill_at = kill_at,
        .stop_at_before = of.stop_at,
        .kill_at_before = of.kill_at,
        .armed_at = world_.now};
}

void guard_judge::asks_for_start(pid_t agent, std::uint64_t version) {
  knowledge& of = told_[agent];
  say("agent " + std::to_string(agent) + " asks for the start of " + version_text(version));
  if (of.asked != 0) broke(guard_rule::start_not_answered, version_text(of.asked));
  of.asked = version;
  of.asked_at = world_.now;
}

void guard_judge::answered(pid_t agent, std::uint64_t version, bool is_start, pid_t pid) {
  knowledge& of = told_[agent];
  say("agent " + std::to_string(agent) + " is told that " + version_text(version) +
      (is_start ? " was started" : " was not started"));
  const bool is_late = version == of.running && of.may_be_named_later;
  if (of.asked != version && !is_late) broke(guard_rule::answered_twice, version_text(version));
  if (of.asked == version) of.asked = 0;
  of.may_be_named_later = is_start && pid == 0;
  of.running = is_start ? version : 0;
}

void guard_judge::exited(pid_t agent, bool doubtful, bool seen, bool presumed,
                         world_time guard_well_since) {
  knowledge& of = told_[agent];
  const std::uint64_t version = of.running != 0 ? of.running : of.asked;
  say("agent " + std::to_string(agent) + " is told that " + version_text(version) + " has ended" +
      (seen ? "" : " out of sight"));
  if (of.running == 0 && lasts(guard_well_since, answers_within, world_.now) &&
      lasts(answerable_from(of), answers_within, world_.now) && version != 0) {
    broke(guard_rule::start_not_answered, version_text(version));
  }
  of.asked = of.running = 0;
  if (version == 0) return broke(guard_rule::exit_reported_twice, "nothing runs");
  const modelled_process* const one = living_of(version);
  if (one == nullptr || presumed || (doubtful && one->hidden())) return;
  broke(guard_rule::exited_while_alive,
        version_text(version) + ": process " + std::to_string(one->pid));
}

void guard_judge::found(pid_t agent, std::uint64_t version, bool has_ended,
                        const std::string& told_session, std::uint64_t guard, bool is_news) {
  say("agent " + std::to_string(agent) + " finds " +
      (version == 0 ? std::string("nothing") : version_text(version)) +
      (has_ended ? " ended" : "") + " in session " + told_session);
  const bool nothing = version == 0 || has_ended;
  // The agent before may not have lived to hear that it runs.
  if (!nothing) told_[agent] = {.running = version, .may_be_named_later = true};
  if (!is_news) return;
  if (!session.empty() && told_session != session && !bound_sessions.contains(told_session)) {
    broke(guard_rule::session_lost, "\"" + told_session + "\" instead of " + session);
  }
  const modelled_process* const alive = living_of(version);
  // What the kubelet has started outlives its guard, and the next one stops it. So may what a guard
  // and its agent have left that were killed.
  if (nothing && alive != nullptr && !alive->foreign && alive->known_to == guard) {
    broke(guard_rule::finds_what_is_not, "process " + std::to_string(alive->pid) + " of " +
                                             version_text(alive->version) + " lives");
  }
  if (!nothing && version != running_) {
    broke(guard_rule::finds_what_is_not,
          version_text(version) + " instead of " + version_text(running_));
  }
}

void guard_judge::hangs(world_time guard_well_since) {
  say("finds that the guard hangs");
  if (!lasts(guard_well_since, hears_within, world_.now)) return;
  broke(guard_rule::hangs_though_well, "it gets all the time that it wants");
}

void guard_judge::starts(std::uint64_t version, world_time decided_at) {
  say("the guard starts " + version_text(version));
  running_ = version;
  has_cause_ = stopped_early_.erase(version) > 0;
  kill_due_.reset();
  last_alive_ = world_.now;
  const auto found = deadlines_.find(version);
  if (found == deadlines_.end() || clock_.local(decided_at) >= found->second.kill_at) {
    broke(guard_rule::starts_after_deadline, version_text(version));
  }
  world_time asked_at = sim::world_never;
  for (const auto& [agent, of] : told_) {
    if (of.asked == version) asked_at = of.asked_at;
  }
  if (on_start) on_start(version, world_.now >= due(version), asked_at);
}

world_time guard_judge::due(std::uint64_t version) const {
  const auto found = deadlines_.find(version);
  return found == deadlines_.end() ? world_time{} : clock_.world(found->second.kill_at);
}

void guard_judge::may_end(const std::string& why) {
  if (!has_cause_ && running_ != 0) say("may end: " + why);
  has_cause_ = true;
}

void guard_judge::all_may_end(const std::string& why) {
  may_end(why);
  for (const auto& [agent, of] : told_) {
    if (of.asked != 0) stopped_early_.insert(of.asked);
  }
}

/// Just after a renewal, guard or agent may still act on the deadline before it.
guard_judge::deadline guard_judge::in_force(std::uint64_t version) {
  deadline out = deadlines_[version];
  if (world_.now - out.armed_at >= turn_takes) return out;
  out.stop_at = std::min(out.stop_at, out.stop_at_before);
  out.kill_at = std::min(out.kill_at, out.kill_at_before);
  return out;
}

void guard_judge::told_to_end(std::uint64_t version, int signo, const char* by_whom) {
  if (has_cause_) return;
  const core::time_point now = clock_.local(world_.now);
  const deadline due = in_force(version);
  if (signo == SIGKILL) {
    if (now >= std::min(due.kill_at, kill_due_.value_or(core::never))) return;
    return broke(guard_rule::killed_without_cause, version_text(version) + " by " + by_whom);
  }
  if (kill_due_) return;
  kill_due_ = due.kill_at;
  say(version_text(version) + " is told to end by " + by_whom);
  if (now < due.stop_at) broke(guard_rule::ended_without_cause, version_text(version));
}

/// A start waits for the end of what runs without a lease.
world_time guard_judge::answerable_from(const knowledge& of) const {
  return std::max(of.asked_at, last_stray_);
}

void guard_judge::found_term_over() {
  awaits_first_process = false;
  found_term_over_at_ = world_.now;
}

void guard_judge::look(const ability& since) {
  look_at_deadlines(since);
  look_for_strays(since);
  look_at_reports(since);
}

/// What ran under an earlier guard has to be stopped although it may run on a standby: nobody has
/// told it that its term is over.
void guard_judge::look_for_strays(const ability& since) {
  if (!since.stops_astray_within) return;
  for (const auto& [pid, one] : processes_.all()) {
    const bool has_term = one.version != 0 && one.version == since.found_term;
    const bool may_run = one.version == 0 && since.may_run_on_standby;
    if (!one.foreign || !one.alive() || has_term) continue;
    const bool ran_before = one.known_to != since.guards;
    if (ran_before || !may_run || one.killed) last_stray_ = world_.now;
    if (may_run || one.killed) continue;
    if (since.guard == sim::world_never) continue;
    const world_time from =
        std::max({since.guard, one.born, one.hung_until, one.missed_at, found_term_over_at_});
    if (!lasts(from, *since.stops_astray_within + kills_within, world_.now)) continue;
    broke(guard_rule::runs_astray, "process " + std::to_string(pid));
  }
}

void guard_judge::look_at_deadlines(const ability& since) {
  const knowledge of = told_[since.agent_pid];
  std::set<pid_t> of_guard;
  for (const modelled_process* const one : processes_.descendants_of(processes_.subreaper, 0)) {
    of_guard.insert(one->pid);
  }
  for (const auto& [pid, one] : processes_.all()) {
    if (!one.alive() || one.version == 0 || one.killed) continue;
    const world_time due = std::max(clock_.world(deadlines_[one.version].kill_at), one.born);
    if (!lasts(due, kills_within, world_.now)) continue;
    const bool is_its = one.foreign ? one.known_to == since.guards : of_guard.contains(pid);
    const bool by_guard = is_its && lasts(since.guard, kills_within, world_.now);
    const bool by_agent = !one.hidden() && (one.version == of.running || one.version == of.asked) &&
                          lasts(since.agent_reaches, kills_within, world_.now);
    if (!by_guard && !by_agent) continue;
    broke(guard_rule::outlives_deadline,
          "process " + std::to_string(pid) + " of " + version_text(one.version) + ", which " +
              (by_guard ? "the guard" : "the agent") + " could have killed");
  }
  if (living_of(0) != nullptr || awaits_first_process) last_alive_ = world_.now;
}

void guard_judge::look_at_reports(const ability& since) {
  const bool guard_well = lasts(since.guard, says_within, world_.now);
  const bool agent_well = lasts(since.agent, says_within, world_.now);
  const knowledge& of = told_[since.agent_pid];
  // An agent without its guard looks at the deadline.
  const bool agent_sees =
      lasts(since.agent_reaches, says_within, world_.now) &&
      lasts(clock_.world(deadlines_[of.running].kill_at), says_within, world_.now);
  if (of.asked != 0 && guard_well && agent_well &&
      lasts(answerable_from(of), says_within, world_.now)) {
    broke(guard_rule::start_not_answered, version_text(of.asked));
  }
  if (of.running != 0 && agent_well && (guard_well || agent_sees) &&
      lasts(last_alive_, says_within, world_.now)) {
    broke(guard_rule::exit_not_reported, version_text(of.running));
  }
}

}  // namespace tenure::shell
