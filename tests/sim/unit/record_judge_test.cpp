#include "record_judge.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

constexpr core::time_point t0 = core::time_point(100s);

TEST(RecordJudge, KnowsNothingBeforeTheFirstRecord) {
  EXPECT_EQ(record_judge().expires_at(), core::never);
}

TEST(RecordJudge, FirstSightStartsAFullTtlHoweverOldTheRecordIs) {
  record_judge judge;
  judge.saw(t0, 1, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 15s);
}

TEST(RecordJudge, ReadAgainUnchangedDoesNotProlong) {
  record_judge judge;
  judge.saw(t0, 1, 15s);
  judge.saw(t0 + 14s, 1, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 15s);
}

TEST(RecordJudge, EveryChangeProlongsFromWhenItWasReceived) {
  record_judge judge;
  judge.saw(t0, 1, 15s);
  judge.saw(t0 + 5s, 2, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 20s);
}

TEST(RecordJudge, MarkThatGoesBackIsAChangeToo) {
  record_judge judge;
  judge.saw(t0, 9, 15s);
  judge.saw(t0 + 1s, 3, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 16s) << "a restored store moves marks back";
}

TEST(RecordJudge, TtlOfTheRecordCountsNotOurs) {
  record_judge judge;
  judge.saw(t0, 1, 60s);
  judge.saw(t0 + 1s, 2, 5s);
  EXPECT_EQ(judge.expires_at(), t0 + 6s);
}

TEST(RecordJudge, MarkZeroIsAMarkLikeAnyOther) {
  record_judge judge;
  judge.saw(t0, 0, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 15s);
  judge.saw(t0 + 1s, 0, 15s);
  EXPECT_EQ(judge.expires_at(), t0 + 15s);
}

}  // namespace
}  // namespace tenure::sim
