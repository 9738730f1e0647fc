#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "etcd/accounts.hpp"
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
/// (etcd/watch_streams.hpp), users (etcd/accounts.hpp) and requests (etcd/gateway.hpp).
class modelled_etcd {
 public:
  static constexpr std::size_t most_servers = raft_cluster::most_members;
  using reply = gateway::reply;
  using stream = watch_stream;

  modelled_etcd(world& in, etcd_witness& seen_by);

  // What clients do. All take effect at the call, as one that has arrived.
  void handle(std::size_t server, const std::string& path, const std::string& body,
              const std::string& token, reply done) {
    gateway_.handle(server, path, body, token, std::move(done));
  }
  /// False if nobody answers there.
  [[nodiscard]] bool listens(std::size_t server) const { return members_.up(server); }
  void open(std::size_t server, const std::shared_ptr<stream>& what, std::string_view body,
            std::string token) {
    streams_.open(server, what, body, std::move(token));
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
  /// Other clients of the cluster write `times` times.
  void others_write(std::uint64_t times);
  /// An operator writes this key, without a lease.
  void write(const std::string& key, const std::string& value);
  /// An operator deletes the keys with this prefix that are attached to no lease.
  void clean(const std::string& prefix);
  [[nodiscard]] accounts& users() { return users_; }

  /// A backup of the present keys and leases.
  struct backup {
    key_space::backup keys;
    lease_table::backup leases;
  };
  [[nodiscard]] backup back_up() const { return {keys_.back_up(), leases_.back_up()}; }
  /// An operator stops all members, to restore them.
  void halt() { members_.halt(); }
  [[nodiscard]] bool is_halted() const { return members_.halted(); }
  /// Precondition: they are halted. An operator starts them with what the backup has, its revision
  /// raised by `bump`.
  void restore(const backup& from, std::uint64_t bump, bool new_cluster_id);
  /// An operator deletes the first key with this prefix; false if there is none.
  bool delete_one(const std::string& prefix);
  /// An operator revokes the lease of such a key; false if there is none.
  bool revoke_one(const std::string& prefix);

  // What is true.
  [[nodiscard]] int leader() const { return members_.leader(); }
  [[nodiscard]] std::uint64_t revision() const { return keys_.revision(); }
  /// For the trace of one seed.
  [[nodiscard]] std::string describe() const;
  /// Until when the leader has ever promised to keep this lease.
  [[nodiscard]] world_time promised(std::int64_t lease) const { return leases_.promised(lease); }
  /// Create revisions of the keys with this prefix, by age.
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& prefix) const;

 private:
  key_space keys_;
  raft_cluster members_;
  accounts users_;
  lease_table leases_;
  watch_streams streams_;
  gateway gateway_;
};

}  // namespace tenure::shell
