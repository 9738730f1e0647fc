#include <gtest/gtest.h>

#include <cstdint>

#include "wire/election.hpp"
#include "wire/order.hpp"
#include "wire/problem.hpp"

/// What is understood of replies: of older agents, and of servers that are not agents.

namespace tenure::wire {
namespace {

constexpr const char* full = R"({"election":"team/db","identity":"a","state":"candidate",
  "is_self":false,"holder":"b","version":18446744073709551615,
  "holders":[{"identity":"b","version":18446744073709551615}],"expires_in_ms":9825,
  "since":"2026-01-31T12:00:00.000Z","as_of":"2026-01-31T12:00:07.500Z","slots":2,
  "next":"c","members":[{"identity":"b","is_self":false,"state":"active"},{"identity":"c",
  "state":"standby","ready":true,"priority":-2,"ready_since":"2026-01-31T12:00:00.000Z"}],
  "paused":true,
  "aside_for_ms":1500,"last_term":{"holder":"a","version":3,"ended":true,"reason":"resigned"},
  "health":{"state":"unhealthy","reason":"GET answered 503"},"index":12})";

TEST(Reading, AnElectionIsReadWhole) {
  const auto all = read_elections(full);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  const election_report& e = all->front();
  EXPECT_EQ(e.election, "team/db");
  EXPECT_EQ(e.holder, (core::holder{.identity = "b", .version = core::version{UINT64_MAX}}))
      << "versions are exact";
  EXPECT_EQ(e.expires_in_ms, 9825);
  EXPECT_EQ(e.as_of_unix_ms.value() - e.since_unix_ms.value(), 7500);
  EXPECT_TRUE(e.paused);
  EXPECT_EQ(e.aside_for_ms, 1500);
  ASSERT_TRUE(e.members);
  ASSERT_EQ(e.members->size(), 2U);
  EXPECT_EQ(e.members->front(), (member_report{.identity = "b", .state = "active"}));
  EXPECT_EQ(e.members->back(), (member_report{.identity = "c",
                                              .state = "standby",
                                              .ready = true,
                                              .priority = -2,
                                              .ready_since_unix_ms = 1'769'860'800'000}));
  EXPECT_EQ(e.next, "c");
  ASSERT_TRUE(e.last_term);
  EXPECT_EQ(e.last_term->reason, "resigned");
  ASSERT_TRUE(e.health);
  EXPECT_EQ(e.health->state, core::health::unhealthy);
  EXPECT_EQ(e.health->reason, "GET answered 503");
  EXPECT_EQ(index_in(full), 12U);
}

TEST(Reading, ANumberThatDoesNotFitIsMissing) {
  const auto all = read_elections(
      R"({"election":"db","state":"candidate","holder":"b","version":7,"slot":4294967298})");
  ASSERT_TRUE(all);
  ASSERT_TRUE(all->front().holder);
  EXPECT_EQ(all->front().holder->slot, 0U) << "not 2";
}

TEST(Reading, WhatIsMissingIsNotMadeUp) {
  const auto all = read_elections(R"({"election":"db","state":"candidate","holder":null})");
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->front().holder);
  EXPECT_FALSE(all->front().members);
  EXPECT_FALSE(all->front().since_unix_ms);
  EXPECT_FALSE(all->front().health);
  EXPECT_EQ(all->front().slots, 1U);
  EXPECT_TRUE(all->front().holder_known) << "an agent that is too old to say so";
  EXPECT_TRUE(all->front().store.reachable) << "the same";
  EXPECT_FALSE(all->front().not_campaigning);
  EXPECT_FALSE(index_in(R"({"election":"db"})"));
}

TEST(Reading, AnAgentOfAnEarlierReleaseDoesNotSayWhoComesNext) {
  const auto all = read_elections(R"({"election":"db","state":"candidate",
      "members":[{"identity":"b","is_self":true,"state":"standby"}]})");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().next, "");
  ASSERT_TRUE(all->front().members);
  EXPECT_EQ(all->front().members->front(),
            (member_report{.identity = "b", .state = "standby", .is_self = true}));
}

TEST(Reading, APriorityThatDoesNotFitIsNone) {
  for (const char* number : {"2147483648", "-2147483649", "18446744073709551615", "1.5", "\"7\""}) {
    const auto all =
        read_elections(R"({"election":"db","state":"candidate","members":[{"priority":)" +
                       std::string(number) + "}]}");
    ASSERT_TRUE(all);
    ASSERT_TRUE(all->front().members);
    EXPECT_EQ(all->front().members->front().priority, 0) << number;
  }
}

TEST(Reading, WhatIsNoAnswerOfAnAgentIsNothing) {
  for (const char* body :
       {"", "null", "[]", "{}", "7", "\"x\"", R"({"elections":7})", R"({"elections":[{}]})",
        R"({"election":7,"state":[]})", R"({"election":{"election":{}}})", "<html>"}) {
    EXPECT_FALSE(read_elections(body)) << body;
    EXPECT_FALSE(read_history(body)) << body;
    EXPECT_FALSE(read_problem(body)) << body;
    EXPECT_FALSE(read_verification(body)) << body;
    EXPECT_FALSE(index_in(body)) << body;
  }
  EXPECT_TRUE(read_elections(R"({"elections":[]})")) << "an agent that has not begun";
}

TEST(Reading, TextFromTheNetworkCannotSteerATerminal) {
  const auto all =
      read_elections("{\"election\":\"a\\u001b[2Jb\\nc\\u007f\\u009b1m\",\"state\":\"candidate\"}");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().election, "a\ufffd[2Jb\ufffdc\ufffd\ufffd1m");
}

TEST(Reading, ALeaseThatGrowsShorterIsNoChange) {
  const std::string a = R"({"state":"active","expires_in_ms":9,"as_of":"1","aside_for_ms":7})";
  const std::string b = R"({"state":"active","expires_in_ms":5,"as_of":"2","aside_for_ms":3})";
  const std::string c = R"({"state":"active","expires_in_ms":5,"as_of":"2","aside_for_ms":null})";
  EXPECT_EQ(lasting_part(a), lasting_part(b));
  EXPECT_NE(lasting_part(a), lasting_part(c));
  const auto listed = [](const std::string& one) { return R"({"elections":[)" + one + "]}"; };
  EXPECT_EQ(lasting_part(listed(a)), lasting_part(listed(b)));
  EXPECT_NE(lasting_part(listed(a)), lasting_part(listed(c)));
}

TEST(Reading, WhatIsNestedWithoutEndIsNothing) {
  const std::string deep = R"({"to":)" + std::string(8'000, '[') + std::string(8'000, ']') + "}";
  const auto order = read_order(core::order_action::transfer, deep);
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error(), "the body is nested too deeply");
  EXPECT_FALSE(is_object(deep));
  EXPECT_FALSE(read_accepted_order(deep));
}

TEST(Reading, AVerdictThatDoesNotSayWhatItAnswersIsNone) {
  const std::string said = R"({"valid":true,"election":"db","holder":"b","version":7)";
  EXPECT_TRUE(read_verification(said + R"(,"asked":{"version_text":"7"}})"));
  EXPECT_TRUE(read_verification(said + R"(,"asked":{"sequencer":"proof"}})"));
  for (const char* other :
       {"}", R"(,"asked":7})", R"(,"asked":{"version":7}})", R"(,"asked":{"version_text":"x"}})"}) {
    EXPECT_FALSE(read_verification(said + other)) << other;
  }
  EXPECT_FALSE(read_verification(R"({"valid":1,"asked":{"version_text":"7"}})"));
}

TEST(Reading, AnAcceptanceOfAnOlderAgentNamesNobody) {
  const auto said = read_accepted_order(R"({"accepted":true})");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->by, "");
}

}  // namespace
}  // namespace tenure::wire
