#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/election.hpp"
#include "core/timing.hpp"
#include "message.hpp"
#include "rng.hpp"
#include "virtual_time.hpp"

namespace tenure::sim {

enum class store_family : std::uint8_t {
  expiring,  ///< the server ends leases: etcd, Consul, ZooKeeper, Tarantool, SQLite
  record,    ///< compare-and-set without expiry: Kubernetes Lease
};

/// What can go wrong. Each seed draws which of them it knows.
enum class fault : std::uint8_t {
  cut_requests,  ///< one direction of a partition
  cut_answers,   ///< the other
  cut_both,
  cut_all_pods,  ///< the store is unreachable for everybody
  storm,         ///< loss, delay and duplication for a while
  slow_path,     ///< the same for some kinds of messages only, and for longer
  store_crash,
  fail_over,       ///< a new store leader gives every lease a full TTL
  agent_crash,     ///< its guard ends the workload and starts it again
  agent_pause,     ///< SIGSTOP; the guard lives
  pod_pause,       ///< the guard and the workload are frozen, too
  pod_replace,     ///< all of it is gone at once; a fresh identity follows
  delete_key,      ///< by an operator
  revoke_session,  ///< by an operator
  restore,         ///< the store comes back with an old backup
  resign,
  shutdown,
  unhealthy,
  workload_exit,
  kinds,
};

inline constexpr std::size_t fault_kinds = static_cast<std::size_t>(fault::kinds);

const char* name(fault f);
const char* name(mail k);

/// Everything that a seed decides before its run begins.
struct mix {
  store_family family{};
  std::uint32_t pods = 2;
  std::uint32_t elections = 1;
  std::array<std::uint32_t, max_elections> slots{};
  std::array<bool, max_elections> owns_workload{};
  std::array<bool, max_elections> checked_always{};
  std::array<bool, max_pods> observes{};
  core::after_loss on_lost{};
  bool lists_members = false;
  std::array<std::int32_t, max_pods> priority{};
  bool prefer_newer = false;
  bool preempt = false;
  core::timing when{};
  std::array<std::int64_t, max_pods> clock_ppm{};
  std::int64_t store_clock_ppm = 0;

  // The network when it is well, and in a storm.
  core::duration delay_least{};
  core::duration delay_most{};
  std::uint32_t loss_ppm = 0;
  std::uint32_t twice_ppm = 0;
  std::uint32_t late_ppm = 0;
  core::duration late_most{};
  std::uint32_t picked_mail = 0;  ///< a bit for each `mail` that suffers on the slow path
  bool always_slow = false;
  std::uint32_t picked_lost_ppm = 0;
  std::uint32_t picked_late_ppm = 0;
  core::duration break_noticed_most{};

  // The store.
  core::duration least_ttl{};
  core::duration store_lock_delay{};
  core::duration expiry_lag_most{};
  bool restart_extends = false;
  bool renewal_checks_terms = false;
  bool says_retry = false;

  // Machines and workloads.
  core::duration timer_lag_most{};
  core::duration socket_delay_most{};
  std::uint32_t ignores_term_ppm = 0;
  std::uint32_t start_fails_ppm = 0;
  core::duration stops_within{};
  core::duration kill_takes_most{};

  // When, and what.
  std::uint32_t known_faults = 0;  ///< a bit for each `fault`
  std::uint32_t planned_faults = 0;
  std::uint32_t ambush_ppm = 0;      ///< a fault follows a change of phase at once
  std::uint32_t series_ppm = 0;      ///< a fault that strikes does so several times
  bool takes_after_crash = false;    ///< an operator deletes what the agent that died has held
  bool crashes_after_order = false;  ///< an agent that was told to resign dies soon
  core::duration faulty{};           ///< for so long
  core::duration quiet{};            ///< then everybody must have recovered

  [[nodiscard]] bool knows(fault f) const {
    return (known_faults >> static_cast<unsigned>(f) & 1U) != 0;
  }
  [[nodiscard]] bool picks(mail kind) const {
    return (picked_mail >> static_cast<unsigned>(kind) & 1U) != 0;
  }
  /// The TTL that the store grants for the one asked for.
  [[nodiscard]] core::duration granted_ttl() const {
    return when.ttl > least_ttl ? when.ttl : least_ttl;
  }
};

/// Draws the mix of a seed.
mix draw_mix(rng& dice);

/// For a person who replays a seed; several lines.
std::string describe(const mix& m);

}  // namespace tenure::sim
