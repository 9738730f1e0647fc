#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/clock.hpp"

namespace tenure::core {

/// How often in a ttl a store is given something to answer, at the least: a holder renews, and the
/// watch of a standby is asked whether it is still served.
inline constexpr int store_looks_per_ttl = 3;

/// What is heard of a store, whoever asked it.
namespace contact {

/// It has answered a request, be it with a refusal.
struct answered {};

/// Its watch is still served: what that has shown of every election is so as of now.
struct showed {};

/// A request that was sent at `asked_at` has no answer; `why` says what failed, against what.
struct failed {
  time_point asked_at{};
  std::string why;
};

/// The watches are broken, and why. They are opened again.
struct watch_broke {
  std::string why;
};

}  // namespace contact

using contact_event =
    std::variant<contact::answered, contact::showed, contact::failed, contact::watch_broke>;

/// How a store answers, by the newest of its answers and failures. A value that can be copied to
/// those who show it; what follows from time is computed for each answer.
///
/// The store is reachable while it answers. It is not from the moment when a request fails to which
/// no later answer has come, and not once it has said nothing for `longest_silence`: then two
/// answers in a row are missing (see store_looks_per_ttl).
///
/// Not thread-safe.
class store_contact {
 public:
  store_contact() = default;
  explicit store_contact(duration ttl) : longest_silence_(2 * ttl / store_looks_per_ttl) {}

  void take(time_point now, const contact_event& what);

  [[nodiscard]] bool reachable(time_point now) const;

  /// Since it last answered or showed something; nothing if it never did.
  [[nodiscard]] std::optional<duration> silence(time_point now) const;

  /// When the watch was last known to be served; `time_point::min()` if it never was.
  [[nodiscard]] time_point showed_at() const { return showed_at_; }

  /// What does not work, for a person; empty if all does.
  [[nodiscard]] std::string why(time_point now) const;

  /// When time alone makes it unreachable; `never` if it is so already.
  [[nodiscard]] time_point silent_from() const;

  /// True if answers say the same of both, but for what follows from time.
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
  std::string failure_;       ///< of a request, not answered since; empty: none
  std::string broken_watch_;  ///< why; empty: it is not broken
};

}  // namespace tenure::core
