#include "workload/guard_hearing.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/hand_loop.hpp"

namespace tenure::workload {
namespace {

using namespace std::chrono_literals;

class GuardHearing : public testing::Test {
 protected:
  void arms(std::int64_t kill_at) {
    page_.kill_at = kill_at;
    subject_.await();
  }
  void guard_acknowledges() { page_.armed = page_.kill_at.load(); }
  /// With the second look.
  void waits() {
    loop_.pass(guard_hangs_after);
    loop_.pass(second_look_after);
  }

  tests::hand_loop loop_;
  guard::guard_page page_;
  std::vector<bool> told_;
  guard_hearing subject_{loop_, page_, [this](bool hears) { told_.push_back(hears); }};
};

TEST_F(GuardHearing, AGuardThatAcknowledgesIsNotSpokenOf) {
  arms(100);
  guard_acknowledges();
  waits();
  arms(200);
  guard_acknowledges();
  waits();
  EXPECT_TRUE(told_.empty());
}

TEST_F(GuardHearing, AGuardThatDoesNotHangsUntilItDoesAgain) {
  arms(100);
  waits();
  EXPECT_EQ(told_, (std::vector<bool>{false}));
  guard_acknowledges();
  waits();
  EXPECT_EQ(told_, (std::vector<bool>{false, true}));
}

TEST_F(GuardHearing, ATermThatEndsEarlierThanTheOneBeforeIsNotHeldAgainstIt) {
  arms(200);
  // That one is over before it was acknowledged, and another one has begun.
  arms(150);
  guard_acknowledges();
  waits();
  EXPECT_TRUE(told_.empty());
}

TEST_F(GuardHearing, ALaterDeadlineThatWasAcknowledgedIsNoAnswerToAnEarlierOne) {
  arms(200);
  guard_acknowledges();
  arms(150);
  waits();
  EXPECT_EQ(told_, (std::vector<bool>{false}));
  guard_acknowledges();
  waits();
  EXPECT_EQ(told_, (std::vector<bool>{false, true}));
}

TEST_F(GuardHearing, AnAnswerMayComeBeforeItIsWaitedFor) {
  page_.kill_at = 100;
  guard_acknowledges();
  subject_.await();
  loop_.pass(guard_hangs_after - 1ms);
  arms(200);
  loop_.pass(1ms);
  loop_.pass(second_look_after);
  EXPECT_TRUE(told_.empty()) << "the second deadline was written just now";
}

TEST_F(GuardHearing, AnOldAnswerIsNoneAlthoughItLiesBetweenWhatIsAsked) {
  arms(200);
  guard_acknowledges();
  arms(150);
  arms(300);
  waits();
  EXPECT_EQ(told_, (std::vector<bool>{false}));
}

TEST_F(GuardHearing, AnEarlierDeadlineHasAllTheTimeToBeAcknowledged) {
  arms(200);
  loop_.pass(guard_hangs_after - 1ms);
  arms(150);
  loop_.pass(1ms);
  loop_.pass(second_look_after);
  EXPECT_TRUE(told_.empty());
  guard_acknowledges();
  waits();
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace tenure::workload
