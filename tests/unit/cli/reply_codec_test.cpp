#include "cli/client/reply_codec.hpp"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

constexpr const char* full = R"({"election":"team/db","identity":"a","state":"candidate",
  "is_self":false,"holder":"b","version":18446744073709551615,
  "holders":[{"identity":"b","version":18446744073709551615}],"expires_in_ms":9825,
  "since":"2026-01-31T12:00:00.000Z","as_of":"2026-01-31T12:00:07.500Z","slots":2,
  "members":[{"identity":"b","is_self":false,"state":"active"}],"paused":true,
  "aside_for_ms":1500,"last_term":{"holder":"a","version":3,"ended":true,"reason":"resigned"},
  "health":{"state":"unhealthy","reason":"GET answered 503"},"index":12})";

TEST(ReplyCodec, AnElectionIsReadWhole) {
  const auto all = read_elections(full);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  const election_report& e = all->front();
  EXPECT_EQ(e.election, "team/db");
  EXPECT_EQ(e.holder, (seat{.holder = "b", .version = UINT64_MAX})) << "versions are exact";
  EXPECT_EQ(e.expires_in_ms, 9825);
  EXPECT_EQ(e.since_ms, 7500);
  EXPECT_TRUE(e.paused);
  EXPECT_EQ(e.aside_for_ms, 1500);
  ASSERT_TRUE(e.members);
  EXPECT_EQ(e.members->front().identity, "b");
  ASSERT_TRUE(e.last_term);
  EXPECT_EQ(e.last_term->reason, "resigned");
  EXPECT_EQ(e.unhealthy, "GET answered 503");
  EXPECT_EQ(index_in(full), 12U);
}

TEST(ReplyCodec, WhatIsMissingIsNotMadeUp) {
  const auto all = read_elections(R"({"election":"db","state":"candidate","holder":null})");
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->front().holder);
  EXPECT_FALSE(all->front().members);
  EXPECT_FALSE(all->front().since_ms);
  EXPECT_FALSE(index_in(R"({"election":"db"})"));
}

TEST(ReplyCodec, WhatIsNoAnswerOfAnAgentIsNothing) {
  for (const char* body :
       {"", "null", "[]", "{}", "7", "\"x\"", R"({"elections":7})", R"({"elections":[{}]})",
        R"({"election":7,"state":[]})", R"({"election":{"election":{}}})", "<html>"}) {
    EXPECT_FALSE(read_elections(body)) << body;
    EXPECT_FALSE(read_history(body)) << body;
    EXPECT_FALSE(error_in(body)) << body;
    EXPECT_FALSE(index_in(body)) << body;
    EXPECT_TRUE(election_names(body).empty() || election_names(body).front().empty()) << body;
  }
  EXPECT_TRUE(read_elections(R"({"elections":[]})")) << "an agent that has not begun";
}

TEST(ReplyCodec, TextFromTheNetworkCannotSteerATerminal) {
  const auto all =
      read_elections("{\"election\":\"a\\u001b[2Jb\\nc\\u007f\\u009b1m\",\"state\":\"candidate\"}");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().election, "a\ufffd[2Jb\ufffdc\ufffd\ufffd1m");
}

TEST(ReplyCodec, ALeaseThatGrowsShorterIsNoChange) {
  const std::string a = R"({"state":"active","expires_in_ms":9,"as_of":"1","aside_for_ms":7})";
  const std::string b = R"({"state":"active","expires_in_ms":5,"as_of":"2","aside_for_ms":3})";
  const std::string c = R"({"state":"active","expires_in_ms":5,"as_of":"2","aside_for_ms":null})";
  EXPECT_EQ(lasting_part(a), lasting_part(b));
  EXPECT_NE(lasting_part(a), lasting_part(c));
  const auto listed = [](const std::string& one) { return R"({"elections":[)" + one + "]}"; };
  EXPECT_EQ(lasting_part(listed(a)), lasting_part(listed(b)));
  EXPECT_NE(lasting_part(listed(a)), lasting_part(listed(c)));
}

TEST(ReplyCodec, AnOrderHasOnlyWhatWasGiven) {
  EXPECT_EQ(order_json("", "", ""), "{}");
  EXPECT_EQ(order_json("b\"", "30s", "a"), R"({"aside":"30s","member":"a","to":"b\""})");
}

}  // namespace
}  // namespace tenure::cli
