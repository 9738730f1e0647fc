#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.hpp"

namespace tenure::settings {

/// What becomes of a session's locks when the session ends.
enum class session_behavior : std::uint8_t {
  release,  ///< nobody holds them any more
  remove,   ///< their keys are deleted
};

/// What only Consul has: where in it the leases are, and what its sessions are like. An empty
/// member is not used.
struct consul {
  std::string datacenter{};  ///< where the leases are; empty: in that of the agent which is asked
  std::string partition{};   ///< Consul Enterprise only
  /// How long Consul grants a lock to nobody after a session that held it has ended otherwise than
  /// by a release. 0 to 60 s.
  core::duration lock_delay{};
  session_behavior behavior = session_behavior::release;
  std::vector<std::string>
      node_checks{};  ///< checks of the agent's node; one that fails ends the lease
  std::vector<std::string> service_checks{};  ///< checks of services of that node
  /// The session has no TTL: only a failed check, or an operator, ends it.
  bool without_ttl = false;

  friend bool operator==(const consul&, const consul&) = default;
};

}  // namespace tenure::settings
