#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/clock.hpp"

namespace tenure::core {

/// The agent sends a store at least this many requests per ttl: a holder renews, and a standby asks
/// whether its watch is still served.
inline constexpr int store_looks_per_ttl = 3;

/// What happens between the agent and a store, in any request or watch.
namespace contact {

/// It has answered a request, even if with a refusal.
struct answered {};

/// Its watch is still served: what it has shown of every election is up to date now.
struct showed {};

/// A request that was sent at `asked_at` has no answer; `why` says what failed, and at which
/// endpoint.
struct failed {
  time_point asked_at{};
  std::string why;
};

/// The watches broke, for the reason `why`. They are opened again.
struct watch_broke {
  std::string why;
};

}  // namespace contact

using contact_event =
    std::variant<contact::answered, contact::showed, contact::failed, contact::watch_broke>;

/// Whether a store answers, from its newest answers and failures. A value that is copied to those
/// who show it; what depends on the present time is computed on each call.
///
/// The store is reachable while it answers. It is unreachable from the moment a request fails until
/// a later answer arrives, and once it has been silent for `longest_silence`, when two answers in a
/// row are missing (see store_looks_per_ttl).
///
/// Not thread-safe.
class store_contact {
 public:
  store_contact() = default;
  explicit store_contact(duration ttl) : longest_silence_(2 * ttl / store_looks_per_ttl) {}

  void take(time_point now, const contact_event& what);

  [[nodiscard]] bool reachable(time_point now) const;

  /// The time since it last answered or showed something; nothing if it never did.
  [[nodiscard]] std::optional<duration> silence(time_point now) const;

  /// When the watch was last known to be served; `time_point::min()` if it never was.
  [[nodiscard]] time_point showed_at() const { return showed_at_; }

  /// What does not work, for people; empty if everything works.
  [[nodiscard]] std::string why(time_point now) const;

  /// When silence makes it unreachable; `never` if it is unreachable already.
  [[nodiscard]] time_point silent_from() const;

  /// True if both show the same, apart from what depends on the present time.
  [[nodiscard]] bool shows_same(const store_contact& other) const {
    return failure_ == other.failure_ && broken_watch_ == other.broken_watch_ &&
           was_heard() == other.was_heard();
  }

 private:
  void on(time_point now, const contact::answered&);
  void on(time_point now, const contact::showed&);
  void on(time_point now, const contact::failed& what);
  void on(time_point now, const contact::watch_broke& what);
  void hear(time_point now);
  [[nodiscard]] bool was_heard() const { return heard_at_ != time_point::min(); }

  duration longest_silence_ = duration::max();
  time_point heard_at_ = time_point::min();     ///< anything
  time_point answered_at_ = time_point::min();  ///< a request
  time_point showed_at_ = time_point::min();
  time_point failed_at_ = time_point::min();
  std::string failure_;       ///< why a request has failed since the last answer; empty: none has
  std::string broken_watch_;  ///< why the watch broke; empty: it is not broken
};

}  // namespace tenure::core
