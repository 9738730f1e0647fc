// A lease group with a store that answers for some terms of a renewal and not for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/lease_group_talk.hpp"

namespace tenure::core::testing {
namespace {

using ::testing::ElementsAre;

class RenewalDoubt : public ::testing::Test {
 protected:
  /// Elections 0 and 1 hold the terms 5 and 6 from 0 s on; their first renewal is in flight.
  RenewalDoubt() {
    s_.activate(0, core::version{5}, 0s);
    s_.activate(1, core::version{6}, 0s);
    s_.at(5s).wake();
  }

  void next() {
    s_.forget();
    s_.at(s_.next_wake()).wake();
  }

  session_talk s_{2};
};

TEST_F(RenewalDoubt, ATermThatTheStoreSaysNothingOfIsNeitherRenewedNorLost) {
  s_.at(5100ms).acknowledge_all_but(1, 5s);
  EXPECT_EQ(s_.one(0).view().lease->sent_at, start_of_talk + 5s);
  EXPECT_EQ(s_.one(1).view().lease->sent_at, start_of_talk);
  EXPECT_EQ(s_.one(1).view().phase, phase::active);
}

TEST_F(RenewalDoubt, ItAloneIsTriedAgainAfterAPause) {
  s_.at(5100ms).acknowledge_all_but(1, 5s);
  EXPECT_FALSE(s_.renewal());
  const duration pause = s_.next_wake() - 5100ms;
  EXPECT_GE(pause, 10ms);
  EXPECT_LE(pause, 20ms);
  next();
  ASSERT_TRUE(s_.renewal());
  EXPECT_THAT(s_.terms_in_renewal(), ElementsAre(6));
  s_.at(5200ms).acknowledge(5150ms);
  EXPECT_EQ(s_.one(1).view().lease->sent_at, start_of_talk + 5150ms);
  EXPECT_EQ(s_.one(0).view().lease->sent_at, start_of_talk + 5s) << "it was not in that one";
  EXPECT_EQ(s_.next_wake(), 10s) << "all together again";
}

TEST_F(RenewalDoubt, TriesAreSpreadOutAndTheTermEndsAtItsOwnTime) {
  duration pause = 0s;
  int tries = 0;
  s_.acknowledge_all_but(1, 5s);
  while (s_.one(1).view().phase == phase::active) {
    const duration before = s_.next_wake();
    next();
    if (!s_.renewal()) continue;
    ++tries;
    if (s_.terms_in_renewal().size() == 2) {
      s_.acknowledge_all_but(1, before);
    } else {
      s_.renewal_is_unknown();
    }
    pause = std::max(pause, s_.next_wake() - before);
  }
  EXPECT_EQ(s_.one(1).view().last_loss, loss_reason::renew_timeout);
  EXPECT_EQ(s_.one(0).view().phase, phase::active) << "the others are renewed all the while";
  EXPECT_GE(tries, 6);
  EXPECT_LE(tries, 30);
  EXPECT_GE(pause, 500ms);
}

/// The others must not wait for the answer to its next try.
TEST_F(RenewalDoubt, TheNextRenewalOfAllIsNotLate) {
  s_.at(5100ms).acknowledge_all_but(1, 5s);
  duration last = 0s;
  for (;;) {
    last = s_.next_wake();
    next();
    ASSERT_LE(last, 10s);
    if (!s_.renewal()) continue;
    if (s_.terms_in_renewal().size() == 2) break;
    ASSERT_LE(s_.renewal()->deadline, start_of_talk + 10s);
  }
  EXPECT_EQ(last, 10s);
  EXPECT_EQ(s_.renewal()->deadline, start_of_talk + 10s + default_timing().try_timeout())
      << "the time of the try is that of the terms that are answered for";
}

TEST_F(RenewalDoubt, AFailureOfAllIsOneOfAll) {
  s_.at(5100ms).acknowledge_all_but(1, 5s);
  s_.at(10s).wake();
  s_.at(10100ms).renewal_is_unknown();
  next();
  ASSERT_TRUE(s_.renewal());
  EXPECT_THAT(s_.terms_in_renewal(), ElementsAre(5, 6));
}

TEST_F(RenewalDoubt, WhatIsNamedAndNotInTheRenewalIsIgnored) {
  s_.at(5100ms).acknowledge(5s);
  s_.at(10s).step(1, event::lost{.version = core::version{6}, .why = loss_reason::revoked});
  ASSERT_TRUE(s_.renewal());
  s_.at(10100ms).acknowledge_all_but(1, 10s);
  EXPECT_EQ(s_.next_wake(), 15s);
}

TEST_F(RenewalDoubt, ATermThatEndedMeanwhileIsNotTriedAgain) {
  s_.at(5100ms).acknowledge_all_but(1, 5s);
  s_.step(1, event::lost{.version = core::version{6}, .why = loss_reason::revoked});
  s_.forget();
  s_.at(6s).wake();
  EXPECT_FALSE(s_.renewal());
}

}  // namespace
}  // namespace tenure::core::testing
