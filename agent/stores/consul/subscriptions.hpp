#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/consul/line.hpp"
#include "stores/consul/shared_state.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// The watches of elections, and what each has shown.
///
/// A watch first shows the state at the call, which the mirror may not have reached yet: so the
/// watcher looks first.
///
/// Used on its loop only. No handler is called after `close`. A handler may open its watch again or
/// close the store.
class subscriptions {
 public:
  /// `places` must outlive it.
  subscriptions(shared_state& of, const line& places)
      : shared_(of), line_(places), all_(of.with.elections.size()) {}

  /// Opens the watch of one election, or opens it again.
  void add(core::election_index which, watch_handler seen);

  /// Call when the mirror of this election may show something new.
  void changed(core::election_index which);

  /// Call when the mirror has just been read and is followed.
  void live(core::election_index which);

  /// Call when these mirrors are no longer followed: ends their watches, and tells them why.
  void broken(const std::vector<core::election_index>& which, const std::string& why);

  void close() { alive_.reset(); }

 private:
  struct subscriber {
    watch_handler seen;
    std::uint64_t opened = 0;  ///< counts the openings of this watch
    bool waits = false;        ///< for the state at its opening
    std::optional<core::observation> shown;
  };

  [[nodiscard]] subscriber& of(core::election_index which) { return all_[core::place(which)]; }

  shared_state& shared_;
  const line& line_;
  std::vector<subscriber> all_;
  std::uint64_t openings_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::consul
