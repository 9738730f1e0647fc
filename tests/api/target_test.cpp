#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/http_message.hpp"

namespace tenure::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Target, SegmentsAreDecodedAfterTheSplit) {
  const auto t = http::parse_target("/v1/elections/a%2Fb%20c%25").value();
  EXPECT_EQ(t.path, "/v1/elections/a%2Fb%20c%25");
  EXPECT_THAT(t.segments, ElementsAre("v1", "elections", "a/b c%"));
}

TEST(Target, PlusIsABlankInTheQueryOnly) {
  const auto t = http::parse_target("/a+b?c+d=e+f%2B").value();
  EXPECT_THAT(t.segments, ElementsAre("a+b"));
  EXPECT_EQ(t.query.at(0).name, "c d");
  EXPECT_EQ(t.query.at(0).value, "e f+");
}

TEST(Target, QueryKeepsItsOrderAndTheFirstOfANameCounts) {
  http::request asked;
  asked.target = http::parse_target("/x?a=1&b&&a=2&c=x=y").value();
  ASSERT_EQ(asked.target.query.size(), 4u);
  EXPECT_EQ(*asked.query_value("a"), "1");
  EXPECT_EQ(*asked.query_value("b"), "");
  EXPECT_EQ(*asked.query_value("c"), "x=y");
  EXPECT_EQ(asked.query_value("d"), nullptr);
}

TEST(Target, RootHasNoSegments) {
  EXPECT_THAT(http::parse_target("/").value().segments, IsEmpty());
  EXPECT_THAT(http::parse_target("/?a=1").value().segments, IsEmpty());
}

TEST(Target, EmptySegmentsInTheMiddleAreKept) {
  EXPECT_THAT(http::parse_target("//v1//x/").value().segments, ElementsAre("", "v1", "", "x"));
}

TEST(Target, HostOfAnAbsoluteTargetIsTakenOut) {
  const auto t = http::parse_target("http://evil.example:80/v1?x=1").value();
  EXPECT_EQ(t.host, "evil.example:80");
  EXPECT_THAT(t.segments, ElementsAre("v1"));
  EXPECT_EQ(http::parse_target("http://evil.example").value().path, "/");
}

TEST(Target, BrokenEncodingIsRefused) {
  for (const char* broken : {"/%", "/%2", "/%zz", "/a?b=%", "/a?%4=b", "/%2g"}) {
    EXPECT_FALSE(http::parse_target(broken)) << broken;
  }
}

TEST(Target, MustBeAPath) {
  EXPECT_FALSE(http::parse_target("v1/elections"));
  EXPECT_FALSE(http::parse_target("ftp://localhost/"));
  EXPECT_FALSE(http::parse_target(""));
  EXPECT_TRUE(http::parse_target("*")) << "OPTIONS * asks about the server itself";
}

}  // namespace
}  // namespace tenure::tests
