#include "core/campaign_obstacle.hpp"

#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

using enum campaign_obstacle;

constexpr time_point start = start_of_talk;

conversation waiting() {
  conversation c;
  c.starts();
  c.is_refused();
  return c;
}

TEST(CampaignObstacle, ACandidateThatCampaignsHasNone) {
  EXPECT_EQ(waiting().view().held_back, held_back{});
  conversation active;
  active.becomes_active();
  EXPECT_EQ(active.view().held_back, held_back{});
  active.says(event::guard_away{});
  EXPECT_EQ(active.view().held_back, held_back{}) << "it is not a candidate";
}

TEST(CampaignObstacle, EachIsSaidWhileItLasts) {
  conversation c = waiting();
  c.at(1s).resigns(duration::max());
  EXPECT_EQ(c.view().held_back, (held_back{.why = paused}));
  c.says(event::resume{});
  EXPECT_EQ(c.view().held_back, held_back{});
  c.says(event::guard_away{});
  EXPECT_EQ(c.view().held_back, (held_back{.why = no_guard}));
  c.says(event::guard_back{});
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.view().held_back, (held_back{.why = unhealthy}));
  c.says(event::workload_healthy{});
  EXPECT_EQ(c.view().held_back, held_back{});
}

TEST(CampaignObstacle, StandingAsideEndsByItself) {
  conversation c = waiting();
  c.at(1s).resigns(10s);
  EXPECT_EQ(c.view().held_back, (held_back{.why = resigned, .until = start + 11s}));
  c.at(11s).wakes();
  EXPECT_EQ(c.view().held_back, held_back{});
}

TEST(CampaignObstacle, AfterAnUnhealthyTermOthersGoFirst) {
  conversation c;
  c.becomes_active();
  c.says(event::workload_unhealthy{});
  c.workload_exits();
  c.at(2s).is_released();
  EXPECT_EQ(c.view().held_back, (held_back{.why = was_unhealthy, .until = start + 17s}));
}

TEST(CampaignObstacle, TheHeirOfAVacantElectionComesFirst) {
  conversation c = waiting();
  c.says(shows_other());
  event::observed free = shows_free(core::version{6});
  free.what.last_release =
      release_record{.version = core::version{6}, .holder = "other", .heir = "b"};
  c.at(1s).says(free);
  EXPECT_EQ(c.view().held_back, (held_back{.why = heir_first, .until = start + 3s}));
  c.at(2s).says(shows({{"b", core::version{7}}}, core::version{7}));
  EXPECT_EQ(c.view().held_back, held_back{}) << "the heir holds";
}

TEST(CampaignObstacle, OfSeveralTheOneThatLastsLongestIsSaid) {
  conversation c = waiting();
  c.at(1s).resigns(10s);
  c.says(event::workload_unhealthy{});
  EXPECT_EQ(c.view().held_back.why, unhealthy);
  c.says(event::guard_away{});
  EXPECT_EQ(c.view().held_back.why, no_guard);
  c.resigns(duration::max());
  EXPECT_EQ(c.view().held_back.why, paused);
}

}  // namespace
}  // namespace tenure::core::testing
