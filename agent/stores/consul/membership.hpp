#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/consul/cluster.hpp"
#include "stores/consul/codec.hpp"
#include "stores/records/own_entries.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// An agent with more elections is not announced: its names would be most of what Consul stores.
inline constexpr std::size_t most_announced = 100;

/// Our name in the list of members of each election: keys that a session of their own locks, and
/// which Consul deletes when that ends. It is renewed three times in its TTL. Independent of who
/// holds: failures are retried here and not reported.
///
/// Used on its loop only. No handler is called after `close`.
class membership {
 public:
  /// The name of a member that disappears without leaving stays for `ttl`, but for at least 10 s
  /// and at most 30 s, and up to twice as long.
  membership(base::event_loop& on, cluster& through, std::string identity, std::string mark,
             core::duration ttl, const std::vector<settings::election>& elections);

  /// Call when the cluster can be reached: announces us, unless that is under way or done.
  void appear();

  /// What we say of ourselves in this election from now on.
  void say(core::election_index which, const core::readiness& what);

  /// Removes our name, by the deadline or not at all. `done` is called in a later turn of the loop.
  void leave(core::time_point deadline, handler<release_outcome> done);

  void close();

 private:
  void made(const reply_or_failure& what);
  void write_from(std::size_t first);
  void write_news();
  [[nodiscard]] lock entry_of(std::size_t election) const;
  void keep();
  void kept(const reply_or_failure& what);
  void again();
  void later(void (membership::*what)());
  template <class Handler>
  auto guarded(Handler what);

  base::event_loop& loop_;
  cluster& cluster_;
  std::string identity_;
  std::string mark_;
  core::duration ttl_;
  const std::vector<settings::election>& elections_;
  base::timer timer_;
  own_entries own_;
  bool appears_ = false;    ///< a session is asked for or there
  std::string session_;     ///< empty: none yet
  bool is_listed_ = false;  ///< our names are written
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::consul
