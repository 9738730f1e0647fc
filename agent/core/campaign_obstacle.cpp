#include "core/campaign_obstacle.hpp"

#include <algorithm>

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
    case campaign_obstacle::other_slots:
      return "other_slots";
    case campaign_obstacle::identity_used:
      return "identity_used";
    case campaign_obstacle::old_version:
      return "old_version";
  }
  return "";
}

std::vector<std::string> keepers_of_slots(const observation& seen, std::string_view identity) {
  std::vector<std::string> out;
  for (const holder& one : seen.holders) out.push_back(one.identity);
  for (const member& one : seen.members.value_or(member_list())) {
    const std::uint32_t its = one.says ? one.says->slots : 0;
    if (one.identity != identity && (its == 0 || its == seen.agreed.slots)) {
      out.push_back(one.identity);
    }
  }
  std::ranges::sort(out);
  const auto again = std::ranges::unique(out);
  out.erase(again.begin(), again.end());
  return out;
}

/// How this member's settings differ from the store. A difference does not end a term: the holder
/// matched the store when its term began.
campaign_obstacle election::disagreement() const {
  using enum campaign_obstacle;
  if (adopting() || !view_.seen) return none;
  const std::uint32_t agreed = view_.seen->agreed.slots;
  const bool differs = agreed != 0 && agreed != settings_.slots;
  if (differs && !keepers_of_slots(*view_.seen, settings_.identity).empty()) return other_slots;
  return view_.seen->identity_in_use ? identity_used : none;
}

/// If there are several obstacles, the one that lasts longest.
held_back election::obstacle_at(time_point now) const {
  using enum campaign_obstacle;
  if (view_.phase != phase::candidate || view_.since == never) return {};
  if (aside_until_ == never) return {.why = paused};
  if (const campaign_obstacle why = disagreement(); why != none) return {.why = why};
  if (!guarded_) return {.why = no_guard};
  if (!healthy_) return {.why = unhealthy};
  if (now < aside_until_) {
    return {.why = view_.regressed ? old_version : resigned, .until = aside_until_};
  }
  if (now < rest_until_) return {.why = was_unhealthy, .until = rest_until_};
  const bool vacant = !view_.seen || view_.seen->holders.size() < settings_.slots;
  if (vacant && now < heir_first_until_) return {.why = heir_first, .until = heir_first_until_};
  return {};
}

}  // namespace tenure::core
