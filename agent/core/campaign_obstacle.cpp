#include "core/campaign_obstacle.hpp"

#include "core/election.hpp"

namespace tenure::core {

std::string_view name(campaign_obstacle what) {
  switch (what) {
    case campaign_obstacle::none:
      return "none";
    case campaign_obstacle::paused:
      return "paused";
    case campaign_obstacle::no_guard:
      return "no_guard";
    case campaign_obstacle::unhealthy:
      return "unhealthy";
    case campaign_obstacle::resigned:
      return "resigned";
    case campaign_obstacle::was_unhealthy:
      return "was_unhealthy";
    case campaign_obstacle::heir_first:
      return "heir_first";
  }
  return "";
}

/// Of several, the one that lasts longest.
held_back election::obstacle_at(time_point now) const {
  using enum campaign_obstacle;
  if (view_.phase != phase::candidate || view_.since == never) return {};
  if (aside_until_ == never) return {.why = paused};
  if (!guarded_) return {.why = no_guard};
  if (!healthy_) return {.why = unhealthy};
  if (now < aside_until_) return {.why = resigned, .until = aside_until_};
  if (now < rest_until_) return {.why = was_unhealthy, .until = rest_until_};
  const bool vacant = !view_.seen || view_.seen->holders.size() < settings_.slots;
  if (vacant && now < heir_first_until_) return {.why = heir_first, .until = heir_first_until_};
  return {};
}

}  // namespace tenure::core
