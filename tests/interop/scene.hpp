#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "servers/etcd_server.hpp"

namespace tenure::tests {

/// A TTL that no test outlives: only a release can hand such a lease on.
inline constexpr const char* ttl_beyond_patience = "10m";

/// etcd's own client and ours, who compete for the lock "test" in an etcd of the client's release.
class Interop : public ::testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override;
  /// Checks after every test that no two workloads ever overlapped.
  void TearDown() override;

  /// `tenure exec` with the stamper as its command.
  [[nodiscard]] std::unique_ptr<member> tenure(const std::string& identity,
                                               const std::string& ttl) const;
  /// The same, which tells the next member, and is told, when a term is over.
  [[nodiscard]] std::unique_ptr<member> telling_tenure(const std::string& identity,
                                                       const std::string& at = "127.0.0.1:0") const;
  /// As `tenure`, but its command survives SIGTERM until its drain time is over.
  [[nodiscard]] std::unique_ptr<member> stubborn_tenure(const std::string& identity,
                                                        const std::string& ttl) const;

  /// `etcdctl WORDS...`; its output is in files of that name.
  [[nodiscard]] std::unique_ptr<program> etcdctl(const std::vector<std::string>& words,
                                                 const std::string& name) const;
  /// `etcdctl lock test` with a stamper of that identity as its command.
  [[nodiscard]] std::unique_ptr<program> locked_stamper(const std::string& identity,
                                                        int ttl_seconds = 60) const;

  /// Waits until so many keys are under the prefix: who holds, and who waits in a queue.
  [[nodiscard]] bool contenders_become(std::size_t count) const;

  /// True as soon as this member's API names that holder, who is somebody else.
  [[nodiscard]] static bool shows(const member& who, const std::string& holder);

  /// `other` holds: our member "a" shows that holder, starts nothing, and follows once `other` has
  /// been told to end.
  void expect_to_wait_for(const program& other, const std::string& holder);

  temporary_directory in_;

 private:
  [[nodiscard]] std::vector<std::string> environment() const;

  std::string etcdctl_;
  std::optional<servers::etcd_cluster> cluster_;
};

}  // namespace tenure::tests
