#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "guard/guard_log.hpp"
#include "process/survivors.hpp"

/// What the guard says for itself: one function a line, so that the words can be read as a list. No
/// word of these needs an escape in any form of the log.
namespace tenure::guard {

/// At its deadline, without an order: the workload was told to end. `left`: until SIGKILL.
guard_log::sentence stopped_words(pid_t workload, int signo, core::duration left);
/// What is left of it is killed, without an order. `told`: it was told to end before.
guard_log::sentence killed_words(bool told);
/// The end of a workload that the guard has stopped by itself. `status`: as waitpid gives it.
guard_log::sentence ended_words(int status);

/// The guard in another container than its agent was told to end, and so is its workload.
void say_told_to_end(const guard_log& to, int signo, int stop_signal, core::duration drain);
/// `runs`: the workload does, for so long at the most.
void say_agent_killed(const guard_log& to, pid_t agent, int signo,
                      std::optional<core::duration> runs);
/// The same, of one that has come in by the door: it may be dead, or just have hung up.
void say_agent_gone(const guard_log& to, core::duration runs);
void say_no_agent(const guard_log& to, std::string_view why);
/// SIGKILL has not ended the workload.
void say_survivors(const guard_log& to, const process::survivors& what);
/// Of a workload that somebody else starts.
void say_runs_without_lease(const guard_log& to);
void say_may_not_signal(const guard_log& to);

}  // namespace tenure::guard
