#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "fake_kubernetes.hpp"
#include "scene.hpp"

namespace tenure::tests {

/// For a call that is to end as `unknown`: short, as the test waits for it.
inline constexpr core::duration short_time = std::chrono::seconds(1);

/// Members of a Kubernetes that lies.
class HostileKubernetes : public testing::Test {
 protected:
  [[nodiscard]] stores::setup settings(const std::string& identity, std::uint32_t slots = 1,
                                       core::duration ttl = std::chrono::seconds(60)) const {
    return settings_for("kubernetes", fake_.endpoint(), identity, ttl, slots);
  }

  /// An agent that has opened the store, whose calls have `short_time` each.
  std::unique_ptr<member> join(const stores::setup& with);
  std::unique_ptr<member> join(const std::string& identity = "a", std::uint32_t slots = 1) {
    return join(settings(identity, slots));
  }

  /// Acquires, and waits until the Lease says the version of the term, which a second write does.
  stores::grant hold(member& who, std::uint32_t which = 0);

  /// The Lease of "db0" is there, and nobody holds it.
  void make_lease() { fake_.put("db0", nlohmann::json::object()); }
  /// A Go program holds it.
  void hold_as_another();

  /// Ends as unknown, for a reason that names the fake and what is wrong.
  void expect_unknown(const std::string& said, const std::string& why = "");

  /// The truth is told again: what the lies have left is a term that can be held and released.
  void expect_usable(member& who);

  fake_kubernetes fake_;
  loop loop_;
};

}  // namespace tenure::tests
