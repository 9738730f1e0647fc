#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/control.hpp"
#include "api/snapshot.hpp"
#include "core/election.hpp"
#include "core/word.hpp"
#include "log/logger.hpp"
#include "log/speaker.hpp"
#include "stores/store.hpp"
#include "workload/workload_owner.hpp"

/// The agent's log: one function per line, so that the wording can be read as a list.
///
/// A line is one change. Its message is for somebody who reads it at night and knows neither the
/// code nor what came before; its fields are for searching.
namespace tenure::runtime {

// --- the agent -------------------------------------------------------------------------------

void say_settings_warning(log::logger& to, std::string_view warning);
/// Another process listens at the default address `usual`. `setting`: the flag to choose another.
void say_port_taken(log::logger& to, std::string_view setting, std::string_view usual,
                    std::string_view address, std::string_view why);
void say_cannot_listen(log::logger& to, std::string_view why);
void say_cannot_listen_yet(log::logger& to, std::string_view why);
void say_cannot_hear_peers(log::logger& to, std::string_view why);
/// `whom`: the address of the channel to which the word was sent.
void say_word_told(log::logger& to, const core::word& what, std::string_view whom);
/// Call it for words of our own elections only: anybody can send others.
void say_word_heard(log::logger& to, const core::word& what, bool is_believed);

struct listeners {
  std::string api;
  std::string probe;
  std::string socket;
  std::string local;  ///< where commands find the agent
};
/// `guard`: the process that owns the workload; 0: no process does.
void say_listening(log::logger& to, const listeners& at, std::string_view identity,
                   std::uint64_t pid, std::uint64_t guard);
/// At start; the file may be made readable later.
void say_token_unreadable(log::logger& to, std::string_view why);
/// A running workload was given another port.
void say_api_moved(log::logger& to, std::uint16_t told, std::string_view listening);
/// Commands without an address do not find this agent.
void say_hard_to_find(log::logger& to, log::log_level how_bad, std::string_view why);
/// Other machines can reach the probe port.
void say_probe_is_open(log::logger& to, std::string_view address);
void say_told_to_end(log::logger& to, std::string_view identity, int signo);
void say_no_reload(log::logger& to);
void say_ended(log::logger& to, std::string_view identity, int status);

/// `held_back`, here and below: how many equal lines were left out since the last one.
void say_slept(log::logger& to, std::string_view identity, core::duration lasted,
               std::uint64_t held_back);
/// The election thread had no processor for this long.
void say_late(log::logger& to, std::string_view identity, core::duration late,
              std::uint64_t held_back);
/// The wall clock was set. Leases do not depend on it.
void say_wall_jumped(log::logger& to, std::string_view identity, core::duration by,
                     std::uint64_t held_back);

// --- the store -------------------------------------------------------------------------------

void say_cannot_use_store(log::logger& to, std::string_view store, std::string_view why);
/// A workload that was found must stop in `left`.
void say_store_tried_again(log::logger& to, std::string_view store, std::string_view why,
                           core::duration left);
void say_ttl_impossible(log::logger& to, std::string_view store, core::duration ttl,
                        const stores::description& what);
void say_store_warning(log::logger& to, std::string_view store, std::string_view warning);
/// A notice of the store while it is in use.
void say_store_notice(log::logger& to, std::string_view store, const stores::notice& what);
void say_store_reached(log::logger& to, const stores::description& what, std::string_view identity);

/// The store no longer does what it is asked.
struct store_failure {
  std::string_view store;
  std::string_view operation;  ///< "renewal", "watch", ...
  std::string_view why;
  /// The time until the first workload must stop if nothing is acknowledged; nothing: no lease is
  /// held.
  std::optional<core::duration> safe_for;
};
void say_store_lost(log::logger& to, std::string_view identity, const store_failure& what);
void say_store_back(log::logger& to, std::string_view identity, std::string_view store,
                    core::duration gone_for);

/// The settings ask for it, and it cannot be done.
void say_cannot_tell_kubernetes(log::logger& to, std::string_view identity, std::string_view why);

/// A term that has ended with its container could not be ended in the store, or may not have been.
void say_term_not_ended(log::logger& to, std::string_view identity, std::string_view why);

// --- the lease -------------------------------------------------------------------------------

/// Others hold the lease, and this member waits for it.
void say_standing_by(log::logger& to, const log::speaker& who,
                     const std::vector<core::holder>& holders);
/// The same, seen by a member that never holds it.
void say_held(log::logger& to, const log::speaker& who, const std::vector<core::holder>& holders);
/// `last`: the last holder, if known; `why` it released the lease; empty: it did not.
struct vacancy {
  core::phase state = core::phase::candidate;
  std::string_view last{};
  std::string_view why{};
  bool deleted = false;  ///< it was neither released nor expired
};
void say_vacant(log::logger& to, const log::speaker& who, const vacancy& what);
/// The store does not list the holder any more, and its lease has not ended yet. `left`: until it
/// does; nothing: the store does not say. `next`: the member that comes next; empty: none is known.
void say_vanished(log::logger& to, const log::speaker& who, std::string_view holder,
                  std::optional<core::duration> left, std::string_view next);
void say_granted(log::logger& to, const log::speaker& who, core::version version,
                 core::duration lock_delay);
/// `outage`: that has ended now; nothing if unknown.
void say_active(log::logger& to, const log::speaker& who, core::version version,
                const std::optional<api::outage>& outage);
/// The store has confirmed the lease of a workload that an earlier agent started.
void say_active_again(log::logger& to, const log::speaker& who, core::version version);

/// The end of a term begins.
struct term_end {
  core::version version = core::no_version;  ///< none: of a workload whose lease was not confirmed
  core::loss_reason why = core::loss_reason::none;
  std::string_view heir{};
  std::optional<core::duration> ran_out_ago{};   ///< only if nobody handled the expiry in time
  std::optional<core::duration> time_to_stop{};  ///< the workload's time; nothing: none runs
  int signal = 0;                                ///< the signal to stop; 0: hooks tell it
  std::int64_t stop_by_unix_ms = 0;              ///< the end of `time_to_stop`
};
void say_ending(log::logger& to, const log::speaker& who, const term_end& what);
/// A workload being stopped gets less time than announced.
void say_less_time(log::logger& to, const log::speaker& who, const term_end& what);
void say_released(log::logger& to, const log::speaker& who, core::version version);
/// The member does not campaign for this long; `core::duration::max()`: until it is resumed.
void say_aside(log::logger& to, const log::speaker& who, core::loss_reason why,
               core::duration pause);
/// The store's answer to the order to accept smaller versions.
void say_accepted(log::logger& to, const log::speaker& who, const stores::agree_outcome& said);
/// Why this member does not campaign; empty: it does again. `is_error`: somebody has to do
/// something.
void say_disagreement(log::logger& to, const log::speaker& who, const std::string& what,
                      bool is_error);
/// The number of slots in the store has changed.
void say_slots(log::logger& to, const log::speaker& who, std::uint32_t now, std::uint32_t before);
void say_ordered(log::logger& to, const log::speaker& who, const core::order& what);
/// The order goes to the member that it names, which obeys or refuses.
void say_order_passed_on(log::logger& to, const log::speaker& who, const core::order& what);

// --- the workload ----------------------------------------------------------------------------

void say_workload_started(log::logger& to, const log::speaker& who, core::version version,
                          std::uint64_t pid);
/// For a workload that somebody else starts: found, or not there yet (pid 0).
void say_workload_may_run(log::logger& to, const log::speaker& who, core::version version,
                          std::uint64_t pid);
void say_start_refused(log::logger& to, const log::speaker& who);
/// `executed`: a command failed to start; otherwise the signal that announces the active state
/// failed.
void say_start_failed(log::logger& to, const log::speaker& who, bool executed,
                      std::string_view why);
/// The workload of an agent that has ended was found.
void say_workload_found(log::logger& to, const log::speaker& who,
                        const workload::found_workload& what);
/// It is unknown whether the workload has ended.
void say_doubtful(log::logger& to, const log::speaker& who, const process::survivors& what);
/// The run before this one was killed as a whole.
void say_run_before_is_over(log::logger& to, const log::speaker& who);
/// The same, but it is unknown whether its workload has ended. `what`: of what is doubtful, if not
/// all that is left is certain.
void say_run_before_may_live(log::logger& to, const log::speaker& who,
                             const process::survivors& what);
/// SIGKILL did not end the workload.
void say_survivors(log::logger& to, const log::speaker& who, const process::survivors& what);

struct workload_end {
  int wait_status = 0;
  bool asked = false;             ///< it was told to stop
  bool had_to_be_killed = false;  ///< it was, and needed SIGKILL
  core::duration ago{};           ///< time since it died
  std::int64_t at_unix_ms = 0;    ///< when it died
};
void say_workload_exited(log::logger& to, const log::speaker& who, const workload_end& what);

// --- the guard -------------------------------------------------------------------------------

void say_guard_unreachable(log::logger& to, std::string_view why);
void say_guard_unusable(log::logger& to, std::string_view why);
/// There is no guard in this directory, or none that may be used.
void say_no_guard(log::logger& to, std::string_view directory, std::string_view why);
void say_guard_found(log::logger& to, std::string_view directory);
void say_guard_ends(log::logger& to, std::string_view directory, int signo);
void say_guard_gone(log::logger& to, std::string_view directory);
void say_container_died(log::logger& to, std::string_view directory);
void say_guard_hangs(log::logger& to, std::string_view directory);
void say_guard_answers(log::logger& to, std::string_view directory);
/// Our own guard is dead, or hangs (`hangs`), so the agent ends. `runs`: a workload was running,
/// and the kernel or the agent kills it.
void say_guard_lost(log::logger& to, const log::speaker& who, bool hangs, bool runs);
/// The next agent will find the workload running.
void say_leaving_workload(log::logger& to, std::string_view identity);
void say_left_workload(log::logger& to, std::string_view identity);

// --- hooks -----------------------------------------------------------------------------------

/// It is unknown what an earlier agent has told the workload.
void say_hooks_cleared(log::logger& to, const log::speaker& who, bool stopped);
void say_hook_gained(log::logger& to, const log::speaker& who);
void say_hook_not_gained(log::logger& to, const log::speaker& who, const std::string& why);
void say_hook_failed(log::logger& to, const log::speaker& who, const std::string& why);
void say_hook_stopped(log::logger& to, const log::speaker& who);
void say_hook_defied(log::logger& to, const log::speaker& who);
void say_hook_ends_agent(log::logger& to, const log::speaker& who);

}  // namespace tenure::runtime
