#include "core/store_contact.hpp"

#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

constexpr time_point start = start_of_talk;

/// A store with leases of 15 s: it has to answer every 5 s, and is silent after 10 s.
struct contact_of_15s : store_contact {
  contact_of_15s() : store_contact(15s) {}

  contact_of_15s& answered(duration at) { return tell(at, contact::answered{}); }
  contact_of_15s& showed(duration at) { return tell(at, contact::showed{}); }
  contact_of_15s& failed(duration asked, duration at, const char* why = "refused") {
    return tell(at, contact::failed{.asked_at = start + asked, .why = why});
  }
  contact_of_15s& broke(duration at, const char* why = "torn") {
    return tell(at, contact::watch_broke{why});
  }
  bool up(duration at) const { return reachable(start + at); }
  std::string trouble(duration at) const { return why(start + at); }

 private:
  contact_of_15s& tell(duration at, const contact_event& what) {
    take(start + at, what);
    return *this;
  }
};

TEST(StoreContact, BeforeTheFirstAnswerItIsNotReachable) {
  contact_of_15s c;
  EXPECT_FALSE(c.up(0s));
  EXPECT_EQ(c.silence(start), std::nullopt);
  EXPECT_EQ(c.trouble(0s), "it has not answered yet");
  c.failed(0s, 1s, "connection refused");
  EXPECT_EQ(c.trouble(1s), "connection refused");
}

TEST(StoreContact, AnAnswerCountsUntilTwoMoreAreMissing) {
  contact_of_15s c;
  c.answered(0s);
  EXPECT_TRUE(c.up(0s));
  EXPECT_EQ(c.silent_from(), start + 10s);
  EXPECT_TRUE(c.up(10s - 1ns));
  EXPECT_FALSE(c.up(10s));
  EXPECT_EQ(c.trouble(9s), "");
  EXPECT_EQ(c.trouble(10s), "it has not answered for more than 10s");
  EXPECT_EQ(c.silence(start + 12s), 12s);
  EXPECT_TRUE(c.showed(12s).up(12s));
}

TEST(StoreContact, AFailureCountsAtOnceAndUntilTheNextAnswer) {
  contact_of_15s c;
  c.answered(0s).failed(1s, 2s, "no leader");
  EXPECT_FALSE(c.up(2s));
  EXPECT_EQ(c.trouble(2s), "no leader");
  EXPECT_EQ(c.silent_from(), never) << "there is nothing left for time to change";
  EXPECT_TRUE(c.answered(3s).up(3s));
  EXPECT_EQ(c.trouble(3s), "");
}

TEST(StoreContact, AFailureIsNoNewsIfARequestWasAnsweredSinceItWasSent) {
  contact_of_15s c;
  EXPECT_TRUE(c.answered(2s).failed(1s, 3s).up(3s));
}

TEST(StoreContact, AWatchThatIsServedDoesNotMakeUpForARequestThatFails) {
  contact_of_15s c;
  c.answered(0s).failed(1s, 2s).showed(3s);
  EXPECT_FALSE(c.up(3s)) << "it can be read, but not written";
  c.failed(7s, 8s).showed(8s);
  EXPECT_FALSE(c.up(8s)) << "tried again, with the same end";
}

TEST(StoreContact, AFailureThatNobodyHasTriedAgainIsForgottenWithTime) {
  contact_of_15s c;
  c.answered(0s).failed(1s, 2s).showed(7s);
  EXPECT_FALSE(c.up(7s));
  EXPECT_FALSE(c.showed(12s).up(12s));
  EXPECT_TRUE(c.showed(17s).up(17s));
}

TEST(StoreContact, ABrokenWatchIsSaidAlthoughRequestsAreAnswered) {
  contact_of_15s c;
  c.showed(0s).broke(1s, "a proxy").answered(1s);
  EXPECT_TRUE(c.up(1s));
  EXPECT_EQ(c.trouble(1s), "the watch is broken: a proxy");
  EXPECT_EQ(c.showed_at(), start) << "what it showed is as old as that";
  EXPECT_EQ(c.showed(2s).trouble(2s), "");
}

TEST(StoreContact, TheSameStateAtAnotherTimeShowsTheSame) {
  contact_of_15s one;
  contact_of_15s other;
  EXPECT_TRUE(one.answered(0s).shows_same(other.showed(4s)));
  EXPECT_FALSE(one.failed(5s, 6s).shows_same(other));
  EXPECT_FALSE(one.shows_same(other.failed(5s, 6s, "for another reason")));
  EXPECT_FALSE(contact_of_15s().shows_same(one));
}

}  // namespace
}  // namespace tenure::core::testing
