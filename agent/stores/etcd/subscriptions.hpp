#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/mirror.hpp"
#include "stores/etcd/watcher.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// Who watches which election, and what they know.
///
/// What is shown first is the state at the call, which the mirror may not have reached: etcd is
/// asked for it, for many elections at a time, and the mirror speaks once it shows that or later.
///
/// Used on its loop only. No handler is called after `close`; one may open its watch again or
/// close the store.
class subscriptions {
 public:
  subscriptions(base::event_loop& on, cluster& through, const std::vector<mirror>& mirrors,
                const std::vector<key_range>& ranges, watcher& connection);

  /// Opens the watch of one election, or opens it again.
  void add(core::election_index which, watch_handler seen);

  /// Its mirror may show something new.
  void changed(core::election_index which);

  /// The mirrors have just been read, and are followed.
  void all_changed();

  /// They are not: ends all watches, and tells why.
  void broken(const std::string& why);

  void close();

 private:
  struct subscribers {
    watch_handler seen;
    std::uint64_t opened = 0;  ///< which opening of it this is
    bool waits = false;        ///< for the state at its opening
    std::optional<core::observation> shown;
    /// Revision and keys of that state, once it is known.
    std::optional<std::pair<std::uint64_t, std::vector<key_value>>> present;
  };
  /// An opening whose state has to be asked for.
  struct opening {
    core::election_index which{};
    std::uint64_t number = 0;
  };

  void look();
  void look_at(std::vector<opening> some);
  [[nodiscard]] subscribers& of(core::election_index which) { return all_[core::place(which)]; }

  base::event_loop& loop_;
  cluster& cluster_;
  const std::vector<mirror>& mirrors_;
  const std::vector<key_range>& ranges_;
  watcher& watcher_;
  std::vector<subscribers> all_;
  std::vector<opening> to_look_;
  std::uint64_t openings_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::etcd
