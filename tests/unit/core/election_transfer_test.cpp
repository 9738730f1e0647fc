// Transfers a lease to a named member.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

/// Nobody holds since term `gone` was released to `heir`.
event::observed shows_release(std::string heir, version gone = core::version{6}) {
  event::observed out = shows_free(gone);
  out.what.last_release = release_record{
      .version = gone, .holder = "other", .why = loss_reason::resigned, .heir = std::move(heir)};
  return out;
}

conversation waits_behind_other() {
  conversation c;
  c.starts();
  c.is_refused();
  c.says(shows_other());
  return c;
}

TEST(Transfer, TheHeirIsNamedWithTheReleaseAndForgottenAfterwards) {
  conversation c;
  c.becomes_active();
  c.resigns(30s, "b");
  c.workload_exits();
  EXPECT_EQ(c.subject().heir(), "b");
  c.is_released();
  EXPECT_EQ(c.subject().heir(), "");
}

TEST(Transfer, TheOthersLetTheHeirComeFirst) {
  conversation c = waits_behind_other();
  EXPECT_EQ(c.at(1s).says(shows_release("b")), "publish");
  EXPECT_EQ(c.next_wake(), 3s);
  EXPECT_EQ(c.at(2s).wakes(), "");
  EXPECT_EQ(c.at(3s).wakes(), "acquire") << "the heir may be dead";
}

TEST(Transfer, TheHeirCampaignsAtOnce) {
  conversation c = waits_behind_other();
  EXPECT_EQ(c.at(1s).says(shows_release("me")), "publish, acquire");
}

TEST(Transfer, AnHeirThatHadResignedItselfDoesNotStandAsideAnyMore) {
  conversation c = waits_behind_other();
  c.resigns(1h);
  EXPECT_EQ(c.at(1s).says(shows_release("me")), "publish, acquire");
}

TEST(Transfer, AnHeirThatIsPausedStaysPaused) {
  conversation c = waits_behind_other();
  c.resigns(duration::max());
  EXPECT_EQ(c.at(1s).says(shows_release("me")), "publish");
  EXPECT_TRUE(c.view().paused);
}

TEST(Transfer, AReleaseOfLongAgoKeepsNobodyWaiting) {
  conversation c;
  c.says(event::started{});
  EXPECT_EQ(c.at(1s).says(shows_release("b")), "publish, acquire")
      << "the first thing that the watch shows may be of any age";
}

TEST(Transfer, TheSameReleaseSeenAgainBuysTheHeirNoMoreTime) {
  conversation c = waits_behind_other();
  c.at(1s).says(shows_release("b"));
  event::observed again = shows_release("b");
  again.what.as_of = core::version{7};
  c.at(2500ms).says(again);
  EXPECT_EQ(c.next_wake(), 3s);
}

// Of two slots, the one that was released last is deleted: the store's newest record is the
// other's, of long ago.
TEST(Transfer, AnOlderReleaseThatIsSeenAgainNamesNobody) {
  const auto released = [](version term, std::int64_t at_unix_ms, std::string heir) {
    event::observed out = shows_release(std::move(heir), term);
    out.what.as_of = core::version{8};
    out.what.last_release->at_unix_ms = at_unix_ms;
    return out;
  };
  conversation c = waits_behind_other();
  c.says(released(core::version{5}, 1000, "me"));
  c.is_refused();
  c.says(shows_other());
  c.resigns(1h);
  EXPECT_EQ(c.at(1s).says(released(core::version{6}, 2000, "")), "publish");
  EXPECT_EQ(c.at(2s).says(released(core::version{5}, 1000, "me")), "publish");
  EXPECT_EQ(c.at(3s).says(released(core::version{4}, 3000, "me")), "publish, acquire")
      << "an older term that lasted longer";
}

TEST(Transfer, ANewerReleaseWithoutAnHeirIsForEverybody) {
  conversation c = waits_behind_other();
  c.at(1s).says(shows_release("b"));
  EXPECT_EQ(c.at(1100ms).says(shows_release("", core::version{7})), "publish, acquire");
}

TEST(Transfer, WhoHasHandedItOnLetsTheHeirComeFirstToo) {
  conversation c;
  c.becomes_active();
  c.says(shows({mine(core::version{5})}, core::version{5}));
  c.at(1s).resigns(0s, "b");
  c.workload_exits();
  c.says(shows_release("b", core::version{5}));
  c.is_released();
  EXPECT_EQ(c.next_wake(), 3s);
}

TEST(Pause, IsShownUntilItEnds) {
  conversation c = waits_behind_other();
  EXPECT_FALSE(c.view().paused);
  c.resigns(duration::max());
  EXPECT_TRUE(c.view().paused);
  EXPECT_EQ(c.view().aside_until, never);
  c.resigns(1s);
  EXPECT_TRUE(c.view().paused) << "a shorter absence does not end it";
  c.says(event::resume{});
  EXPECT_FALSE(c.view().paused);
}

TEST(Pause, OfAHolderIsShownFromTheBeginning) {
  conversation c;
  c.becomes_active();
  c.resigns(duration::max());
  EXPECT_TRUE(c.view().paused) << "its workload is still being stopped";
  c.workload_exits();
  c.is_released();
  EXPECT_TRUE(c.view().paused);
  EXPECT_EQ(c.says(shows_free(core::version{6})), "publish");
}

TEST(Transfer, RefusalDoesNotCutTheHeirsHeadStartShort) {
  conversation c;
  c.starts();
  c.is_refused();
  c.at(1s).says(shows_other());
  c.at(2s).says(shows_free());
  c.at(2s).says(shows_release("b"));
  c.at(2010ms).is_refused();
  EXPECT_GE(c.next_wake(), 4s);
}

}  // namespace
}  // namespace tenure::core::testing
