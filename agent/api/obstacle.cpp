#include "api/obstacle.hpp"

#include <chrono>

#include "core/timing.hpp"

namespace tenure::api {
namespace {

std::string again_in(core::time_point until, const instant& at) {
  return "it campaigns again in " +
         core::text(std::chrono::ceil<std::chrono::seconds>(until - at.now));
}

std::string health_reason(const snapshot& seen) {
  return seen.health && !seen.health->reason.empty() ? ": " + seen.health->reason : "";
}

/// The member that the last holder has named.
std::string heir_of(const election_snapshot& election) {
  const auto& last = election.view.seen;
  return last && last->parting ? last->parting->heir : "another member";
}

std::string text_of(const core::held_back& what, const election_snapshot& election,
                    const snapshot& seen, const instant& at) {
  switch (what.why) {
    case core::campaign_obstacle::none:
      break;
    case core::campaign_obstacle::paused:
      return "it is paused, until it is told to resume";
    case core::campaign_obstacle::no_guard:
      return "it has no guard that could run its workload";
    case core::campaign_obstacle::unhealthy:
      return "its workload is unhealthy" + health_reason(seen);
    case core::campaign_obstacle::resigned:
      return "it was told to resign; " + again_in(what.until, at);
    case core::campaign_obstacle::was_unhealthy:
      return "its workload was unhealthy; " + again_in(what.until, at);
    case core::campaign_obstacle::heir_first:
      return "it lets " + heir_of(election) + " come first, as the last holder has asked";
  }
  return {};
}

}  // namespace

std::optional<obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                    const instant& at) {
  const core::held_back& what = election.view.held_back;
  if (what.why == core::campaign_obstacle::none || what.until <= at.now) return std::nullopt;
  return obstacle{.reason = core::name(what.why), .text = text_of(what, election, seen, at)};
}

}  // namespace tenure::api
