#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/lease_group.hpp"

namespace tenure::stores {

/// How long a namesake that may have been there before us, and gives no sign of life, counts as
/// another run that lives. One that lives answers to the appearance of our name in milliseconds.
/// After this time it is an earlier run of ours that has crashed.
inline constexpr std::chrono::seconds namesake_doubt{2};

/// A name in a list of members that is ours, and was written by another run.
struct namesake {
  std::string key;
  /// How often that run has answered its namesakes; nothing: its release does not answer.
  std::optional<std::uint64_t> answers;
  bool is_later = false;  ///< its name appeared after ours
};

/// What a list of members says of our name.
struct names_like_ours {
  std::vector<namesake> others;
  bool has_ours = false;  ///< we are in the list
};

/// Searches a list of members by key, each with `identity` and `ours`. `place_of`: of a member,
/// when it was listed, in the store's count. `answers_of`: of a key and its member, see `namesake`.
template <class Members, class PlaceOf, class AnswersOf>
names_like_ours find_names_like_ours(const Members& members, std::string_view identity,
                                     PlaceOf place_of, AnswersOf answers_of) {
  names_like_ours out;
  std::vector<std::uint64_t> places;  // of the others
  std::uint64_t our_place = UINT64_MAX;
  for (const auto& [key, one] : members) {
    const std::uint64_t its = std::invoke(place_of, one);
    if (one.ours) {
      our_place = std::min(our_place, its);
      out.has_ours = true;
    } else if (one.identity == identity) {
      out.others.push_back({.key = key, .answers = answers_of(key, one)});
      places.push_back(its);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i) out.others[i].is_later = places[i] > our_place;
  return out;
}

/// Tells namesakes that live from those that have crashed and are still listed. Each run answers to
/// a namesake that appears, by writing what it says of itself anew, with a larger number of
/// answers. To one that appeared after it, it answers whenever that writes a larger number: that
/// one may have lost sight of it, and sees it as new. Nobody answers to an earlier one twice, so
/// this ends.
///
/// For stores whose lists do not change while a member lives. Used on its loop only. No handler is
/// called after `close`.
class namesakes {
 public:
  struct handlers {
    /// A namesake waits for our answer. Called from within `see`.
    std::function<void(core::election_index)> answer;
    /// A namesake has turned out to be over. Called in a later turn of the loop.
    std::function<void(core::election_index)> changed;
  };

  namesakes(base::event_loop& on, std::size_t elections, handlers tell)
      : loop_(on), tell_(std::move(tell)), all_(elections), timer_(on) {}

  /// Call with all namesakes of an election whenever its list may have changed. `is_listed`: the
  /// list has our own name. `missed`: changes may have been missed before, so those that are new
  /// may have crashed since.
  void see(core::election_index which, const std::vector<namesake>& shown, bool is_listed,
           bool missed);

  /// True if the run that has written this name is over.
  [[nodiscard]] bool is_over(std::string_view key) const { return over_.contains(key); }

  void close() {
    alive_.reset();
    timer_.cancel();
  }

 private:
  struct entry {
    namesake shown{};
    bool lives = false;
    core::time_point doubted_until = core::never;  ///< it can have seen our name since before
  };

  void look();

  base::event_loop& loop_;
  handlers tell_;
  std::vector<std::vector<entry>> all_;      ///< by election
  std::set<std::string, std::less<>> over_;  ///< keys
  base::timer timer_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores
