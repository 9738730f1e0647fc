#include "core/succession.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/backoff.hpp"

namespace tenure::core {
namespace {

/// The longest time from the end of a term to the news of the next grant, on a busy store.
constexpr duration grant_travel_time = std::chrono::milliseconds(100);
constexpr duration longest_pause = std::chrono::seconds(2);
/// With a short TTL the pauses are a part of it.
constexpr int pauses_per_ttl = 10;

readiness said_by(const member& one) {
  return one.says.value_or(readiness{});
}

bool is_ready(const member& one) {
  return !one.says || one.says->since_unix_ms != 0;
}

}  // namespace

bool comes_before(const member& a, const member& b, bool prefer_newer) {
  const readiness one = said_by(a);
  const readiness other = said_by(b);
  if (one.priority != other.priority) return one.priority > other.priority;
  if (prefer_newer && one.started_unix_ms != other.started_unix_ms) {
    return one.started_unix_ms > other.started_unix_ms;
  }
  if (one.since_unix_ms != other.since_unix_ms) return one.since_unix_ms < other.since_unix_ms;
  return a.identity < b.identity;
}

void succession::observe(const observation& seen, std::string_view identity,
                         const succession_settings& self) {
  note_holders(seen);
  next_.reset();
  ahead_ = 0;
  if (!seen.members) return;
  const member* own = seen.members->find(identity);
  const bool is_listed = own != nullptr;
  member us{.identity = std::string(identity)};
  if (is_listed && counts(*own, seen)) {
    us = *own;
  } else {
    // What we say is not there yet, and so newer than all that is.
    us.says = readiness{.since_unix_ms = std::numeric_limits<std::int64_t>::max(),
                        .priority = self.priority,
                        .started_unix_ms = self.started_unix_ms};
  }
  for (const member& one : *seen.members) {
    if (!counts(one, seen)) continue;
    if (!next_ || comes_before(one, *next_, self.prefer_newer)) next_ = one;
    if (one.identity == identity) continue;
    // A member that is not listed comes behind all that are.
    if (!is_listed || comes_before(one, us, self.prefer_newer)) ++ahead_;
  }
}

/// Takes note of what holders have said, and forgets what is not there any more.
void succession::note_holders(const observation& seen) {
  if (!seen.members) return spent_.clear();
  std::erase_if(spent_, [&](const member& one) {
    const member* now = seen.members->find(one.identity);
    return now == nullptr || *now != one;
  });
  for (const holder& one : seen.holders) {
    const member* now = seen.members->find(one.identity);
    if (now == nullptr) continue;
    if (std::ranges::find(spent_, *now) == spent_.end()) spent_.push_back(*now);
  }
}

/// True if the entry makes its member one of those that may come next.
bool succession::counts(const member& one, const observation& seen) const {
  return is_ready(one) && std::ranges::find(spent_, one) == spent_.end() &&
         std::ranges::find(seen.holders, one.identity, &holder::identity) == seen.holders.end();
}

duration pause_behind(std::size_t ahead, const timing& when, std::uint64_t entropy) {
  if (ahead == 0) return duration::zero();
  // Half of a step is fixed: see backoff.
  const backoff pauses{.first = std::min(2 * grant_travel_time, when.ttl / pauses_per_ttl),
                       .most = std::min(longest_pause, when.ttl)};
  constexpr std::size_t enough = 64;
  return pauses.after(static_cast<std::uint32_t>(std::min(ahead, enough)), entropy);
}

}  // namespace tenure::core
