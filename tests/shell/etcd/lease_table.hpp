#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "etcd/key_space.hpp"
#include "raft_cluster.hpp"

namespace tenure::shell {

/// The leases of the modelled etcd, which the leader alone counts, and which a new leader extends.
class lease_table {
 public:
  lease_table(world& in, raft_cluster& members, key_space& keys);

  [[nodiscard]] bool contains(std::int64_t id) const { return leases_.contains(id); }
  /// Precondition: there is none of this id.
  void grant(std::int64_t id, core::duration ttl);
  /// Ends it, with the keys that are attached to it.
  void end(std::int64_t id, erased_by how);

  /// The leader's answer to a keepalive: how long the lease lives now; nothing: it does not exist.
  using answer = std::move_only_function<void(std::optional<core::duration> ttl)>;
  /// `failed`: nobody could be asked.
  void keep_alive(std::size_t asked, std::int64_t id, answer done, world::task failed);

  /// A new leader does not know who has renewed when: every lease gets all of its time.
  void extend_all();

  /// Their TTLs, for a backup.
  using backup = std::map<std::int64_t, core::duration>;
  [[nodiscard]] backup back_up() const;
  /// Each gets all of its time.
  void restore(const backup& from);

  /// Until when a leader has ever promised to keep this lease.
  [[nodiscard]] world_time promised(std::int64_t id) const;

 private:
  struct granted {
    core::duration ttl{};
    world_time expires{};
  };
  /// The history of a lease, also after its end.
  struct life {
    core::duration ttl{};
    world_time since{};
    world_time ended = sim::world_never;
    world_time promised{};
  };

  void expire();

  world& world_;
  raft_cluster& members_;
  key_space& keys_;
  std::map<std::int64_t, granted> leases_;
  std::map<std::int64_t, life> lives_;  ///< of all leases that there ever were
};

}  // namespace tenure::shell
