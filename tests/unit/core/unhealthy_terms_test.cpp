#include "core/unhealthy_terms.hpp"

#include <gtest/gtest.h>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

constexpr duration ttl = 15s;

TEST(UnhealthyTerms, FirstPauseIsTheTtlAndEachFurtherInARowTwiceAsLong) {
  unhealthy_terms terms;
  EXPECT_EQ(terms.ended(true, 20s, ttl), 15s);
  EXPECT_EQ(terms.ended(true, 20s, ttl), 30s);
  EXPECT_EQ(terms.ended(true, 0s, ttl), 60s);
}

TEST(UnhealthyTerms, PausesGrowNoLongerThanTheLimit) {
  unhealthy_terms terms;
  duration pause{};
  for (int i = 0; i < 100; ++i) pause = terms.ended(true, 1s, ttl);
  EXPECT_EQ(pause, unhealthy_terms::longest_pause);
}

TEST(UnhealthyTerms, TtlThatIsLongerThanTheLimitIsThePause) {
  unhealthy_terms terms;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(terms.ended(true, 1s, max_ttl), max_ttl);
}

TEST(UnhealthyTerms, TermThatWasWellForLongBeginsAnew) {
  unhealthy_terms terms;
  for (int i = 0; i < 4; ++i) EXPECT_GT(terms.ended(true, 1s, ttl), 0s);
  EXPECT_GT(terms.ended(true, unhealthy_terms::well_after - 1ns, ttl), ttl);
  EXPECT_EQ(terms.ended(true, unhealthy_terms::well_after, ttl), ttl);
}

TEST(UnhealthyTerms, TermThatEndsOtherwiseCountsOnlyIfItWasLong) {
  unhealthy_terms terms;
  EXPECT_EQ(terms.ended(true, 1s, ttl), 15s);
  EXPECT_EQ(terms.ended(false, 1s, ttl), 0s);
  EXPECT_EQ(terms.ended(true, 1s, ttl), 30s) << "a short term proves nothing";
  EXPECT_EQ(terms.ended(false, unhealthy_terms::well_after, ttl), 0s);
  EXPECT_EQ(terms.ended(true, 1s, ttl), 15s);
}

/// An election whose terms end unhealthy 10 s after they began, one after the other.
struct flapping {
  explicit flapping(election_settings settings = member()) : talk(std::move(settings)) {
    talk.starts();
  }

  /// One term that lasts `lasts`. Returns the pause until the next acquire.
  duration version(duration lasts) {
    version_ = core::version{number(version_) + 1};
    const duration began = talk.now() - start_of_talk;
    talk.is_granted(version_, began, 24h, true);
    talk.workload_starts(version_);
    talk.at(began + lasts).says(event::workload_unhealthy{});
    talk.workload_exits();
    talk.is_released();
    EXPECT_EQ(talk.now_in(), phase::candidate);
    const duration free = talk.now() - start_of_talk;
    const duration again = talk.next_wake();
    if (again == duration::max()) return again;
    EXPECT_EQ(talk.at(again).wakes(), "acquire");
    return again - free;
  }

  conversation talk;

 private:
  core::version version_{};
};

TEST(Unhealthy, PausesGrowUntilATermWasWellForLong) {
  flapping one;
  EXPECT_EQ(one.version(10s), 15s);
  EXPECT_EQ(one.version(10s), 30s);
  EXPECT_EQ(one.version(10s), 60s);
  EXPECT_EQ(one.version(unhealthy_terms::well_after), 15s);
}

TEST(Unhealthy, ResumeEndsThePauseAtOnceAndForgetsNothing) {
  conversation c;
  c.becomes_active();
  c.says(event::workload_unhealthy{});
  c.at(2s).workload_exits();
  c.is_released();
  EXPECT_EQ(c.subject().aside_until(), start_of_talk + 17s);
  c.says(event::resume{});
  EXPECT_LE(c.subject().aside_until(), c.now());
  EXPECT_LE(c.next_wake(), 3s);
}

TEST(Unhealthy, ResumeDuringTheDrainTakesThePauseAway) {
  conversation c;
  c.becomes_active();
  c.says(event::workload_unhealthy{});
  c.says(event::resume{});
  c.workload_exits();
  c.is_released();
  EXPECT_LE(c.next_wake(), 2s);
}

TEST(Unhealthy, ShortResignDoesNotShortenThePause) {
  conversation c;
  c.becomes_active();
  c.says(event::workload_unhealthy{});
  c.at(2s).workload_exits();
  c.is_released();
  c.resigns(1ms);
  EXPECT_EQ(c.next_wake(), 17s);
}

TEST(Unhealthy, CheckedAlwaysWaitsForTheCheckAsWellAsForThePause) {
  flapping one(with(member(), [](auto& s) { s.checked_always = true; }));
  ASSERT_EQ(one.version(10s), duration::max()) << "nobody has said that it is well again";
  one.talk.at(12s).says(event::workload_healthy{});
  EXPECT_EQ(one.talk.next_wake(), 25s) << "a check that flaps must not bounce the lease";
  EXPECT_EQ(one.talk.at(25s).wakes(), "acquire");
}

TEST(Unhealthy, CheckedAlwaysAndUnhealthyBeforeTheStartNeverAsks) {
  conversation c(with(member(), [](auto& s) { s.checked_always = true; }));
  EXPECT_EQ(c.says(event::workload_unhealthy{}), "");
  EXPECT_EQ(c.starts(), "watch, publish, publish");
  EXPECT_EQ(c.at(1h).wakes(), "");
  EXPECT_EQ(c.says(event::workload_healthy{}), "acquire");
}

}  // namespace
}  // namespace tenure::core::testing
