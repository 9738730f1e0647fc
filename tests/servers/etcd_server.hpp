#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/server_cluster.hpp"
#include "servers/slow_disk.hpp"

namespace tenure::servers {

/// Debian's package and today's release. `./dev test` leaves them in build/servers; the variables
/// TENURE_ETCD_DEBIAN and TENURE_ETCD_TODAY name others.
std::vector<server_release> etcd_releases();

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

/// A cluster of real etcd processes.
class etcd_cluster final : public server_cluster {
 public:
  /// Starts it and waits until every member is healthy; fails the test if patience ends first.
  explicit etcd_cluster(const server_release& release, etcd_options options = {});

  [[nodiscard]] std::uint16_t port(std::size_t member = 0) const;

  [[nodiscard]] std::string endpoint(std::size_t member = 0) const override;

  /// What it writes is on its disk only after `each`, for as long as the returned object lives; so
  /// what others have written it knows only later, too.
  [[nodiscard]] std::unique_ptr<slow_disk> slow_down(std::size_t member, std::chrono::seconds each);

  /// Answers a linearizable read.
  [[nodiscard]] bool healthy(std::size_t member) const override;

  /// Who leads by its own word; nothing while nobody does.
  [[nodiscard]] std::optional<std::size_t> leader() const;

  /// Waits for a leader; fails the test if patience ends first.
  std::size_t wait_for_leader();

  /// The body of the answer to a POST, e.g. as operator. Only without TLS.
  std::string post(std::string_view path, std::string_view body, std::size_t member = 0) const;

  /// Turns authentication on, with this one user, who may do everything. Only without TLS.
  void enable_auth(const std::string& password);

 private:
  [[nodiscard]] std::vector<std::string> command(std::size_t member) const override;
  [[nodiscard]] std::string metrics(std::size_t member, std::string_view path) const;

  server_release release_;
  etcd_options options_;
};

}  // namespace tenure::servers
