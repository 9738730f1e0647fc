#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/kubernetes/shared_state.hpp"
#include "stores/store.hpp"

namespace tenure::stores::kubernetes {

/// The watches of elections, and what each has shown.
///
/// A watch first shows the state at the call, which the mirror may not have reached yet: so it is
/// read first.
///
/// Used on its loop only. No handler is called after `close`. A handler may open its watch again or
/// close the store.
class subscriptions {
 public:
  explicit subscriptions(shared_state& of);

  /// Opens the watch of one election, or opens it again.
  void add(core::election_index which, watch_handler seen);

  /// Call when the mirror of this election may show something new.
  void changed(core::election_index which);

  /// Call when the mirror has just been read and is followed.
  void live(core::election_index which);

  /// Call when these mirrors are no longer followed: ends their watches, and tells them why.
  void broken(const std::vector<core::election_index>& which, const std::string& why);

  void close();

 private:
  struct subscriber {
    watch_handler seen;
    std::uint64_t opened = 0;  ///< counts the openings of this watch
    bool waits = false;        ///< for the state at its opening
    std::optional<core::observation> shown;
    std::string trouble;  ///< what the mirror told of then
  };

  [[nodiscard]] subscriber& of(core::election_index which) { return all_[core::place(which)]; }

  shared_state& shared_;
  std::vector<subscriber> all_;
  std::vector<std::unique_ptr<base::timer>>
      timers_;  ///< one an election, for what disappears in silence
  std::uint64_t openings_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::kubernetes
