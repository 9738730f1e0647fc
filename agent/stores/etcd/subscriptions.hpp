#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/mirror.hpp"
#include "stores/etcd/watcher.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// The watches of elections, and what each has shown.
///
/// A watch first shows the state at the call, which the mirror may not have reached yet: the store
/// reads that state from etcd, for many elections at a time, and waits until the mirror shows it or
/// a later one.
///
/// Where there are many members, a watch that would show nothing new but members waits and shows
/// many changes at once: each one that comes or goes is told to all, and if each were shown, a
/// thousand that start together would do nothing else for minutes.
///
/// Used on its loop only. No handler is called after `close`. A handler may open its watch again or
/// close the store.
class subscriptions {
 public:
  /// `in_line` says whether we have a place in line in an election, or may have one.
  subscriptions(base::event_loop& on, cluster& through, const std::vector<mirror>& mirrors,
                const std::vector<key_range>& ranges, watcher& connection,
                std::function<bool(core::election_index)> in_line);

  /// Opens the watch of one election, or opens it again.
  void add(core::election_index which, watch_handler seen);

  /// Call when the mirror of this election may show something new.
  void changed(core::election_index which);

  /// Call when the mirrors have just been read and are followed.
  void all_changed();

  /// Call when the mirrors are no longer followed: ends all watches, and tells them why.
  void broken(const std::string& why);

  void close();

 private:
  struct subscribers {
    watch_handler seen;
    std::uint64_t opened = 0;  ///< counts the openings of this watch
    bool waits = false;        ///< for the state at its opening
    std::optional<core::observation> shown;
    std::uint64_t shown_changes = 0;  ///< the mirror's, then
    /// Revision and keys of that state, once known.
    std::optional<std::pair<std::uint64_t, std::vector<key_value>>> present;
  };
  /// An opening whose state must be read from etcd.
  struct opening {
    core::election_index which{};
    std::uint64_t number = 0;
  };

  [[nodiscard]] core::observation observe(core::election_index which) const;
  void show(core::election_index which);
  [[nodiscard]] bool may_wait(core::election_index which) const;
  void show_late_ones();
  void look();
  void look_at(std::vector<opening> some);
  [[nodiscard]] subscribers& of(core::election_index which) { return all_[core::place(which)]; }

  base::event_loop& loop_;
  cluster& cluster_;
  const std::vector<mirror>& mirrors_;
  const std::vector<key_range>& ranges_;
  watcher& watcher_;
  std::function<bool(core::election_index)> in_line_;
  std::vector<subscribers> all_;
  std::vector<opening> to_look_;
  std::set<core::election_index> late_;  ///< their members have changed, and that may wait
  base::timer late_timer_;
  std::uint64_t openings_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::etcd
