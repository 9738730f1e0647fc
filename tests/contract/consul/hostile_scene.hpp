#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "consul_scene.hpp"
#include "fake_consul.hpp"

namespace tenure::tests {

/// For a call that is to end as `unknown`: short, as the test waits for it.
inline constexpr core::duration short_time = std::chrono::seconds(1);

/// Members of a Consul that lies.
class HostileConsul : public testing::Test {
 protected:
  [[nodiscard]] stores::setup settings(const std::string& identity, std::uint32_t slots = 1,
                                       core::duration ttl = std::chrono::seconds(60)) const {
    return settings_for("consul", fake_.endpoint(), identity, ttl, slots);
  }

  /// An agent that has opened the store, whose calls have `short_time` each.
  std::unique_ptr<member> join(const stores::setup& with);
  std::unique_ptr<member> join(const std::string& identity = "a", std::uint32_t slots = 1) {
    return join(settings(identity, slots));
  }

  /// Ends as unknown, for a reason that names the fake and what is wrong.
  void expect_unknown(const std::string& said, const std::string& why = "");

  /// The truth is told again: what the lies have left is a term that can be held and released.
  void expect_usable(member& who);

  fake_consul fake_;
  loop loop_;
};

}  // namespace tenure::tests
