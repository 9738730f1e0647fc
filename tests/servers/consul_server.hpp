#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "servers/server_cluster.hpp"

namespace tenure::servers {

/// A Consul to test against.
struct consul_release {
  std::string name;    ///< fit for the name of a test: "debian"
  std::string binary;  ///< empty: this machine has none
  std::string why;     ///< then: what to do about it, for GTEST_SKIP()
};

/// The name alone, in what GoogleTest prints.
void PrintTo(const consul_release& release, std::ostream* out);

/// Debian 11's package. `./dev test` leaves it in build/servers; the variable TENURE_CONSUL_DEBIAN
/// names another.
std::vector<consul_release> consul_releases();

struct consul_options {
  std::size_t members = 1;
  /// The least TTL that it grants; 10 s unless a test asks for less.
  std::chrono::milliseconds least_ttl{1000};
  std::vector<std::string> flags;  ///< further ones, e.g. "-hcl=acl { enabled = true }"
};

/// What Consul answers.
struct consul_answer {
  int status = 0;      ///< 0: it did not answer
  std::string head{};  ///< with the headers
  std::string body{};
};

/// A cluster of real Consul servers.
class consul_cluster final : public server_cluster {
 public:
  /// Starts it and waits until every member is healthy; fails the test if patience ends first.
  explicit consul_cluster(const consul_release& release, consul_options options = {});

  [[nodiscard]] std::uint16_t port(std::size_t member = 0) const;
  /// "http://127.0.0.1:20123"
  [[nodiscard]] std::string endpoint(std::size_t member = 0) const;
  [[nodiscard]] std::vector<std::string> endpoints() const;

  /// Answers a consistent read, in which it is registered itself.
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

  consul_release release_;
  consul_options options_;
};

}  // namespace tenure::servers
