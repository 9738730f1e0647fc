#include "core/timing.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/check.hpp"

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t million = 1'000'000;

/// Rounds up: the margin may be a nanosecond too long, never too short.
duration drift_of(duration ttl, std::uint32_t drift_ppm) {
  const auto whole = ttl.count() / million * drift_ppm;
  const auto rest = (ttl.count() % million * drift_ppm + million - 1) / million;
  return duration(whole + rest);
}

std::string percent(std::uint32_t drift_ppm) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%g %%", static_cast<double>(drift_ppm) / 10'000.0);
  return out.data();
}

/// The sum behind stop_at, as a sentence.
std::string sum(const timing& t) {
  const budget b = t.of(t.ttl);
  return "ttl " + text(t.ttl) + " - drift " + text(t.ttl - b.safe_until) + " (" +
         percent(t.drift_ppm) + ") - kill_budget " + text(t.kill_budget) + " - grace " +
         text(t.grace) + " = stop_at " + text(b.stop_at) + " after the send";
}

void require_range(const char* setting, duration value, duration least, duration most,
                   std::vector<timing_problem>& problems) {
  if (value >= least && value <= most) return;
  problems.push_back({setting, std::string(setting) + " is " + text(value) + "; it must be from " +
                                   text(least) + " to " + text(most)});
}

/// The setting that an impossible budget is reported for: one that the user has written.
const char* to_blame(const timing_request& asked) {
  if (asked.renew) return "renew";
  if (asked.grace) return "grace";
  if (asked.kill_budget) return "kill_budget";
  return asked.drift_ppm != default_drift_ppm ? "drift" : "ttl";
}

}  // namespace

budget timing::of(duration granted_ttl) const {
  const duration safe = granted_ttl - drift_of(granted_ttl, drift_ppm);
  return {.safe_until = safe, .kill_at = safe - kill_budget, .stop_at = safe - kill_budget - grace};
}

duration timing::try_timeout() const {
  return std::min(renew, (of(ttl).stop_at - renew) / tries_in_budget);
}

bool timing::fits(duration granted_ttl) const {
  return of(granted_ttl).stop_at - renew >= tries_in_budget * min_try_timeout;
}

std::expected<timing, std::vector<timing_problem>> resolve(const timing_request& asked) {
  std::vector<timing_problem> problems;
  require_range("ttl", asked.ttl, min_ttl, max_ttl, problems);
  if (asked.drift_ppm > max_drift_ppm) {
    problems.push_back({"drift", "drift is " + percent(asked.drift_ppm) + "; it must be at most " +
                                     percent(max_drift_ppm)});
  }
  if (!problems.empty()) return std::unexpected(std::move(problems));

  timing t{};
  t.ttl = asked.ttl;
  t.renew = asked.renew.value_or(asked.ttl / 3);
  t.grace = asked.grace.value_or(std::min(default_grace, asked.ttl / 7));
  t.kill_budget = asked.kill_budget.value_or(std::min(default_kill_budget, asked.ttl / 20));
  t.lock_delay = asked.lock_delay.value_or(
      std::min(t.kill_budget + std::min(news_travel_time, asked.ttl / 20), t.ttl));
  t.drain = asked.drain.value_or(default_drain);
  t.drift_ppm = asked.drift_ppm;

  require_range("renew", t.renew, min_try_timeout, t.ttl, problems);
  require_range("grace", t.grace, duration::zero(), t.ttl, problems);
  require_range("kill_budget", t.kill_budget, 1ms, t.ttl, problems);
  require_range("lock_delay", t.lock_delay, duration::zero(), t.ttl, problems);
  require_range("drain", t.drain, duration::zero(), max_drain, problems);
  if (!problems.empty()) return std::unexpected(std::move(problems));

  const duration stop_at = t.of(t.ttl).stop_at;
  if (!t.fits(t.ttl)) {
    const duration needed = t.renew + tries_in_budget * min_try_timeout;
    problems.push_back({to_blame(asked),
                        "the time budget does not add up: " + sum(t) +
                            ", but a renewal is due after " + text(t.renew) +
                            " and two tries of at least " + text(min_try_timeout) +
                            " must fit before stop_at, which needs " + text(needed) + "; " +
                            text(needed - stop_at) +
                            " are missing. Raise ttl, or lower grace, kill_budget or " + "renew"});
    return std::unexpected(std::move(problems));
  }
  return t;
}

consequences explain(const timing& t, duration expiry_lag) {
  const budget b = t.of(t.ttl);
  return {
      .worst_failover = t.ttl + expiry_lag + t.lock_delay,
      .detection = b.stop_at,
      .margin = t.ttl - b.kill_at,
      .tries_window = b.stop_at - t.renew,
      .try_timeout = t.try_timeout(),
      .writes_per_hour = 3600.0 / std::chrono::duration<double>(t.renew).count(),
  };
}

std::string text(duration d) {
  struct unit {
    double nanoseconds;
    const char* suffix;
  };
  static constexpr std::array<unit, 4> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  if (d == duration::zero()) return "0s";
  if (d % std::chrono::hours(1) == duration::zero()) {
    return std::to_string(d / std::chrono::hours(1)) + "h";
  }
  const auto count = static_cast<double>(d.count());
  const double size = count < 0 ? -count : count;
  for (const unit& u : units) {
    if (size < u.nanoseconds) continue;
    std::array<char, 48> out{};
    std::snprintf(out.data(), out.size(), "%.10g%s", count / u.nanoseconds, u.suffix);
    // Three decimals are enough to read: 666.666667ms would only hide the number.
    if (out[0] != '\0' && std::string_view(out.data()).size() > 9) {
      std::snprintf(out.data(), out.size(), "%.3f%s", count / u.nanoseconds, u.suffix);
    }
    return out.data();
  }
  return "0s";
}

}  // namespace tenure::core
