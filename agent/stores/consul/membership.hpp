#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
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

  /// Another run has our name: writes that we live.
  void answer_namesake(core::election_index which);

  /// The session that we offer in this election from now on, as the one that comes next; empty:
  /// none. See line.hpp.
  void offer(core::election_index which, std::string session);

  /// True if others see an offer of ours in this election, or may see one.
  [[nodiscard]] bool may_offer(core::election_index which) const;

  /// Called when that has changed, in a later turn of the loop.
  void on_offer(std::function<void(core::election_index)> what) { on_offer_ = std::move(what); }

  /// Removes our name, by the deadline or not at all. `done` is called in a later turn of the loop.
  void leave(core::time_point deadline, handler<release_outcome> done);

  void close();

 private:
  struct place {
    std::string offer;  ///< empty: none
    /// An entry with an offer was sent, and one without is not known to have been written since.
    bool is_shown = false;
    bool is_taken_back = false;  ///< the entry that was sent last has no offer
  };

  void made(const reply_or_failure& what);
  void write_from(std::size_t first);
  void write_news();
  void written(std::size_t election);
  [[nodiscard]] lock entry_of(std::size_t election);
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
  std::vector<place> places_;  ///< by election
  std::function<void(core::election_index)> on_offer_;
  bool appears_ = false;    ///< a session is asked for or there
  std::string session_;     ///< empty: none yet
  bool is_listed_ = false;  ///< our names are written
  /// Owned by this object alone; handlers check through it whether this object still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::consul
