#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "etcd/accounts.hpp"
#include "etcd/key_space.hpp"
#include "etcd/lease_table.hpp"
#include "raft_cluster.hpp"

namespace tenure::shell {

/// Whose answers differ where a client can tell.
enum class etcd_release : std::uint8_t { of_3_4, of_3_6 };

/// The JSON gateways of the members of the modelled etcd: turns requests into what members, keys
/// and leases do, and their answers into replies.
class gateway {
 public:
  using reply = std::move_only_function<void(unsigned status, std::string body)>;

  gateway(world& in, raft_cluster& members, key_space& keys, lease_table& leases, accounts& users,
          etcd_release release)
      : world_(in),
        members_(members),
        keys_(keys),
        leases_(leases),
        users_(users),
        release_(release) {}

  /// A request that has arrived, with this token, if any. A member that is down says nothing; one
  /// that is frozen answers when it goes on.
  void handle(std::size_t member, const std::string& path, const std::string& body,
              const std::string& token, reply done);

 private:
  void take(std::size_t member, const std::string& path, const std::string& body,
            const std::string& token, reply done);
  void sign_in(std::size_t member, const nlohmann::json& asked, reply done);
  void grant(std::size_t member, const nlohmann::json& asked, reply done);
  void revoke(std::size_t member, std::int64_t lease, const std::string& token, reply done);
  void keep_alive(std::size_t member, std::int64_t lease, reply done);
  void transact(std::size_t member, nlohmann::json what, const std::string& token, reply done);
  [[nodiscard]] denial check(const nlohmann::json& operations, const std::string& token) const;
  void answer_reads(std::size_t member, const nlohmann::json& asked, reply& to) const;
  void fail_later(reply done);
  /// Through the leader, if `member` reaches it: `work` at the leader, then `answer` at `member`
  /// once that has applied it.
  void through_quorum(std::size_t member, std::move_only_function<std::uint64_t()> work,
                      std::move_only_function<void(reply&)> answer, reply done);

  world& world_;
  raft_cluster& members_;
  key_space& keys_;
  lease_table& leases_;
  accounts& users_;
  etcd_release release_;
};

}  // namespace tenure::shell
