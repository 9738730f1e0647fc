#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// The open watches of a store: their handlers, and what each was shown last.
///
/// One look reads all of them. At most one look is under way, and at most one more is wanted after
/// it, however many changes happen meanwhile. Does no I/O. Not thread-safe.
class subscriptions {
 public:
  explicit subscriptions(std::size_t elections) : watches_(elections) {}

  /// Opens the watch, or opens it again. The first state that it shows is from a later look.
  void add(core::election_index which, watch_handler seen);

  /// What the next look has to read. Empty: nothing is watched, or a look is under way and another
  /// one will follow.
  std::vector<core::election_index> begin_look();

  /// False if `which` was opened again after the present look began: its result is too old for this
  /// watch, and another look follows.
  [[nodiscard]] bool concerned(core::election_index which) const;

  /// Ends the look under way. True if another one is wanted now.
  bool end_look();

  /// Calls the handler of `which`, unless it knows this state already. The handler may open the
  /// watch again or close the store.
  void show(core::election_index which, const core::observation& seen);

  /// Ends the watch of `which` and tells its handler why.
  void fail(core::election_index which, const unknown& why);

  [[nodiscard]] std::size_t size() const { return watches_.size(); }

 private:
  struct entry {
    watch_handler seen;
    std::optional<core::observation> shown;
    std::uint64_t from_look = 0;  ///< looks before this one began before the watch
  };

  std::vector<entry> watches_;
  std::uint64_t look_ = 0;
  bool looking_ = false;
  bool again_ = false;
};

}  // namespace tenure::stores::sqlite
