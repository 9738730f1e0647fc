#include <sys/wait.h>

#include <cstring>

#include "base/duration_text.hpp"
#include "base/time_text.hpp"
#include "core/timing.hpp"
#include "process/wait_status.hpp"
#include "runtime/lines.hpp"

/// The lines about the workload, its guard and its hooks.
namespace tenure::runtime {
namespace {

/// A death reported within this time is news.
constexpr core::duration told_at_once = std::chrono::milliseconds(500);

void say(log::logger& to, log::log_level level, std::string_view sentence,
         const log::speaker& who) {
  to.write(level, sentence, {{"election", who.election}, {"identity", who.identity}});
}

void say_of_run(log::logger& to, std::string_view sentence, const log::speaker& who,
                core::version version, std::uint64_t pid) {
  const log::log_field under("version", core::number(version));
  if (pid == 0) {
    to.write(log::log_level::info, sentence,
             {{"election", who.election}, {"identity", who.identity}, under});
  } else {
    to.write(log::log_level::info, sentence,
             {{"election", who.election}, {"identity", who.identity}, under, {"pid", pid}});
  }
}

}  // namespace

// --- the workload ----------------------------------------------------------------------------

void say_workload_started(log::logger& to, const log::speaker& who, core::version version,
                          std::uint64_t pid) {
  say_of_run(to, "workload started", who, version, pid);
}

void say_workload_may_run(log::logger& to, const log::speaker& who, core::version version,
                          std::uint64_t pid) {
  say_of_run(to, pid == 0 ? "the workload may run; it is not there yet" : "workload found", who,
             version, pid);
}

void say_start_refused(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::warn, "workload not started: its lease would have run out before", who);
}

void say_start_failed(log::logger& to, const log::speaker& who, bool executed,
                      std::string_view why) {
  to.write(log::log_level::error,
           executed ? "cannot execute the command; check its name, PATH and permissions"
                    : "cannot tell the workload that it is active",
           {{"election", who.election}, {"identity", who.identity}, {"why", why}});
}

void say_workload_found(log::logger& to, const log::speaker& who,
                        const workload::found_workload& what) {
  say_of_run(to,
             what.stopping
                 ? "found the workload of an agent that has ended; it is being stopped"
                 : "found the workload of an agent that has ended; asking the store whether the "
                   "lease is still ours",
             who, what.version, 0);
}

namespace {
/// `what`: processes that may have come out of the workload.
void say_doubt(log::logger& to, log::log_level level, std::string_view sentence,
               const log::speaker& who, const process::survivors& what) {
  to.write(level, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            {"processes", what.left},
            {"pid", static_cast<std::uint64_t>(what.pid)},
            {"name", process::text(what.name)}});
}
}  // namespace

void say_doubtful(log::logger& to, const log::speaker& who, const process::survivors& what) {
  say_doubt(to, log::log_level::error,
            "the guard is dead, and processes that may have come out of the workload still run; "
            "they are not killed, because they hide their environment and may belong to somebody "
            "else. The lease is not released, and others get it when it runs out; see whose they "
            "are",
            who, what);
}

void say_run_before_is_over(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::info,
      "the run before this one was killed as a whole, and nothing of it is left: its lease is "
      "released now",
      who);
}

void say_run_before_may_live(log::logger& to, const log::speaker& who,
                             const process::survivors& what) {
  say_doubt(to, log::log_level::warn,
            "the run before this one was killed as a whole, and processes that may have come out "
            "of its workload still run; they are not killed, because they hide their environment "
            "and may belong to somebody else, or hang in the kernel. Its lease runs out by itself; "
            "see whose they are",
            who, what);
}

void say_survivors(log::logger& to, const log::speaker& who, const process::survivors& what) {
  to.write(log::log_level::error,
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
            {"name", process::text(what.name)},
            {"state", std::string_view(&what.state, 1)},
            {"kernel_function", what.where[0] == '\0' ? "unknown" : process::text(what.where)}});
}

void say_workload_exited(log::logger& to, const log::speaker& who, const workload_end& what) {
  const bool killed = WIFSIGNALED(what.wait_status) && WTERMSIG(what.wait_status) == SIGKILL;
  const bool ignored = killed && what.had_to_be_killed;
  const bool failed = !what.asked && what.wait_status != 0;
  std::string sentence =
      ignored ? "the workload did not end when it was told to, and " : "the workload ";
  sentence += process::describe_wait_status(what.wait_status);
  if (what.had_to_be_killed && !ignored) sentence += ", and what was left of it had to be killed";
  if (what.ago >= told_at_once) {
    sentence.append(", ").append(base::spoken(what.ago).view()).append(" ago");
  }
  to.write(what.had_to_be_killed || failed ? log::log_level::warn : log::log_level::info, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            {"died_at", base::time_text(what.at_unix_ms).date_and_time()}});
}

// --- the guard -------------------------------------------------------------------------------

void say_guard_unreachable(log::logger& to, std::string_view why) {
  to.write(log::log_level::error, "cannot reach the guard; ending", {{"why", why}});
}

void say_guard_unusable(log::logger& to, std::string_view why) {
  to.write(log::log_level::error, "cannot use the guard; ending", {{"why", why}});
}

void say_no_guard(log::logger& to, std::string_view directory, std::string_view why) {
  to.write(log::log_level::warn, "no guard; not campaigning until there is one",
           {{"directory", directory}, {"why", why}});
}

void say_guard_found(log::logger& to, std::string_view directory) {
  to.write(log::log_level::info, "guard found", {{"directory", directory}});
}

void say_guard_ends(log::logger& to, std::string_view directory, int signo) {
  to.write(log::log_level::info, "the guard was told to end; giving the lease up",
           {{"directory", directory}, {"signal", static_cast<std::uint64_t>(signo)}});
}

void say_guard_gone(log::logger& to, std::string_view directory) {
  to.write(log::log_level::warn, "the guard is gone", {{"directory", directory}});
}

void say_container_died(log::logger& to, std::string_view directory) {
  to.write(log::log_level::warn, "the container of the guard has ended, with all that ran in it",
           {{"directory", directory}});
}

namespace {
constexpr const char* hangs_words = "the guard does not answer: it is stopped or gets no processor";
}  // namespace

void say_guard_hangs(log::logger& to, std::string_view directory) {
  to.write(log::log_level::error, std::string(hangs_words) + "; giving the lease up",
           {{"directory", directory}});
}

void say_guard_answers(log::logger& to, std::string_view directory) {
  to.write(log::log_level::info, "the guard answers again", {{"directory", directory}});
}

void say_guard_lost(log::logger& to, const log::speaker& who, bool hangs, bool runs) {
  std::string sentence = hangs ? hangs_words : "the guard is dead";
  if (runs) sentence += hangs ? "; killing the workload" : "; its workload is killed with it";
  say(to, log::log_level::error, sentence + (runs ? ", and the agent ends" : "; the agent ends"),
      who);
}

void say_leaving_workload(log::logger& to, std::string_view identity) {
  to.write(log::log_level::info, "told to end; leaving the workload to another agent",
           {{"identity", identity}});
}

void say_left_workload(log::logger& to, std::string_view identity) {
  to.write(log::log_level::info, "left the workload to another agent", {{"identity", identity}});
}

// --- hooks -----------------------------------------------------------------------------------

void say_hooks_cleared(log::logger& to, const log::speaker& who, bool stopped) {
  if (stopped) {
    say(to, log::log_level::info,
        "the workload was told to stop, in case an earlier agent made it active", who);
  } else {
    say(to, log::log_level::warn,
        "the workload could not be told to stop; if an earlier agent made it active, it may "
        "still be active, and only the version protects what it writes to",
        who);
  }
}

void say_hook_gained(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::info, "the workload was told that it is active", who);
}

void say_hook_not_gained(log::logger& to, const log::speaker& who, const std::string& why) {
  to.write(log::log_level::error,
           "the workload could not be told that it is active; giving the lease up",
           {{"election", who.election}, {"identity", who.identity}, {"why", why}});
}

void say_hook_failed(log::logger& to, const log::speaker& who, const std::string& why) {
  to.write(log::log_level::warn, "a hook has failed",
           {{"election", who.election}, {"identity", who.identity}, {"why", why}});
}

void say_hook_stopped(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::info, "the workload is not active any more", who);
}

void say_hook_defied(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::error,
      "nothing has stopped the workload; the lease is not released, but not renewed any more, and "
      "others get it when it runs out",
      who);
}

void say_hook_ends_agent(log::logger& to, const log::speaker& who) {
  say(to, log::log_level::warn,
      "ending with stop_exit_code, so that the main container is ended, too; the lease is not "
      "released and runs out",
      who);
}

// --- words -----------------------------------------------------------------------------------

}  // namespace tenure::runtime
