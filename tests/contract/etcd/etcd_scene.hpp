#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scene.hpp"
#include "servers/etcd_server.hpp"
#include "servers/tcp_proxy.hpp"
#include "stores/etcd/codec.hpp"
#include "support/temporary_directory.hpp"

/// What the tests of the etcd store against a misbehaving etcd are played with.
namespace tenure::tests {

/// For a call that is to end as `unknown`: short, as the test waits for it.
inline constexpr core::duration try_time = std::chrono::seconds(1);
/// For a call that has to find another member within its deadline. A real one has ttl/3.
inline constexpr core::duration renewal_time = std::chrono::seconds(6);
/// Longer than any member takes to come back.
inline constexpr core::duration long_ttl = std::chrono::seconds(60);

/// "open", "error: text"
std::string words(const std::expected<stores::description, stores::open_error>& outcome);

/// All warnings in one text.
std::string warnings_of(const std::expected<stores::description, stores::open_error>& outcome);

/// A password in a file of its own directory.
struct password_file {
  void write(const std::string& password) const;
  /// `with`, signing in as this user.
  [[nodiscard]] stores::setup of(const std::string& user, stores::setup with) const;

  temporary_directory folder;
};

/// A loop and members of the etcd store.
class etcd_scene {
 protected:
  /// True once the condition holds, which others than the loop may make true.
  [[nodiscard]] bool eventually(const std::function<bool()>& condition);

  [[nodiscard]] static stores::setup settings(const std::string& identity,
                                              std::vector<std::string> endpoints,
                                              core::duration ttl = long_ttl,
                                              std::uint32_t elections = 1);

  /// An agent that has opened the store, and must not fail to.
  std::unique_ptr<member> join(const stores::setup& with);

  /// Acquires this many elections, all at once; fails the test if one is not granted.
  std::vector<core::renewal_item> hold_all(member& who, std::uint32_t elections);

  stores::renew_outcome renew(member& who, core::version version, core::duration within);
  stores::renew_outcome renew(member& who, const std::vector<core::renewal_item>& terms,
                              core::duration within);
  stores::acquire_outcome acquire(member& who, core::duration within, std::uint32_t which = 0);
  stores::release_outcome release(member& who, core::version version, core::duration within);

  /// Renews, by one call after the other, until what comes of it satisfies `good`.
  [[nodiscard]] bool renews_until(member& who, core::version version,
                                  const std::function<bool(const std::string&)>& good);

  loop loop_;
};

/// One scene for each release of etcd.
class EtcdFault : public etcd_scene, public testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  }
};

/// One etcd of one node.
class EtcdNode : public EtcdFault {
 protected:
  void SetUp() override {
    EtcdFault::SetUp();
    if (!IsSkipped()) etcd_ = std::make_unique<servers::etcd_cluster>(GetParam());
  }

  std::unique_ptr<servers::etcd_cluster> etcd_;
};

/// The same, and a network before it.
class EtcdBehindANetwork : public EtcdNode {
 protected:
  void SetUp() override {
    EtcdNode::SetUp();
    if (!IsSkipped()) near_ = std::make_unique<servers::tcp_proxy>(etcd_->port());
  }

  /// A member that is behind the network.
  std::unique_ptr<member> far(const std::string& identity, core::duration ttl = long_ttl,
                              std::uint32_t elections = 1) {
    return join(settings(identity, {near_->endpoint()}, ttl, elections));
  }

  std::unique_ptr<servers::tcp_proxy> near_;
};

/// What an operator does with etcdctl, by the gateway of `member`.
class etcd_operator {
 public:
  explicit etcd_operator(const servers::etcd_cluster& of, std::size_t member = 0)
      : cluster_(of), member_(member) {}

  void erase(const std::string& key) const;
  /// Deletes every key of an election.
  void erase_election(const std::string& name = "db0") const;
  void put(const std::string& key, const std::string& value) const;
  /// The keys with this prefix, the oldest first.
  [[nodiscard]] std::vector<stores::etcd::key_value> keys(const std::string& prefix) const;
  /// Revokes the lease that a key of the layout is attached to.
  void revoke_lease_of(const std::string& key) const;
  /// Revokes the leases of all members that are listed.
  void revoke_members(const std::string& election = "db0") const;
  /// Forgets all history up to the present revision.
  void compact() const;
  [[nodiscard]] std::size_t leases() const;

  /// A user with read and write access, or read access only, to keys from `from` to before `until`.
  void add_user(const std::string& name, const std::string& password, const std::string& from,
                const std::string& until, bool writes) const;

 private:
  [[nodiscard]] std::uint64_t revision() const;

  const servers::etcd_cluster& cluster_;
  std::size_t member_;
};

/// The key in a grant's sequencer, which is "key@revision".
std::string key_of(const stores::grant& what);

}  // namespace tenure::tests
