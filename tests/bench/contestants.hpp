#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "servers/consul_server.hpp"
#include "servers/etcd_server.hpp"
#include "servers/kubernetes_server.hpp"

namespace tenure::bench {

/// How a turn ends.
enum class ending {
  asked,      ///< SIGTERM, to whom a user would send it
  workload,   ///< SIGKILL to the workload
  container,  ///< SIGKILL to the container with the workload, as by the kernel without memory
  vanished,   ///< SIGKILL to everything
};

/// Two clients of one kind that hold the same lock in turn, each with a stamper under it.
class contestants {
 public:
  virtual ~contestants() = default;

  /// One holds, the other waits for it.
  virtual void settle() = 0;
  /// Ends the turn of who holds, and starts that one again. Returns when it ended (the signal, or
  /// the last stamp if everything has vanished) and when the other's workload began.
  struct turn {
    std::int64_t ended = 0;
    std::int64_t began = 0;
    /// When the holder's agent knew that its workload was dead, and the other's that it held: by
    /// their logs, so to a millisecond. 0: there is no such log.
    std::int64_t seen_dead = 0;
    std::int64_t granted = 0;
  };
  virtual turn hand_over(ending how) = 0;
};

inline constexpr const char* killed_run =
    "everything of the holder is killed, and started again at once, ttl 15 s";

/// How long hand-overs took, in milliseconds.
struct samples {
  std::vector<double> ours;
  std::vector<double> theirs;
  /// The parts of ours, each with the mean of its times.
  double until_seen_dead = 0;
  double until_granted = 0;  ///< from then on
  double until_began = 0;    ///< from then on
};

/// "  of which, on average: ..."
void print_parts(const samples& all);

/// In turn, so that both see the same machine. `rest`: between the start of who waits and the end
/// of who holds.
samples measure(contestants& ours, contestants& theirs, ending how, int rounds,
                std::chrono::milliseconds rest = std::chrono::milliseconds(100));

/// `ttl_seconds` is that of the lease; `more`: further flags for both.
std::unique_ptr<contestants> two_tenures(const std::string& store,
                                         const servers::server_cluster& at, int ttl_seconds,
                                         std::vector<std::string> more = {});
/// The same as in two pods, with the guard in one container and the agent in another.
std::unique_ptr<contestants> two_pods(const std::string& store, const std::string& endpoint,
                                      int ttl_seconds);
/// How long nobody runs after the container of such a pod was killed, in milliseconds.
std::vector<double> container_deaths(contestants& pods, int rounds);
/// How long nobody runs after everything of `tenure exec` was killed and is started again at once,
/// as by a supervisor that waits for nothing, in milliseconds. `endpoint`: empty for `sqlite`.
std::vector<double> killed_runs(const std::string& store, const std::string& endpoint, int rounds);
/// `consul lock`, of the release that is served, with its own TTL of 15 s.
std::unique_ptr<contestants> two_consul_locks(const servers::server_release& of,
                                              const servers::consul_cluster& at);
/// `etcdctl lock`, of the release that is served.
std::unique_ptr<contestants> two_etcdctls(const servers::server_release& of,
                                          const servers::etcd_cluster& at, int ttl_seconds);

/// client-go's leaderelection with its usual times (15 s, 10 s, 2 s), in a Go program that runs a
/// command while it leads (tests/servers/kubernetes-today/elector).
std::unique_ptr<contestants> two_electors(const std::string& elector,
                                          const servers::kubernetes_server& at);

/// `etcdctl` beside the etcd of a release.
std::string etcdctl_of(const servers::server_release& release);

/// How many keys are under "test/"; -1 if etcd does not say.
long contenders(const servers::etcd_cluster& at);
/// The same for any prefix.
long keys_under(const servers::etcd_cluster& at, const std::string& prefix);

}  // namespace tenure::bench
