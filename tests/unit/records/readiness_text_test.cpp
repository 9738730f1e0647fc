#include "stores/records/readiness_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/records/own_entries.hpp"

namespace tenure::stores {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadinessText, EveryReadinessComesBackAsItWas) {
  for (const core::readiness& one :
       {core::readiness{},
        core::readiness{.since_unix_ms = 1'769'860'800'123, .priority = -7, .started_unix_ms = 1},
        core::readiness{.since_unix_ms = INT64_MAX,
                        .priority = INT32_MIN,
                        .started_unix_ms = INT64_MAX,
                        .slots = UINT32_MAX}}) {
    EXPECT_EQ(parse_readiness(readiness_text(one)), one) << readiness_text(one);
    EXPECT_EQ(parse_readiness(readiness_text(one, "[::1]:4041")), one) << readiness_text(one);
  }
}

TEST(ReadinessText, IsWordsThatAPersonCanRead) {
  EXPECT_EQ(readiness_text({.since_unix_ms = 5, .priority = -1, .started_unix_ms = 3}), "5 -1 3");
}

TEST(ReadinessText, MaySayWhereItsMemberIsTold) {
  const core::readiness says{.since_unix_ms = 5, .priority = -1, .started_unix_ms = 3};
  const std::string text = readiness_text(says, "[::1]:4041");
  EXPECT_EQ(text, "5 -1 3 [::1]:4041");
  EXPECT_EQ(parse_readiness(text), says);
  EXPECT_EQ(peer_in(text), "[::1]:4041");
  EXPECT_EQ(peer_in(text + " more"), "[::1]:4041");
  EXPECT_EQ(peer_in(readiness_text(says)), "");
  EXPECT_EQ(peer_in(""), "");
}

/// Earlier releases take the fourth word for a place to tell it something.
TEST(ReadinessText, SaysItsNumberOfSlotsBehindThat) {
  const core::readiness says{.since_unix_ms = 5, .priority = -1, .started_unix_ms = 3, .slots = 2};
  EXPECT_EQ(readiness_text(says), "5 -1 3  2");
  EXPECT_EQ(peer_in(readiness_text(says)), "");
  EXPECT_EQ(readiness_text(says, "[::1]:4041"), "5 -1 3 [::1]:4041 2");
  EXPECT_EQ(parse_readiness("5 -1 3 [::1]:4041 many")->slots, 0U);
}

TEST(ReadinessText, SaysHowOftenItHasAnsweredNamesakesBehindThat) {
  const core::readiness says{.since_unix_ms = 5, .priority = -1, .started_unix_ms = 3};
  EXPECT_EQ(readiness_text(says, {}, 0), "5 -1 3  0 0");
  const std::string text = readiness_text(says, "[::1]:4041", 7);
  EXPECT_EQ(text, "5 -1 3 [::1]:4041 0 7");
  EXPECT_EQ(parse_readiness(text), says);
  EXPECT_EQ(answers_in(text), 7U);
  EXPECT_EQ(answers_in("5 -1 3 [::1]:4041 2"), std::nullopt) << "an earlier release answers never";
  EXPECT_EQ(answers_in("5 -1 3  2 often"), std::nullopt);
}

TEST(ReadinessText, AWordMoreIsOfALaterRelease) {
  EXPECT_EQ(parse_readiness("5 -1 3 and more"),
            (core::readiness{.since_unix_ms = 5, .priority = -1, .started_unix_ms = 3}));
}

TEST(ReadinessText, AnythingElseSaysNothing) {
  for (const char* text : {"", "5", "5 1", "a 1 3", "5 b 3", "5 1 c", "-5 1 3", "5 1 -3", "5  1 3",
                           " 5 1 3", "5 2147483648 3", "99999999999999999999 1 3", "5 1 3x"}) {
    EXPECT_EQ(parse_readiness(text), std::nullopt) << text;
  }
}

TEST(OwnEntries, AreWrittenWhenTheyChange) {
  own_entries own(3);
  EXPECT_THAT(own.begin_write(9), IsEmpty());
  own.say(1, {.since_unix_ms = 5});
  EXPECT_THAT(own.begin_write(9), ElementsAre(1));
  own.end_write(true);
  own.say(1, {.since_unix_ms = 5});
  EXPECT_THAT(own.begin_write(9), IsEmpty()) << "nothing has changed";
  EXPECT_EQ(own.says(1).since_unix_ms, 5);
}

TEST(OwnEntries, AreWrittenAnewForWhatElseIsInThem) {
  own_entries own(2);
  own.renew(1);
  EXPECT_THAT(own.begin_write(9), ElementsAre(1));
  own.renew(1);
  own.end_write(true);
  EXPECT_THAT(own.begin_write(9), ElementsAre(1));
}

TEST(OwnEntries, AreWrittenAnewWithEachAnswerToANamesake) {
  own_entries own(2);
  EXPECT_EQ(own.answers(1), 0U);
  own.answer(1);
  EXPECT_EQ(own.answers(1), 1U);
  EXPECT_EQ(own.answers(0), 0U);
  EXPECT_THAT(own.begin_write(9), ElementsAre(1));
}

TEST(OwnEntries, AreWrittenOneAfterTheOther) {
  own_entries own(2);
  own.say(0, {.since_unix_ms = 5});
  ASSERT_THAT(own.begin_write(9), ElementsAre(0));
  own.say(0, {.since_unix_ms = 6});
  own.say(1, {.since_unix_ms = 7});
  EXPECT_THAT(own.begin_write(9), IsEmpty()) << "the first write might overtake it";
  own.end_write(true);
  EXPECT_THAT(own.begin_write(9), ElementsAre(0, 1));
}

TEST(OwnEntries, AreWrittenAgainAfterAFailure) {
  own_entries own(2);
  own.say(0, {.since_unix_ms = 5});
  ASSERT_THAT(own.begin_write(9), ElementsAre(0));
  own.end_write(false);
  EXPECT_THAT(own.begin_write(9), ElementsAre(0));
}

TEST(OwnEntries, AreWrittenInParts) {
  own_entries own(3);
  for (std::size_t i = 0; i < 3; ++i) own.say(i, {.since_unix_ms = 5});
  EXPECT_THAT(own.begin_write(2), ElementsAre(0, 1));
  own.end_write(true);
  EXPECT_THAT(own.begin_write(2), ElementsAre(2));
}

TEST(OwnEntries, AreWrittenAnewWithTheNames) {
  own_entries own(2);
  own.say(0, {.since_unix_ms = 5});
  own.named(true);
  EXPECT_THAT(own.begin_write(9), IsEmpty()) << "they went along";
  own.named(false);
  EXPECT_THAT(own.begin_write(9), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tenure::stores
