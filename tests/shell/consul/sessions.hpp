#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "consul/consul_state.hpp"
#include "raft_cluster.hpp"
#include "world.hpp"

namespace tenure::shell {

/// The times of the sessions of the modelled Consul. The leader alone counts them: a session ends
/// when it was not renewed for its TTL, or up to as long again, as the documentation of Consul
/// leaves open; a new leader counts all of them from their beginning. Where a leader that was
/// replaced may have renewed it, a session ends as late as all releases end it, at twice its TTL:
/// decision 33 relies on that. And the lock-delays that follow, which each server keeps in its
/// memory.
class consul_sessions {
 public:
  struct handlers {
    std::function<void(const std::string& id)> ended;  ///< the time of a session is over
    /// Nobody is granted this key before.
    std::function<void(const std::string& key, world_time until)> delayed;
  };
  consul_sessions(world& in, const raft_cluster& members, const consul_state& state, handlers on)
      : world_(in), members_(members), state_(state), on_(std::move(on)) {}

  /// It was made or renewed at the leader, just now.
  void kept(const std::string& id);
  /// A leader that was replaced has said so, from what it knew. Others may rely on that as long as
  /// the present leader keeps the session anyway, or would have if nobody had ended it.
  void kept_by_replaced(const std::string& id, std::uint64_t number);
  /// A new leader.
  void begin_all_anew();
  /// Its keys may be locked by nobody for its lock-delay. Call before it ends.
  void delay_keys_of(const std::string& id);
  /// True if the leader still has a lock-delay of this key.
  [[nodiscard]] bool is_delayed(const std::string& key) const;
  /// The process of this server has ended.
  void forget(std::size_t server) { delays_[server].clear(); }

  /// Until when the session with this number is kept by what Consul promises: for its TTL after it
  /// was renewed. That it lives for twice as long is a habit.
  [[nodiscard]] world_time promised(std::uint64_t number) const;

 private:
  void promise(std::uint64_t number, world_time until);
  void check(const std::string& id);
  void end_at(const std::string& id, world_time when);

  world& world_;
  const raft_cluster& members_;
  const consul_state& state_;
  handlers on_;
  std::map<std::string, world_time> ends_;
  std::map<std::string, world_time> latest_;  ///< at twice their TTL
  std::map<std::uint64_t, world_time> promised_;
  std::array<std::map<std::string, world_time>, raft_cluster::most_members> delays_;
};

}  // namespace tenure::shell
