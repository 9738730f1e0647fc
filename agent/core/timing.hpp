#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"

/// The arithmetic of the time budget.
///
///     s          = CLOCK_BOOTTIME just before the last acknowledged renewal was sent
///     safe_until = s + granted_ttl * (1 - drift)   nobody else can be granted before this
///     kill_at    = safe_until - kill_budget        SIGKILL to every process that is left
///     stop_at    = kill_at - grace                 not holder in any answer from now on, SIGTERM
namespace tenure::core {

inline constexpr duration default_ttl = std::chrono::seconds(15);
inline constexpr duration default_grace = std::chrono::seconds(2);
inline constexpr duration default_kill_budget = std::chrono::milliseconds(500);
/// The part of lock_delay in which the news of a loss reaches the holder.
inline constexpr duration news_travel_time = std::chrono::milliseconds(500);
inline constexpr duration default_drain = std::chrono::seconds(20);
/// Clock rates may differ by this much; 10,000 parts per million are 1 %.
inline constexpr std::uint32_t default_drift_ppm = 10'000;

inline constexpr duration min_ttl = std::chrono::seconds(1);
inline constexpr duration max_ttl = std::chrono::hours(24);
inline constexpr duration max_drain = std::chrono::hours(24);
inline constexpr std::uint32_t max_drift_ppm = 200'000;
/// A shorter try times out on a busy machine although store and network are fine.
inline constexpr duration min_try_timeout = std::chrono::milliseconds(50);
/// Tries that must fit between a due renewal and stop_at.
inline constexpr int tries_in_budget = 2;

/// The settings as given. Unset ones follow the TTL, so that `ttl = 2s` alone works.
struct timing_request {
  duration ttl = default_ttl;
  std::optional<duration> renew{};        ///< ttl / 3
  std::optional<duration> grace{};        ///< min(2 s, ttl / 7)
  std::optional<duration> kill_budget{};  ///< min(500 ms, ttl / 20)
  /// kill_budget + min(500 ms, ttl / 20): the holder kills as soon as it learns that its key is
  /// gone; the second part is the time it has to learn it.
  std::optional<duration> lock_delay{};
  std::optional<duration> drain{};  ///< 20 s
  std::uint32_t drift_ppm = default_drift_ppm;
};

/// Offsets from the send of the last acknowledged renewal.
struct budget {
  duration safe_until;
  duration kill_at;
  duration stop_at;
};

/// Settings that add up. Only `resolve` makes them.
struct timing {
  duration ttl;
  duration renew;
  duration grace;
  duration kill_budget;
  duration lock_delay;
  duration drain;  ///< time that a workload gets to end on a resign or shutdown, while renewing
  std::uint32_t drift_ppm;

  /// The deadlines that follow from `granted_ttl`, which the store chooses: it may differ from the
  /// one asked for.
  [[nodiscard]] budget of(duration granted_ttl) const;
  /// The timeout of one try: half of the time from a due renewal to stop_at, at most the renewal
  /// interval.
  [[nodiscard]] duration try_timeout() const;
  /// True if a lease of this length still leaves room for a renewal and its retry.
  [[nodiscard]] bool fits(duration granted_ttl) const;
};

/// A setting that does not fit the others, for people.
struct timing_problem {
  std::string setting;  ///< the setting to change, e.g. "grace"
  std::string text;     ///< the sum with its numbers, and what to do
};

/// Fills in unset settings from the TTL and checks that all fit together. Returns all problems at
/// once.
std::expected<timing, std::vector<timing_problem>> resolve(const timing_request& asked);

/// What the numbers mean for a user; `tenure explain` prints it.
struct consequences {
  duration worst_failover;  ///< holder vanishes just after a renewal -> next workload starts
  duration detection;       ///< last acknowledged renewal -> the holder's own stop
  duration margin;          ///< holder's last process dead -> earliest grant to another
  duration tries_window;    ///< from a due renewal to stop_at
  duration try_timeout;     ///< the deadline of one try
  double writes_per_hour;   ///< how often a holder writes
};

/// `expiry_lag`: how late the store itself may notice an expiry.
consequences explain(const timing& t, duration expiry_lag);

/// "15s", "1.5s", "666.667ms": for people, rounded to three decimals of the unit.
std::string text(duration d);

}  // namespace tenure::core
