#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/server_cluster.hpp"

namespace tenure::servers {

/// Debian 11's package and today's release. `./dev test` leaves them in build/servers; the
/// variables TENURE_CONSUL_DEBIAN and TENURE_CONSUL_TODAY name others.
std::vector<server_release> consul_releases();

/// Certificates with which it serves HTTPS, as PEM files.
struct consul_tls {
  std::string certificate;
  std::string key;
  std::string client_ca;  ///< not empty: clients must present a certificate of it
};

struct consul_options {
  std::size_t members = 1;
  /// Agents that are not servers, as on the machines of an application. They have the next numbers,
  /// and a node and a data directory each of their own.
  std::size_t clients = 0;
  /// The least TTL that it grants; 10 s unless a test asks for less.
  std::chrono::milliseconds least_ttl{1000};
  std::vector<std::string> flags{};  ///< further ones, e.g. "-hcl=acl { enabled = true }"
  /// Given: `endpoint` is https. An operator's calls still go to a port without TLS.
  std::optional<consul_tls> tls{};
  std::string token{};  ///< of whoever calls; not empty: nobody else may do anything
  std::vector<std::string> client_flags{};  ///< further ones of the clients
};

/// What Consul answers.
struct consul_answer {
  int status = 0;      ///< 0: it did not answer
  std::string head{};  ///< with the headers
  std::string body{};
};

/// A cluster of real Consul servers, and agents of clients.
class consul_cluster final : public server_cluster {
 public:
  /// Starts it and waits until every member is healthy; fails the test if patience ends first.
  explicit consul_cluster(const server_release& release, consul_options options = {});

  /// Of the plain HTTP API.
  [[nodiscard]] std::uint16_t port(std::size_t member = 0) const;
  [[nodiscard]] std::uint16_t tls_port(std::size_t member = 0) const;
  [[nodiscard]] std::string endpoint(std::size_t member = 0) const override;
  /// The name of its node in the catalog.
  [[nodiscard]] const std::string& node(std::size_t member) const { return name_of(member); }

  /// Answers a consistent read, in which it is registered itself and gossip believes it alive.
  [[nodiscard]] bool healthy(std::size_t member) const override;

  /// Who leads by the word of a member that runs; nothing while nobody does.
  [[nodiscard]] std::optional<std::size_t> leader() const;
  /// Waits for a leader; fails the test if patience ends first.
  std::size_t wait_for_leader();

  /// The answer to a request, e.g. as operator.
  consul_answer call(std::string_view method, std::string_view path, std::string_view body = {},
                     std::size_t member = 0) const;

 private:
  [[nodiscard]] std::vector<std::string> command(std::size_t member) const override;

  server_release release_;
  consul_options options_;
};

}  // namespace tenure::servers
