#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "etcd/gateway.hpp"
#include "etcd/key_space.hpp"
#include "etcd/lease_table.hpp"
#include "etcd/raft_cluster.hpp"
#include "etcd/watch_streams.hpp"
#include "etcd/witness.hpp"
#include "world.hpp"

namespace tenure::shell {

/// A cluster of three etcd servers as its clients can tell, each with its JSON gateway: members
/// (etcd/raft_cluster.hpp), keys (etcd/key_space.hpp), leases (etcd/lease_table.hpp), watches
/// (etcd/watch_streams.hpp) and requests (etcd/gateway.hpp).
class modelled_etcd {
 public:
  static constexpr std::size_t most_servers = raft_cluster::most_members;
  using reply = gateway::reply;
  using stream = watch_stream;

  modelled_etcd(world& in, etcd_witness& seen_by);

  // What clients do. All take effect at the call, as one that has arrived.
  void handle(std::size_t server, const std::string& path, const std::string& body, reply done) {
    gateway_.handle(server, path, body, std::move(done));
  }
  /// Nothing if there is nobody.
  [[nodiscard]] bool listens(std::size_t server) const { return members_.up(server); }
  void open(std::size_t server, const std::shared_ptr<stream>& what, std::string_view body) {
    streams_.open(server, what, body);
  }
  void more(const std::shared_ptr<stream>& of, std::string_view body) { streams_.more(of, body); }

  // What goes wrong.
  void kill(std::size_t server) { members_.kill(server); }
  void start(std::size_t server) { members_.start(server); }
  void freeze(std::size_t server) { members_.freeze(server); }
  void thaw(std::size_t server) { members_.thaw(server); }
  void cut_off(std::size_t server) { members_.cut_off(server); }  ///< from the other servers
  void join(std::size_t server) { members_.join(server); }
  void lag(std::size_t server, core::duration by) { members_.lag(server, by); }
  void change_leader() { members_.change_leader(); }
  void compact() { keys_.compact(members_.applied_by_all()); }
  /// An operator deletes the first key with this prefix; false if there is none.
  bool delete_one(const std::string& prefix);
  /// An operator revokes the lease of such a key; false if there is none.
  bool revoke_one(const std::string& prefix);

  // What is true.
  [[nodiscard]] int leader() const { return members_.leader(); }
  [[nodiscard]] std::uint64_t revision() const { return keys_.revision(); }
  /// For a person who follows one seed.
  [[nodiscard]] std::string describe() const;
  /// Until when the leader has ever promised to keep this lease.
  [[nodiscard]] world_time promised(std::int64_t lease) const { return leases_.promised(lease); }
  /// Create revisions of the keys with this prefix, by age.
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& prefix) const;

 private:
  key_space keys_;
  raft_cluster members_;
  lease_table leases_;
  watch_streams streams_;
  gateway gateway_;
};

}  // namespace tenure::shell
