#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// The open watches of a store: who is to be told, and what they were told last.
///
/// All of them are looked at together. At most one look is under way, and at most one more is
/// wanted behind it, however many changes there are meanwhile. Does no I/O. Not thread-safe.
class subscriptions {
 public:
  explicit subscriptions(std::size_t elections) : watches_(elections) {}

  /// Opens the watch, or opens it again. The first state that it shows is from a later look.
  void add(core::election_index which, watch_handler seen);

  /// What the next look is to read. Empty: nothing is watched, or a look is under way and
  /// another will follow it.
  std::vector<core::election_index> begin_look();

  /// False if `which` was opened again since the look under way began: what that has found is too
  /// old for it, and another look follows.
  [[nodiscard]] bool concerned(core::election_index which) const;

  /// Ends the look under way, and says whether another is wanted now.
  bool end_look();

  /// Tells whoever watches `which` and does not know this yet. The handler may open the watch
  /// again or close the store.
  void show(core::election_index which, const core::observation& seen);

  /// Ends the watch `which`, and tells why.
  void fail(core::election_index which, const unknown& why);

  [[nodiscard]] std::size_t size() const { return watches_.size(); }

 private:
  struct entry {
    watch_handler seen;
    std::optional<core::observation> shown;
    std::uint64_t from_look = 0;  ///< earlier looks began before the watch did
  };

  std::vector<entry> watches_;
  std::uint64_t look_ = 0;
  bool looking_ = false;
  bool again_ = false;
};

}  // namespace tenure::stores::sqlite
