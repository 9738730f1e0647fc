#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scene.hpp"
#include "servers/consul_server.hpp"
#include "stores/consul/codec.hpp"

namespace tenure::tests {

/// Members against one Consul, and what an operator does to it.
class ConsulScene : public testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  }

  /// Starts the servers. Call once, first.
  servers::consul_cluster& start(servers::consul_options with = {});

  stores::setup settings(const std::string& identity, core::duration ttl = std::chrono::seconds(10),
                         std::uint32_t slots = 1, std::uint32_t elections = 1) const {
    return settings_for("consul", cluster_->endpoint(), identity, ttl, slots, elections);
  }

  /// An agent that has opened the store.
  std::unique_ptr<member> join(const stores::setup& with);

  /// Who holds "db0" by its lock key: a session, or "" for nobody.
  [[nodiscard]] std::string holder() const;
  /// The lock key of "db0"; nothing if there is none.
  [[nodiscard]] std::optional<stores::consul::key_value> lock() const;

  /// PUT, which must be answered with 200. Returns the body.
  std::string put(const std::string& path, const std::string& body = {}) const;
  /// Ends a session as an operator would.
  void destroy(const std::string& session) const { put("/v1/session/destroy/" + session); }
  /// A check of the node, or of a service of it, that passes until it is told otherwise.
  void register_node_check(const std::string& id) const;
  void register_service_check(const std::string& id) const;
  void fail_check(const std::string& id) const { put("/v1/agent/check/fail/" + id); }

  loop loop_;
  std::unique_ptr<servers::consul_cluster> cluster_;
};

/// The loss of a term whose session has ended. The look at its key may be answered before the
/// renewal of the session, and a loss waits for the other answer only where a lock-delay may leave
/// room, and not for long.
inline auto is_session_loss() {
  return testing::AnyOf("lost: session_invalid", "lost: revoked");
}

/// The session of a term, by its sequencer.
std::string session_of(const stores::grant& what);

}  // namespace tenure::tests
