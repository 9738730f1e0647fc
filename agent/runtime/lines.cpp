#include "runtime/lines.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "core/timing.hpp"

namespace tenure::runtime {
namespace {

std::string_view sentence(const core::command::transition& t) {
  switch (t.to) {
    case core::phase::pending:
      return "lease granted; waiting for the previous holder to be gone";
    case core::phase::active:
      return "active";
    case core::phase::draining:
      return "stopping";
    case core::phase::candidate:
      return "standby";
    case core::phase::observer:
      return "observing";
    case core::phase::stopped:
      return "ended";
  }
  return "";
}

}  // namespace

void say_transition(log& to, const speaker& who, const core::command::transition& what,
                    core::version term) {
  const bool surprising = what.to == core::phase::draining && core::is_loss(what.why);
  to.write(surprising ? log_level::warn : log_level::info, sentence(what),
           {{"election", who.election},
            {"identity", who.identity},
            {"state", core::name(what.to)},
            {"from", core::name(what.from)},
            {"version", term == core::no_version ? "none" : std::to_string(core::number(term))},
            {"reason", core::name(what.why)}});
}

void say_observed(log& to, const speaker& who, const core::observation& seen) {
  if (seen.holders.empty()) {
    to.write(log_level::info, "nobody holds the lease",
             {{"election", who.election}, {"identity", who.identity}});
    return;
  }
  const core::holder& first = seen.holders.front();
  to.write(log_level::info, "holder seen",
           {{"election", who.election},
            {"identity", who.identity},
            {"holder", first.identity},
            {"version", core::number(first.term)},
            {"holders", static_cast<std::uint64_t>(seen.holders.size())}});
}

void say_renewal_unknown(log& to, std::string_view identity, const std::string& why,
                         core::duration left) {
  to.write(log_level::warn, "renewal not acknowledged; trying again until the budget runs out",
           {{"identity", identity},
            {"why", why},
            {"stops_in", core::text(std::max(left, core::duration::zero()))}});
}

void say_unknown(log& to, const speaker& who, std::string_view operation, const std::string& why,
                 std::uint64_t held_back) {
  to.write(log_level::warn, "outcome unknown",
           {{"election", who.election},
            {"identity", who.identity},
            {"operation", operation},
            {"why", why},
            {"repeats", held_back}});
}

void say_workload_found(log& to, const speaker& who, const workload::found_workload& what) {
  to.write(log_level::info,
           what.stopping
               ? "found the workload of an agent that has ended; it is being stopped"
               : "found the workload of an agent that has ended; asking the store whether "
                 "its lease is still ours",
           {{"election", who.election},
            {"identity", who.identity},
            {"version", core::number(what.term)}});
}

void say_doubtful(log& to, const speaker& who, const workload::survivors& what) {
  to.write(
      log_level::error,
      "the guard is dead, and processes that may have come out of the workload still run; they "
      "are not killed, because they hide their environment and may belong to somebody else. "
      "The lease is not released, and others get it when it runs out; see whose they are",
      {{"election", who.election},
       {"identity", who.identity},
       {"processes", what.left},
       {"pid", static_cast<std::uint64_t>(what.pid)},
       {"name", workload::text(what.name)}});
}

void say_survivors(log& to, const speaker& who, const workload::survivors& what) {
  to.write(log_level::error,
           what.all_stuck()
               ? "the workload hangs in the kernel, where SIGKILL cannot end it; its lease is "
                 "neither released nor renewed before it is dead, so that others get it when it "
                 "runs out"
               : "SIGKILL has not ended all of the workload; its lease is not released before all "
                 "of it is dead",
           {{"election", who.election},
            {"identity", who.identity},
            {"processes", what.left},
            {"stuck", what.stuck},
            {"pid", static_cast<std::uint64_t>(what.pid)},
            {"name", workload::text(what.name)},
            {"state", std::string_view(&what.state, 1)},
            {"kernel_function", what.where[0] == '\0' ? "unknown" : workload::text(what.where)}});
}

void say_workload_exited(log& to, const speaker& who, int wait_status) {
  to.write(log_level::info, "workload " + describe_wait_status(wait_status),
           {{"election", who.election}, {"identity", who.identity}});
}

void say_slept(log& to, std::string_view identity, core::duration lasted, std::uint64_t held_back) {
  to.write(log_level::warn, "the machine has slept; its leases went on meanwhile",
           {{"identity", identity}, {"slept", core::text(lasted)}, {"repeats", held_back}});
}

void say_late(log& to, std::string_view identity, core::duration late, std::uint64_t held_back) {
  to.write(log_level::warn,
           "the agent got no processor, or was stopped; give it more CPU if this goes on",
           {{"identity", identity}, {"late_by", core::text(late)}, {"repeats", held_back}});
}

void say_wall_jumped(log& to, std::string_view identity, core::duration by,
                     std::uint64_t held_back) {
  to.write(log_level::info, "the wall clock was set; leases do not depend on it",
           {{"identity", identity}, {"by", core::text(by)}, {"repeats", held_back}});
}

void say_hook(log& to, log_level how, const speaker& who, std::string_view what,
              const std::string& why) {
  if (why.empty()) {
    to.write(how, what, {{"election", who.election}, {"identity", who.identity}});
  } else {
    to.write(how, what, {{"election", who.election}, {"identity", who.identity}, {"why", why}});
  }
}

void say_health_checked(log& to, const std::string& subjects, core::duration interval,
                        bool always) {
  to.write(log_level::info,
           always ? "health is checked always; without a good check no campaign"
                  : "health is checked while the workload runs",
           {{"checks", subjects}, {"every", core::text(interval)}});
}

void say_health(log& to, core::health verdict, const std::string& why) {
  if (verdict == core::health::unhealthy) {
    to.write(log_level::warn, "workload unhealthy", {{"why", why}});
  } else {
    to.write(log_level::info, "workload healthy");
  }
}

void say_rests(log& to, const speaker& who, core::duration pause) {
  if (pause <= core::duration::zero()) return;
  to.write(log_level::info, "the workload was unhealthy: others go first",
           {{"election", who.election},
            {"identity", who.identity},
            {"no_campaign_for", core::text(std::chrono::ceil<std::chrono::milliseconds>(pause))}});
}

std::string describe_wait_status(int wait_status) {
  if (WIFEXITED(wait_status))
    return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status)) {
    const char* symbol = ::sigabbrev_np(WTERMSIG(wait_status));
    return std::string("was ended by SIG") + (symbol != nullptr ? symbol : "?");
  }
  return "ended";
}

}  // namespace tenure::runtime
