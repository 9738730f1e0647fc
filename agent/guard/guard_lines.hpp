#pragma once

#include <cstdint>

#include "core/clock.hpp"
#include "guard/guard_log.hpp"
#include "process/survivors.hpp"

/// The guard's own log lines, one function per line, so that all messages are in one place. They
/// contain nothing that needs an escape in any form of the log.
namespace tenure::guard {

/// The guard asked the workload to end at its deadline, without an order. `left`: until SIGKILL.
guard_log::sentence stopped_words(pid_t workload, int signo, core::duration left);
/// The guard kills what is left of the workload, without an order. `told`: it was asked to end
/// before.
guard_log::sentence killed_words(bool told);
/// A workload that the guard stopped without an order has ended. `status`: from waitpid.
guard_log::sentence ended_words(int status);

/// A guard in another container than its agent got a signal to end, and stops its workload.
void say_told_to_end(guard_log& to, int signo, int stop_signal, core::duration drain);
/// `runs`: the workload runs on, at most this long; nothing: no workload runs.
void say_agent_killed(guard_log& to, pid_t agent, int signo, std::optional<core::duration> runs);
/// The same for an agent that connected over the guard's socket: it may be dead, or may only have
/// hung up.
void say_agent_gone(guard_log& to, core::duration runs);
void say_no_agent(guard_log& to, std::string_view why);
/// SIGKILL has not ended the workload.
void say_survivors(guard_log& to, const process::survivors& what);
/// Only for a workload that others start.
void say_runs_without_lease(guard_log& to);
void say_may_not_signal(guard_log& to);

}  // namespace tenure::guard
