#include "cli/text/status_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr core::time_point begin{std::chrono::seconds(100)};

const settings::endpoint first{.host = "127.0.0.1", .port = 4040};

agent_sight sight_of(const std::string& body) {
  agent_sight out{.agent = first};
  take(out, body, begin);
  return out;
}

std::vector<std::string> texts(const table_row& row) {
  std::vector<std::string> out;
  for (const cell& c : row) out.push_back(c.text);
  return out;
}

std::string election(const std::string& more) {
  return R"({"election":"db","identity":"a","as_of":"2026-01-31T12:00:07.000Z",)" + more + "}";
}

const std::string active = election(
    R"("state":"active","is_self":true,"holder":"a","version":7,
       "holders":[{"identity":"a","version":7}],"expires_in_ms":9000,
       "since":"2026-01-31T12:00:00.000Z","next":"b",
       "members":[{"identity":"a"},{"identity":"b"}],
       "last_term":{"holder":"b","version":5,"reason":"renew_timeout"})");

TEST(StatusView, ARowTellsWhoHoldsSinceWhenAndWhyTheLastOneLostIt) {
  const status_page page = page_of({sight_of(active)}, begin);
  ASSERT_EQ(page.table.size(), 2U);
  EXPECT_THAT(texts(page.table[1]), ElementsAre("db", "a", "active", "a", "7", "9.0s", "7s", "b",
                                                "a, b", "b 5: renew_timeout"));
  EXPECT_EQ(page.table[0].size(), page.table[1].size()) << "each column has a title";
  EXPECT_EQ(page.table[1][2].colour, tint::good);
}

TEST(StatusView, LastTermTellsHowLongNoMemberWasActive) {
  const auto last = [](const std::string& outage) {
    const agent_sight one = sight_of(election(
        R"("state":"active","last_term":{"holder":"b","version":5,"reason":"expired","outage_after":)" +
        outage + "}"));
    return page_of({one}, begin + std::chrono::seconds(2)).table[1].back().text;
  };
  EXPECT_EQ(last(R"({"from":"2026-01-31T11:59:00.000Z","lasted_ms":5210,"at_most":true})"),
            "b 5: expired, then an outage of at most 5.2 s");
  EXPECT_EQ(last(R"({"from":"2026-01-31T11:59:00.000Z","lasted_ms":12,"at_most":false})"),
            "b 5: expired");
  EXPECT_EQ(last(R"({"from":"2026-01-31T12:00:00.000Z","lasted_ms":null,"at_most":false})"),
            "b 5: expired, an outage of 9 s so far");
}

TEST(StatusView, HolderThatHasVanishedIsNamedOnceBelowTheTable) {
  const agent_sight one = sight_of(election(
      R"("state":"candidate","holder":"b","version":7,"holders":[{"identity":"b","version":7}],
         "expires_in_ms":6000,"next":"a","members":[{"identity":"b","state":"vanished"},
         {"identity":"a","state":"standby"}])"));
  const status_page page = page_of({one, one}, begin + std::chrono::seconds(2));
  ASSERT_EQ(page.crashes.size(), 1U);
  EXPECT_EQ(page.crashes[0].text, "db: b has vanished; its lease ends in 4.0s, then a comes next");
  EXPECT_THAT(lines_of(one), ElementsAre(HasSubstr(" vanished=b")));
  EXPECT_TRUE(page_of({sight_of(active)}, begin).crashes.empty());
}

TEST(StatusView, WhoComesNextIsADashIfNobodyIsKnownTo) {
  for (const char* none : {R"("next":null)", R"("paused":false)"}) {
    const agent_sight one = sight_of(election(R"("state":"candidate",)" + std::string(none)));
    EXPECT_EQ(page_of({one}, begin).table[1][7].text, "-") << none;
    EXPECT_THAT(lines_of(one), ElementsAre(testing::Not(HasSubstr("next=")))) << none;
  }
}

TEST(StatusView, WhatIsLeftAndHowLongItHasBeenGoOnBetweenAnswers) {
  const status_page page = page_of({sight_of(active)}, begin + std::chrono::seconds(4));
  EXPECT_EQ(page.table[1][5].text, "5.0s");
  EXPECT_EQ(page.table[1][6].text, "11s");
  EXPECT_EQ(page_of({sight_of(active)}, begin + std::chrono::minutes(1)).table[1][5].text, "0.0s");
}

TEST(StatusView, WhyAMemberDoesNotCampaignIsInItsState) {
  const auto state = [](const std::string& more) {
    return page_of({sight_of(election(R"("state":"candidate",)" + more))}, begin).table[1][2].text;
  };
  EXPECT_EQ(state(R"("paused":false)"), "standby");
  EXPECT_EQ(state(R"("paused":true)"), "standby, paused");
  EXPECT_EQ(state(R"("aside_for_ms":12500)"), "standby, aside 12s");
  EXPECT_EQ(state(R"("health":{"state":"unhealthy","reason":"GET failed"})"),
            "standby, unhealthy: GET failed");
  EXPECT_EQ(state(R"("not_campaigning":{"reason":"no_guard","text":"it has no guard"})"),
            "standby: it has no guard");
  EXPECT_EQ(state(R"("paused":true,"not_campaigning":{"reason":"paused","text":"it is paused"})"),
            "standby, paused");
}

TEST(StatusView, ARenewalIsAskedForBeforeWhatIsLeftHasFallenFar) {
  const auto shown = [](const std::string& more) {
    return shown_for(sight_of(election(R"("state":"candidate",)" + more)));
  };
  EXPECT_EQ(shown(R"("expires_in_ms":2400)"), std::chrono::milliseconds(600));
  EXPECT_EQ(shown(R"("expires_in_ms":60000)"), std::chrono::seconds(3));
  EXPECT_EQ(shown(R"("expires_in_ms":0)"), std::chrono::milliseconds(200));
  EXPECT_EQ(shown(R"("expires_in_ms":null)"), std::chrono::seconds(3));
}

TEST(StatusView, SeveralHoldersAreAllShown) {
  const status_page page = page_of({sight_of(election(
                                       R"("state":"candidate","slots":2,
             "holders":[{"identity":"b","version":4,"slot":1},{"identity":"c","version":9,"slot":0}])"))},
                                   begin);
  EXPECT_EQ(page.table[1][3].text, "b (slot 1), c (slot 0)");
  EXPECT_EQ(page.table[1][4].text, "4, 9");
}

const std::string in_doubt = election(
    R"("state":"candidate","holder":"b","version":7,"holders":[{"identity":"b","version":7}],
       "holder_known":false,"holder_age_ms":12000,"store":{"kind":"etcd","reachable":false,
       "last_answer_ms":12000,"why":"connection refused"})");

TEST(StatusView, AHolderThatTheStoreDoesNotVouchForIsShownWithTheAgeOfTheNews) {
  const agent_sight one = sight_of(in_doubt);
  const status_page page = page_of({one}, begin + std::chrono::seconds(3));
  EXPECT_EQ(page.table[1][3].text, "b, as of 15s ago");
  EXPECT_EQ(page.table[1][3].colour, tint::warning);
  ASSERT_EQ(page.failures.size(), 1U);
  EXPECT_EQ(
      page.failures[0].text,
      "http://127.0.0.1:4040: etcd does not answer (last answer 15s ago): connection refused");
  EXPECT_THAT(lines_of(one)[0], HasSubstr("holder=b version=7 holder_known=false store=unreach"));
}

TEST(StatusView, NobodyIsSaidToHoldOnlyIfThatIsKnown) {
  const auto holder = [](const std::string& more) {
    return page_of({sight_of(election(R"("state":"candidate","holders":[],)" + more))}, begin)
        .table[1][3]
        .text;
  };
  EXPECT_EQ(holder(R"("holder_known":true)"), "nobody");
  EXPECT_EQ(holder(R"("holder_known":false,"holder_age_ms":500)"), "not known");
  EXPECT_EQ(holder(R"("holder_known":false,"holder_age_ms":null)"), "not known");
}

TEST(StatusView, AnAgentThatDoesNotAnswerIsNamedBelowTheTableAndItsRowsGo) {
  agent_sight one = sight_of(active);
  take(one,
       std::unexpected(ask_failure{.status = 5,
                                   .text = "no agent has answered: refused",
                                   .json = "{}",
                                   .silence = "refused"}),
       begin);
  const status_page page = page_of({one}, begin);
  EXPECT_EQ(page.table.size(), 1U);
  ASSERT_EQ(page.failures.size(), 1U);
  EXPECT_EQ(page.failures[0].text, "http://127.0.0.1:4040: this agent has not answered: refused");
  EXPECT_THAT(
      lines_of(one),
      ElementsAre(R"(api=http://127.0.0.1:4040 error="this agent has not answered: refused")"));
  EXPECT_THAT(json_of(one), HasSubstr("this agent has not answered: refused"));
}

agent_sight silent_at(const std::string& socket) {
  agent_sight out{.agent = {.host = {}, .socket_path = socket}};
  take(out, std::unexpected(ask_failure{.status = 5, .text = {}, .json = {}, .silence = "late"}),
       begin);
  return out;
}

TEST(StatusView, HowManyAgentsAreSilentIsSaidWithTheirProcesses) {
  const agent_sight good = sight_of(active);
  const agent_sight bad = silent_at("/run/tenure/21511.sock");
  const agent_sight other = silent_at("/run/tenure/7-2f.sock");
  EXPECT_EQ(silence_text({good, good}), "");
  EXPECT_EQ(silence_text({bad}), "no agent has answered: pid 21511: late");
  EXPECT_EQ(silence_text({good, bad, good}), "one of 3 agents has not answered: pid 21511: late");
  EXPECT_EQ(silence_text({other, good, bad}),
            "2 of 3 agents have not answered: pid 7: late; pid 21511: late");
  EXPECT_EQ(silence_text({bad, other}),
            "none of 2 agents has answered: pid 21511: late; pid 7: late");
  EXPECT_EQ(silence_text({good, silent_at("/run/tenure.sock")}),
            "one of 2 agents has not answered: late");
}

TEST(StatusView, WhatDoesNotTellOfElectionsIsNoAnswer) {
  const agent_sight one = sight_of(R"({"hello":"world"})");
  ASSERT_TRUE(one.answer);
  ASSERT_FALSE(*one.answer);
  EXPECT_EQ(one.answer->error().status, runtime::exit_cannot_tell);
}

TEST(StatusView, ALineIsTheSameForTheSameStateAndQuotesWhatHasBlanks) {
  const auto lines = lines_of(sight_of(active));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            R"(election=db agent=a state=active holder=a version=7 next=b members="a, b" )"
            R"(last_term="b 5: renew_timeout")");
  const auto odd = lines_of(sight_of(
      election(R"("state":"candidate","health":{"state":"unhealthy","reason":"say \"no\""})")));
  EXPECT_THAT(odd[0], HasSubstr(R"(holder="" version="" unhealthy="say \"no\"")"));
}

}  // namespace
}  // namespace tenure::cli
