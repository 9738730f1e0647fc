#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace tenure::shell {

/// Why a key is gone.
enum class erased_by : std::uint8_t { transaction, expiry, somebody };

/// Who hears what really happens in the cluster.
class etcd_witness {
 public:
  virtual ~etcd_witness() = default;
  virtual void created(const std::string& key, std::uint64_t revision, std::int64_t lease) = 0;
  virtual void erased(const std::string& key, std::uint64_t create_revision, erased_by how) = 0;
};

/// A cluster of three etcd servers as its clients can tell, each with its JSON gateway.
///
/// Modelled: one history of revisions, of which each server has applied a part; leases, which the
/// leader alone counts, and which a new leader extends; a leader that was cut off or stopped, and
/// answers keepalives in its old term until it notices; linearizable reads and transactions, which
/// need the quorum and then wait until the asked server is as far; watches of what the asked server
/// has applied; compaction. A server cannot lose what it has confirmed.
class modelled_etcd {
 public:
  static constexpr std::size_t most_servers = 3;
  using reply = std::move_only_function<void(unsigned status, std::string body)>;

  /// One open watch request: `data` takes what the server sends, `end` its end.
  struct stream {
    std::function<void(std::string)> data;
    std::function<void()> end;
    bool closed = false;

   private:
    friend class modelled_etcd;
    struct watch {
      std::int64_t id = 0;
      std::string begin;
      std::string end;
      std::uint64_t next = 0;  ///< the first revision that was not sent
      world_time synced{};     ///< nothing is sent before
    };
    std::size_t server = 0;
    std::vector<watch> watches;
  };

  modelled_etcd(world& in, etcd_witness& seen_by);

  // What clients do. All take effect at the call, as one that has arrived.
  void handle(std::size_t server, const std::string& path, const std::string& body, reply done);
  /// Nothing if there is nobody.
  [[nodiscard]] bool listens(std::size_t server) const { return servers_[server].up; }
  void open(std::size_t server, const std::shared_ptr<stream>& what, std::string_view body);
  void more(const std::shared_ptr<stream>& of, std::string_view body);

  // What goes wrong.
  void kill(std::size_t server);
  void start(std::size_t server);
  void freeze(std::size_t server);
  void thaw(std::size_t server);
  void cut_off(std::size_t server);  ///< from the other servers
  void join(std::size_t server);
  void lag(std::size_t server, core::duration by) { servers_[server].lag = by; }
  void change_leader();
  void compact();
  /// An operator deletes the newest key with this prefix; false if there is none.
  bool delete_one(const std::string& prefix);
  /// An operator revokes the lease of such a key; false if there is none.
  bool revoke_one(const std::string& prefix);

  // What is true.
  [[nodiscard]] int leader() const { return leader_; }
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  /// For a person who follows one seed.
  [[nodiscard]] std::string describe() const;
  /// Until when the leader has ever promised to keep this lease.
  [[nodiscard]] world_time promised(std::int64_t lease) const;
  /// Create revisions of the keys with this prefix, by age.
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& prefix) const;

 private:
  struct change {
    std::uint64_t mod = 0;
    std::uint64_t create = 0;
    std::string value;
    std::int64_t lease = 0;
    bool erased = false;
  };
  struct granted {
    core::duration ttl{};
    world_time expires{};
    std::set<std::string> keys;
  };
  /// Of a lease, for those who do not know how it went on.
  struct life {
    core::duration ttl{};
    world_time since{};
    world_time ended = sim::world_never;
    world_time promised{};
  };
  struct server {
    bool up = true;
    bool linked = true;
    bool frozen = false;
    std::uint64_t applied = 1;
    std::uint64_t term = 2;
    core::duration lag{};
    world_time applies_at{};   ///< the newest that is under way
    world_time leads_until{};  ///< by its own belief, against the truth
    world_time alone_since{};
    std::multimap<std::uint64_t, world::task> waiting;  ///< for a revision to be applied
    std::deque<world::task> inbox;                      ///< while it is frozen
    std::vector<std::shared_ptr<stream>> streams;
  };

  [[nodiscard]] bool well(std::size_t s) const {
    return servers_[s].up && servers_[s].linked && !servers_[s].frozen;
  }
  [[nodiscard]] bool has_quorum() const;
  [[nodiscard]] bool led() const {
    return leader_ >= 0 && has_quorum() && well(static_cast<std::size_t>(leader_));
  }
  [[nodiscard]] bool believes_to_lead(std::size_t s) const;

  void take(std::size_t s, const std::string& path, const std::string& body, reply done);
  void keep_alive(std::size_t s, std::int64_t lease, reply done);
  void transact(std::size_t s, const std::string& body, reply done);
  void answer_reads(std::size_t s, const nlohmann::json& asked, reply& to) const;
  void fail_later(reply done);
  /// Through the leader, if `s` reaches it: `work` at the leader, then `answer` at `s` once it has
  /// applied that.
  void through_quorum(std::size_t s, std::move_only_function<std::uint64_t()> work,
                      std::move_only_function<void(reply&)> answer, reply done);
  void when_applied(std::size_t s, std::uint64_t revision, world::task what);

  [[nodiscard]] const change* find(const std::string& key, std::uint64_t at) const;
  [[nodiscard]] bool holds(const nlohmann::json& condition) const;
  nlohmann::json carry_out(const nlohmann::json& operation, bool& wrote, std::string& error);
  [[nodiscard]] nlohmann::json read(const nlohmann::json& range, std::uint64_t at) const;
  [[nodiscard]] nlohmann::json header(std::size_t s, std::uint64_t revision) const;
  void put(const std::string& key, const std::string& value, std::int64_t lease);
  bool erase(const std::string& key, erased_by how);
  void end_lease(std::int64_t id, erased_by how);
  void committed();
  void apply_later(std::size_t s);
  void applied(std::size_t s, std::uint64_t revision);
  void lost_quorum(std::size_t s);
  void elect_later();
  void elect(std::size_t s);
  void expire();
  void feed(const std::shared_ptr<stream>& to);
  void break_streams(std::size_t s, const std::string& last);

  world& world_;
  etcd_witness& witness_;
  std::array<server, most_servers> servers_;
  int leader_ = 0;
  std::uint64_t term_ = 2;
  std::uint64_t revision_ = 1;
  std::uint64_t compacted_ = 0;
  std::map<std::string, std::vector<change>> keys_;
  std::vector<std::pair<std::uint64_t, std::string>> log_;  ///< keys by the revisions of changes
  std::map<std::int64_t, granted> leases_;
  std::map<std::int64_t, life> lives_;  ///< of all leases that there ever were
};

}  // namespace tenure::shell
