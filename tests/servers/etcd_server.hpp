#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "servers/server_process.hpp"
#include "servers/slow_disk.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::servers {

/// An etcd to test against.
struct etcd_release {
  std::string name;    ///< fit for the name of a test: "debian", "today"
  std::string binary;  ///< empty: this machine has none
  std::string why;     ///< then: what to do about it, for GTEST_SKIP()
};

/// The name alone, in what GoogleTest prints.
void PrintTo(const etcd_release& release, std::ostream* out);

/// Debian's package and today's release. `./dev test` leaves them in build/servers; the variables
/// TENURE_ETCD_DEBIAN and TENURE_ETCD_TODAY name others.
std::vector<etcd_release> etcd_releases();

/// Certificates that the client port is served with, as PEM files.
struct etcd_tls {
  std::string certificate;
  std::string key;
  std::string client_ca;  ///< not empty: clients must present a certificate of it
};

struct etcd_options {
  std::size_t members = 1;
  /// etcd grants no TTL below 1.5 election timeouts, rounded up to seconds: 1 s with these.
  std::chrono::milliseconds heartbeat{50};
  std::chrono::milliseconds election{500};
  std::optional<etcd_tls> tls;
  std::vector<std::string> flags;  ///< further ones, e.g. "--quota-backend-bytes=..."
};

/// A cluster of real etcd processes on free loopback ports, with directories of its own. Prints
/// the end of every member's log if the test has failed when it goes.
///
/// Not thread-safe. Its members die with the thread that made it.
class etcd_cluster {
 public:
  /// Starts it and waits until every member is healthy; fails the test if patience ends first.
  explicit etcd_cluster(const etcd_release& release, etcd_options options = {});
  ~etcd_cluster();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] std::uint16_t port(std::size_t member = 0) const;

  /// "http://127.0.0.1:20123"; https with TLS.
  [[nodiscard]] std::string endpoint(std::size_t member = 0) const;
  [[nodiscard]] std::vector<std::string> endpoints() const;

  /// SIGKILL
  void kill(std::size_t member);
  /// SIGTERM, and its end.
  void stop(std::size_t member);
  /// SIGSTOP: connections stay open, nothing answers.
  void freeze(std::size_t member);
  /// SIGCONT
  void thaw(std::size_t member);
  /// What it writes is on its disk only after `each`, for as long as the returned object lives; so
  /// what others have written it knows only later, too.
  [[nodiscard]] std::unique_ptr<slow_disk> slow_down(std::size_t member, std::chrono::seconds each);
  /// Starts one that was killed or stopped, on its ports and data. Does not wait.
  void start(std::size_t member);

  /// Has a leader and answers a linearizable read, by its own word.
  [[nodiscard]] bool healthy(std::size_t member) const;

  /// Who leads by its own word; nothing while nobody does.
  [[nodiscard]] std::optional<std::size_t> leader() const;

  /// Waits for a leader; fails the test if patience ends first.
  std::size_t wait_for_leader();
  /// Waits until every member that runs is healthy; fails the test if patience ends first.
  void wait_until_healthy();

  /// The body of the answer to a POST, e.g. as operator. Only without TLS.
  std::string post(std::string_view path, std::string_view body, std::size_t member = 0) const;

  /// Turns authentication on, with this one user, who may do everything. Only without TLS.
  void enable_auth(const std::string& password);

  /// The last lines of a member's log.
  [[nodiscard]] std::string log_tail(std::size_t member) const;

 private:
  struct member {
    std::string name;
    std::uint16_t client_port = 0;
    std::uint16_t peer_port = 0;
    std::uint16_t metrics_port = 0;  ///< plain HTTP even with TLS
    std::unique_ptr<server_process> process;
  };

  void draw_ports();
  bool start_all();
  server_process& running(std::size_t member);
  [[nodiscard]] std::vector<std::string> command(const member& one) const;
  [[nodiscard]] std::filesystem::path log_of(const member& one) const;
  [[nodiscard]] std::string metrics(const member& one, std::string_view path) const;

  etcd_release release_;
  etcd_options options_;
  tests::temporary_directory folder_;
  std::vector<member> members_;
};

}  // namespace tenure::servers
