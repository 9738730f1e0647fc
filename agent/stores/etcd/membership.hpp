#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/records/own_entries.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// An agent with more elections is not announced: its names would be most of what etcd stores.
inline constexpr std::size_t most_announced = 100;

/// Our name in the list of members of each election: keys beside the prefix, on a lease of their
/// own, renewed three times in its life; and beside it what we say of ourselves. Independent of who
/// holds: failures are retried here and not reported.
///
/// Used on its loop only. No handler is called after `close`.
class membership {
 public:
  /// The name of a member that disappears without leaving stays for `ttl`, but for at least 5 s and
  /// at most 30 s.
  membership(base::event_loop& on, cluster& through, lease_ids& ids, std::string identity,
             std::string peer, core::duration ttl,
             const std::vector<settings::election>& elections);

  /// Call when the cluster can be reached: announces us, unless that is under way or done.
  void appear();

  /// What we say of ourselves in this election from now on.
  void say(core::election_index which, const core::readiness& what);

  /// Another run has our name: writes that we live.
  void answer_namesake(core::election_index which);

  /// Removes our name, by the deadline or not at all. `done` is called in a later turn of the loop.
  void leave(core::time_point deadline, handler<release_outcome> done);

  void close();

 private:
  void write_names();
  void written(const reply_or_failure& what);
  void write_news();
  [[nodiscard]] put entry_of(std::size_t election) const;
  void keep();
  void again();
  void later(void (membership::*what)());
  template <class Handler>
  auto guarded(Handler what);

  base::event_loop& loop_;
  cluster& cluster_;
  lease_ids& ids_;
  std::string identity_;
  std::string peer_;
  core::duration ttl_;
  const std::vector<settings::election>& elections_;
  base::timer timer_;
  own_entries own_;
  std::int64_t lease_ = 0;  ///< asked for or granted; 0: none
  bool is_listed_ = false;  ///< our names are written
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::etcd
