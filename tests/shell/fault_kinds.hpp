#pragma once

#include <array>

#include "swarm.hpp"

namespace tenure::shell {

/// Of servers, networks, pods and members.
enum class fault_kind {
  cut_from_server,
  cut_off,
  slow,
  server_killed,
  server_frozen,
  leader_frozen,  ///< of Consul's servers; else as `server_frozen`
  server_alone,
  server_lags,
  leader_replaced,
  compacted,
  key_deleted,
  agent_paused,
  pod_killed,
  agent_killed,
  agent_terminated,
  sick,
  workload_ends,
  clock_set,
  order,
  asleep,
  cut_one_way,  ///< a pod's packets arrive, and the answers do not, or the other way round
  dials_fail,   ///< no new connection, while the old ones stay: descriptors, DNS, certificates
};

/// A lease file has no servers.
inline constexpr auto faults_of_servers = std::to_array<named_kind<fault_kind>>({
    {fault_kind::cut_from_server, "cut_from_server"},
    {fault_kind::cut_off, "cut_off"},
    {fault_kind::slow, "slow"},
    {fault_kind::server_killed, "server_killed"},
    {fault_kind::server_frozen, "server_frozen"},
    {fault_kind::leader_frozen, "leader_frozen"},
    {fault_kind::server_alone, "server_alone", 2},
    {fault_kind::server_lags, "server_lags"},
    {fault_kind::leader_replaced, "leader_replaced"},
    {fault_kind::compacted, "compacted"},
    {fault_kind::key_deleted, "key_deleted", 2},
    {fault_kind::cut_one_way, "cut_one_way"},
    {fault_kind::dials_fail, "dials_fail"},
});

inline constexpr auto faults_of_pods = std::to_array<named_kind<fault_kind>>({
    {fault_kind::agent_paused, "agent_paused"},
    {fault_kind::pod_killed, "pod_killed"},
    {fault_kind::agent_killed, "agent_killed"},
    {fault_kind::agent_terminated, "agent_terminated"},
    {fault_kind::sick, "sick"},
    {fault_kind::workload_ends, "workload_ends"},
    {fault_kind::clock_set, "clock_set"},
    {fault_kind::order, "order", 8},
    {fault_kind::asleep, "asleep"},
});

/// Of a guard, its agent and its workload.
enum class guard_fault {
  guard_frozen,
  guard_killed,
  agent_paused,
  agent_killed,
  stands_still,
  forks,
  hangs,
  workload_ends,
  guard_told_to_end,
  guard_hung_up,
  fails_at_renewal,
  dies_at_start,
  hangs_at_start,
  sleeps_through_deadline,
  both_killed,      ///< as when the machine runs out of memory
  pod_told_to_end,  ///< as when it is deleted
  leaves_hidden,    ///< the guard dies, and something of the workload that nobody can tell stays
  dies_when_found,  ///< the workload, which an agent that comes back has just found
};

inline constexpr auto guard_faults = std::to_array<named_kind<guard_fault>>({
    {guard_fault::guard_frozen, "guard_frozen", 3},
    {guard_fault::guard_killed, "guard_killed"},
    {guard_fault::agent_paused, "agent_paused"},
    {guard_fault::agent_killed, "agent_killed", 2},
    {guard_fault::stands_still, "stands_still", 2},
    {guard_fault::forks, "forks", 4},
    {guard_fault::hangs, "hangs", 2},
    {guard_fault::workload_ends, "workload_ends"},
    {guard_fault::guard_told_to_end, "guard_told_to_end"},
    {guard_fault::guard_hung_up, "guard_hung_up"},
    {guard_fault::fails_at_renewal, "fails_at_renewal", 2},
    {guard_fault::dies_at_start, "dies_at_start", 3},
    {guard_fault::hangs_at_start, "hangs_at_start", 2},
    {guard_fault::sleeps_through_deadline, "sleeps_through_deadline", 2},
    {guard_fault::both_killed, "both_killed"},
    {guard_fault::pod_told_to_end, "pod_told_to_end"},
    {guard_fault::leaves_hidden, "leaves_hidden"},
    {guard_fault::dies_when_found, "dies_when_found"},
});

/// Of a lease file: its lock, the disk, inotify, the agents' threads, and what an operator does.
/// What takes the file away comes last.
enum class file_fault {
  locked,
  jobs_late,
  writes_slow,
  answers_slow,
  events_slow,
  disk_fails,
  row_deleted,
  copy_kept,
  removed,
  emptied,
  older_copy,
  restored_over,
};

inline constexpr auto file_faults = std::to_array<named_kind<file_fault>>({
    {file_fault::locked, "locked", 2},
    {file_fault::jobs_late, "jobs_late"},
    {file_fault::writes_slow, "writes_slow"},
    {file_fault::answers_slow, "answers_slow"},
    {file_fault::events_slow, "events_slow"},
    {file_fault::disk_fails, "disk_fails", 2},
    {file_fault::row_deleted, "row_deleted", 2},
    {file_fault::copy_kept, "copy_kept", 2},
    {file_fault::removed, "removed"},
    {file_fault::emptied, "emptied"},
    {file_fault::older_copy, "older_copy"},
    {file_fault::restored_over, "restored_over"},
});

}  // namespace tenure::shell
