#include "stores/etcd/server_version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::stores::etcd {
namespace {

using testing::HasSubstr;

TEST(EtcdServerVersion, TheNumberOfKnownDefectsFallsWithEachFix) {
  const struct {
    const char* version;
    std::size_t warnings;
  } rows[] = {{"3.4.23", 3}, {"3.4.31", 2}, {"3.4.38", 1},    {"3.4.42", 0}, {"3.5.12", 3},
              {"3.5.16", 2}, {"3.5.28", 0}, {"3.6.0", 2},     {"3.6.8", 1},  {"3.6.9", 0},
              {"3.7.3", 0},  {"4.0.0", 0},  {"3.6.0-rc.1", 2}};
  for (const auto& row : rows) {
    const auto judged = judge_version(row.version);
    ASSERT_TRUE(judged) << row.version;
    EXPECT_EQ(judged->size(), row.warnings) << row.version;
  }
}

TEST(EtcdServerVersion, AWarningNamesTheServerTheDangerAndTheRemedy) {
  const auto judged = judge_version("3.5.27");
  ASSERT_TRUE(judged);
  ASSERT_EQ(judged->size(), 1U);
  EXPECT_THAT(judged->front(), HasSubstr("etcd 3.5.27 "));
  EXPECT_THAT(judged->front(), HasSubstr("reads from the past"));
  EXPECT_THAT(judged->front(), HasSubstr("upgrade to 3.4.42, 3.5.28 or 3.6.9"));
}

TEST(EtcdServerVersion, AServerWithoutAGatewayThatWeCanUseIsRefused) {
  for (const char* old : {"3.3.27", "2.3.8"}) {
    const auto judged = judge_version(old);
    ASSERT_FALSE(judged) << old;
    EXPECT_THAT(judged.error(), HasSubstr("too old"));
  }
}

TEST(EtcdServerVersion, AVersionThatIsNotUnderstoodIsAWarning) {
  for (const char* odd : {"", "three", "3", "3.", "3.x.1"}) {
    const auto judged = judge_version(odd);
    ASSERT_TRUE(judged) << odd;
    EXPECT_EQ(judged->size(), 1U) << odd;
  }
}

TEST(EtcdServerVersion, ProgressIsToldInItsPlaceSinceThePatchThatEtcdSaysSo) {
  for (const char* good : {"3.4.25", "3.4.42", "3.5.8", "3.6.0", "3.7.3", "4.0.0"}) {
    EXPECT_TRUE(progress_keeps_order(good)) << good;
  }
  for (const char* bad :
       {"3.4.0", "3.4.23", "3.4.24", "3.5.0", "3.5.7", "3.3.99", "2.9.9", "", "?"}) {
    EXPECT_FALSE(progress_keeps_order(bad)) << bad;
  }
}

}  // namespace
}  // namespace tenure::stores::etcd
