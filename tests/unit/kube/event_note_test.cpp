#include "kube/event_note.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::kube {
namespace {

using core::loss_reason;
using std::chrono::seconds;

TEST(EventNote, AGainSaysItsVersion) {
  const event_note gain = gain_of("db", core::version{7}, false);
  EXPECT_EQ(gain.action, "Gain");
  EXPECT_EQ(gain.reason, "Active");
  EXPECT_FALSE(gain.is_warning);
  EXPECT_EQ(gain.note, "active: holds the lease of db, version 7");
  EXPECT_EQ(gain_of("db", core::version{7}, true).reason, "ActiveAgain");
}

TEST(EventNote, ALossSaysItsReason) {
  const event_note lost = loss_of("db", core::version{7}, loss_reason::renew_timeout);
  EXPECT_EQ(lost.action, "Lose");
  EXPECT_EQ(lost.reason, "RenewTimeout");
  EXPECT_TRUE(lost.is_warning);
  EXPECT_EQ(lost.note,
            "not active any more: no renewal was acknowledged in time (the lease of db, version "
            "7)");
  EXPECT_FALSE(loss_of("db", core::version{7}, loss_reason::shutdown).is_warning);
  EXPECT_FALSE(loss_of("db", core::version{7}, loss_reason::resigned).is_warning);
  EXPECT_TRUE(loss_of("db", core::version{7}, loss_reason::unhealthy).is_warning);
  const event_note gave_way = loss_of("db", core::version{7}, loss_reason::preempted);
  EXPECT_FALSE(gave_way.is_warning);
  EXPECT_EQ(gave_way.note,
            "not active any more: a member of higher priority is ready (the lease of db, version "
            "7)");
}

TEST(EventNote, EveryReasonHasAWordForPrograms) {
  for (const auto& [why, word] :
       {std::pair(loss_reason::none, "Lost"), std::pair(loss_reason::renew_timeout, "RenewTimeout"),
        std::pair(loss_reason::taken_over, "TakenOver"),
        std::pair(loss_reason::session_invalid, "SessionInvalid"),
        std::pair(loss_reason::revoked, "Revoked"), std::pair(loss_reason::suspended, "Suspended"),
        std::pair(loss_reason::unhealthy, "Unhealthy"),
        std::pair(loss_reason::resigned, "Resigned"),
        std::pair(loss_reason::preempted, "Preempted"),
        std::pair(loss_reason::shutdown, "Shutdown"),
        std::pair(loss_reason::workload_exited, "WorkloadExited"),
        std::pair(loss_reason::guard_gone, "GuardGone"),
        std::pair(loss_reason::container_died, "ContainerDied"),
        std::pair(loss_reason::version_regressed, "VersionRegressed"),
        std::pair(loss_reason::ttl_too_short, "TtlTooShort")}) {
    EXPECT_EQ(loss_of("db", core::version{1}, why).reason, word);
  }
}

TEST(EventLimit, SomeComeAtOnceThenOneFromTimeToTime) {
  event_limit limit;
  core::time_point now{};
  for (std::uint32_t i = 0; i < event_limit::at_once; ++i) {
    EXPECT_EQ(limit.let_through(now), 0U);
  }
  EXPECT_EQ(limit.let_through(now), std::nullopt);
  now += event_limit::then_one_in - seconds(1);
  EXPECT_EQ(limit.let_through(now), std::nullopt);
  now += seconds(1);
  EXPECT_EQ(limit.let_through(now), 2U) << "says how many were left out";
  EXPECT_EQ(limit.let_through(now), std::nullopt);
}

TEST(EventLimit, AQuietTimeAllowsSeveralAgain) {
  event_limit limit;
  core::time_point now{};
  while (limit.let_through(now)) {
  }
  now += event_limit::at_once * 2 * event_limit::then_one_in;
  for (std::uint32_t i = 0; i < event_limit::at_once; ++i) EXPECT_TRUE(limit.let_through(now));
  EXPECT_FALSE(limit.let_through(now));
}

}  // namespace
}  // namespace tenure::kube
