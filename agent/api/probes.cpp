#include "api/answer.hpp"
#include "api/election_status.hpp"
#include "api/responses.hpp"
#include "core/timing.hpp"

namespace tenure::api {
namespace {

/// 200 while the election loop turns and the guard lives; otherwise 503, and a restart helps.
http::response livez(const snapshot& seen, const heartbeat& alive, const instant& at) {
  const core::duration silence = at.now - alive.last_beat;
  if (silence > alive.bound) {
    return error_response(
        503, {.code = "loop_stalled",
              .message = "the election loop has not turned for " + core::text(silence) +
                         ", the bound is " + core::text(alive.bound),
              .action = "restart the agent, and look for a CPU limit or a "
                        "hanging disk that has stopped it"});
  }
  if (!seen.guard_alive) {
    return error_response(503, {.code = "guard_dead",
                                .message = "the guard process is gone, so nothing may run here",
                                .action = "restart the agent, and look for the reason in its log"});
  }
  return json_response(200, std::string(wire::good_health));
}

/// 200 if the agent can do its work, also on a standby: if only the active member were ready, a
/// rolling update would wait for ever.
http::response readyz(const snapshot& seen) {
  if (seen.stopping) {
    return error_response(503, {.code = "stopping",
                                .message = "the agent is stopping",
                                .action = "wait for the next one"});
  }
  if (!seen.store_opened) {
    return error_response(503, {.code = "store_not_opened",
                                .message = "the store has not been opened yet" +
                                           (seen.store.empty() ? "" : ": " + seen.store),
                                .action = "see the agent's log if this lasts"});
  }
  return json_response(200, std::string(wire::good_health));
}

/// The workload may run and, if the agent runs it, does run.
bool is_leader(const election_snapshot& election, const instant& at) {
  const bool runs = election.view.workload_running || !election.owns_workload;
  return election.view.valid_at(at.now) && runs;
}

/// Standby or observer, and nothing of the workload runs.
bool is_replica(const election_snapshot& election) {
  const core::phase in = election.view.phase;
  return (in == core::phase::candidate || in == core::phase::observer) &&
         !election.view.workload_running;
}

/// Says what state the election is in instead.
http::response wrong_part(const election_snapshot& election, const snapshot& seen,
                          const instant& at) {
  const election_status is = status_of(election, seen, at);
  const std::string workload = !election.owns_workload          ? ""
                               : election.view.workload_running ? ", its workload runs"
                                                                : ", its workload does not run";
  return error_response(
      503, {.code = "wrong_part",
            .message = "election \"" + election.name + "\" is " +
                       std::string(core::name(is.phase)) + " here" + workload,
            .action = "ask another member" + (is.holder && is.holder->identity != seen.identity
                                                  ? "; the holder is " + is.holder->identity
                                                  : "")});
}

}  // namespace

http::response answer(const calls::probe& what, const snapshot& seen, const heartbeat& alive,
                      const instant& at) {
  using kind = calls::probe::kind;
  if (what.what == kind::livez) return livez(seen, alive, at);
  if (what.what == kind::readyz) return readyz(seen);
  const election_snapshot& which = seen.elections[what.place];
  const bool is_so = what.what == kind::leader ? is_leader(which, at) : is_replica(which);
  return is_so ? json_response(200, std::string(wire::good_health)) : wrong_part(which, seen, at);
}

}  // namespace tenure::api
