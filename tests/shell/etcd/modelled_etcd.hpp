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
#include "etcd/watch_streams.hpp"
#include "modelled_cluster.hpp"
#include "store_witness.hpp"
#include "world.hpp"

namespace tenure::shell {

/// A cluster of three etcd servers as its clients can tell, each with its JSON gateway: members
/// (raft_cluster.hpp), keys (etcd/key_space.hpp), leases (etcd/lease_table.hpp), watches
/// (etcd/watch_streams.hpp), users (etcd/accounts.hpp) and requests (etcd/gateway.hpp).
class modelled_etcd final : public modelled_cluster {
 public:
  modelled_etcd(world& in, store_witness& seen_by, etcd_release release = etcd_release::of_3_6);

  void handle(std::size_t server, http::client_request asked, reply done) override;
  [[nodiscard]] std::shared_ptr<served_stream> make_stream() override {
    return std::make_shared<watch_stream>();
  }
  void open(std::size_t server, const std::shared_ptr<served_stream>& what,
            const http::client_request& asked) override;
  void more(const std::shared_ptr<served_stream>& of, std::string_view body) override {
    streams_.more(std::static_pointer_cast<watch_stream>(of), body);
  }

  // What goes wrong.
  void compact() override { keys_.compact(members_.applied_by_all()); }
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
  bool delete_one(const std::string& election) override;
  bool revoke_one(const std::string& election) override;

  // What is true.
  [[nodiscard]] std::uint64_t revision() const override { return keys_.revision(); }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] world_time promised(std::int64_t lease) const override {
    return leases_.promised(lease);
  }
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& election) const override;

 private:
  key_space keys_;
  accounts users_;
  lease_table leases_;
  watch_streams streams_;
  gateway gateway_;
};

}  // namespace tenure::shell
