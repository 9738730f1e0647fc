#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "etcd/accounts.hpp"
#include "etcd/key_space.hpp"
#include "modelled_cluster.hpp"
#include "raft_cluster.hpp"

namespace tenure::shell {

/// One open watch request.
struct watch_stream final : served_stream {
 private:
  friend class watch_streams;
  struct watch {
    std::int64_t id = 0;
    std::string begin;
    std::string end;
    std::uint64_t next = 0;  ///< the first revision that was not sent
    world_time synced{};     ///< nothing is sent before
  };
  std::size_t member = 0;
  std::string token;
  std::vector<watch> watches;
};

/// The watches at the members of the modelled etcd: each shows what its member has applied.
class watch_streams {
 public:
  watch_streams(world& in, raft_cluster& members, const key_space& keys, accounts& users)
      : world_(in), members_(members), keys_(keys), users_(users) {}

  /// `token`: what the request brings along, if anything.
  void open(std::size_t member, const std::shared_ptr<watch_stream>& what, std::string_view body,
            std::string token);
  /// More of the body of an open request.
  void more(const std::shared_ptr<watch_stream>& of, std::string_view body);

  /// This member has applied more.
  void feed(std::size_t member);
  /// Ends all streams of this member; `last`: what it sends before, if anything.
  void end_all(std::size_t member, const std::string& last);
  [[nodiscard]] std::size_t open_at(std::size_t member) const { return streams_[member].size(); }

 private:
  void feed(const std::shared_ptr<watch_stream>& to);

  world& world_;
  raft_cluster& members_;
  const key_space& keys_;
  accounts& users_;
  std::array<std::vector<std::shared_ptr<watch_stream>>, raft_cluster::most_members> streams_;
};

}  // namespace tenure::shell
