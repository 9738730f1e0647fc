#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/timing.hpp"
#include "judge.hpp"
#include "modelled_kubelet.hpp"
#include "modelled_network.hpp"
#include "modelled_peers.hpp"
#include "settings/consul.hpp"
#include "world.hpp"

namespace tenure::shell {

class sqlite_host;

/// What the agents keep their leases in.
enum class kept_in : std::uint8_t { etcd, consul, sqlite, kubernetes };

/// The name under which the agent of a pod takes part.
[[nodiscard]] inline std::string identity_of(std::size_t pod) {
  return "pod-" + std::to_string(pod);
}

/// What the pods of one world have in common.
struct stage {
  world& in;
  modelled_cluster& servers;
  modelled_network& network;
  judge& referee;
  core::timing when;
  std::vector<std::string> elections;
  std::size_t slots = 1;  ///< how many may hold an election at a time, if all members agree
  bool agrees = true;     ///< all members are configured with that number
  /// True: a guard in each pod starts and kills a workload. False: workloads run all the time, and
  /// ask their agent before they act.
  bool guarded = true;
  bool guard_socket = false;  ///< guards have containers of their own; else they start their agents
  bool hooked = false;        ///< nobody guards workloads, and hooks tell them when to act
  /// Signal mode: the kubelet starts the workloads, and guards find them.
  bool found = false;
  bool found_may_run = false;  ///< also on a standby
  /// The password file of the store's user; empty: the agents have no user.
  std::string password_file{};
  /// Until when the store has ever promised to keep this lease.
  std::function<world_time(std::int64_t lease)> promised{};
  modelled_peers* peers = nullptr;      ///< null: no store here makes use of them
  modelled_kubelet* kubelet = nullptr;  ///< null: nobody asks it
  kept_in store = kept_in::etcd;
  sqlite_host* host = nullptr;  ///< with the lease file that all share; null: there is none
  settings::consul consul{};    ///< what sessions of Consul are like

  /// How long an order can be found in the store. Consul grants its session 10 s if not less, and
  /// may end it as late as at twice its TTL. In Kubernetes nothing runs out: who finds an order
  /// shows it for as long from then on, also if its watch is late.
  [[nodiscard]] core::duration longest_order() const {
    if (store == kept_in::consul) return 2 * std::chrono::seconds(10);
    if (store == kept_in::kubernetes) return 2 * stores::order_stays + std::chrono::seconds(10);
    return stores::order_stays;
  }

  /// What the judge calls a version: one number is of one election. Those of etcd and Consul are
  /// already.
  [[nodiscard]] std::uint64_t judged(std::size_t election, core::version v) const {
    const std::uint64_t number = core::number(v);
    return host == nullptr || number == 0 ? number : number * elections.size() + election;
  }
};

/// One machine with the pod on it, which outlives the processes in it.
struct pod_machine {
  std::size_t number;
  machine_clock clock;
  std::string identity{};            ///< under which its agent takes part; two pods may have one
  std::uint32_t slots = 1;           ///< as its agent is configured
  core::duration guard_clock_off{};  ///< of its guard's container, which has a clock of its own
  core::duration asleep{};           ///< what it has slept
  core::duration wall_off{};         ///< of its wall clock from the truth
  bool checks_health = false;        ///< of its workload
  bool checks_always = false;        ///< also while its workload does not run
  std::optional<world_time> sick_since{};
  world_time looked_on_from{};  ///< its agent has run without a pause since

  /// Its guard has another clock than its agent, which must not use it.
  [[nodiscard]] bool has_odd_guard() const { return guard_clock_off != core::duration{}; }
  /// True if an agent that checks all the time must have found its workload ill by now.
  [[nodiscard]] bool is_ill(const stage& s) const {
    return checks_health && checks_always && sick_since &&
           s.in.now - std::max(*sick_since, looked_on_from) > s.when.ttl;
  }
};

}  // namespace tenure::shell
