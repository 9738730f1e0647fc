#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::version;

nlohmann::json body_of(const http::response& answer) {
  return nlohmann::json::parse(answer.body);
}

void remember(scene& s) {
  s.seen.agent = "run1";
  s.seen.started_unix_ms = start_unix_ms;
  s.db().terms = std::make_shared<const api::term_list>(
      api::term_list{{.who = {.identity = "a", .version = version{5}},
                      .ended = true,
                      .to_unix_ms = start_unix_ms + 1000,
                      .reason = "expired",
                      .outage_after = api::outage{start_unix_ms - 3200, 5200, true}},
                     {.who = {.identity = "me", .version = version{(1ULL << 60U) + 1}},
                      .is_self = true,
                      .from_unix_ms = start_unix_ms + 2000}});
}

TEST(HistoryAnswer, NewestFirstAndWhatIsNotKnownIsNull) {
  scene s;
  remember(s);
  const auto answer = s.ask("/v1/elections/db/history");
  ASSERT_EQ(answer.status, 200U);
  const auto body = body_of(answer);
  EXPECT_EQ(body["election"], "db");
  EXPECT_EQ(body["agent"], "run1");
  EXPECT_EQ(body["complete_since"], "2026-01-31T12:00:00.000Z");
  ASSERT_EQ(body["terms"].size(), 2U);
  const auto& newest = body["terms"][0];
  EXPECT_EQ(newest["holder"], "me");
  EXPECT_EQ(newest["version_text"], "1152921504606846977");
  EXPECT_EQ(newest["is_self"], true);
  EXPECT_EQ(newest["ended"], false);
  EXPECT_EQ(newest["to"], nullptr);
  EXPECT_EQ(newest["reason"], nullptr);
  EXPECT_EQ(newest["outage_after"], nullptr);
  const auto& oldest = body["terms"][1];
  EXPECT_EQ(oldest["from"], nullptr);
  EXPECT_EQ(oldest["to"], "2026-01-31T12:00:01.000Z");
  EXPECT_EQ(oldest["reason"], "expired");
  EXPECT_EQ(oldest["outage_after"], nlohmann::json::parse(R"({"from":"2026-01-31T11:59:56.800Z",
                                                              "lasted_ms":5200,"at_most":true})"));
}

TEST(HistoryAnswer, LimitIsOfTheNewest) {
  scene s;
  remember(s);
  const auto body = body_of(s.ask("/v1/elections/db/history?limit=1"));
  ASSERT_EQ(body["terms"].size(), 1U);
  EXPECT_EQ(body["terms"][0]["holder"], "me");
}

TEST(HistoryAnswer, WhatIsNoLimitIsRefused) {
  scene s;
  for (const char* query : {"limit=0", "limit=-1", "limit=x", "limit=", "limt=1"}) {
    EXPECT_EQ(s.ask(std::string("/v1/elections/db/history?") + query).status, 400U) << query;
  }
}

TEST(HistoryAnswer, WithoutATermYetItIsEmpty) {
  scene s;
  EXPECT_EQ(body_of(s.ask("/v1/elections/db/history"))["terms"].size(), 0U);
  EXPECT_EQ(s.ask("/v1/elections/other/history").status, 404U);
}

TEST(ElectionAnswer, LastTermIsTheNewestThatHasEnded) {
  scene s;
  EXPECT_EQ(s.db_json()["last_term"], nullptr);
  remember(s);
  EXPECT_EQ(s.db_json()["last_term"]["holder"], "a");
  EXPECT_EQ(s.db_json()["last_term"]["reason"], "expired");
}

TEST(ElectionAnswer, MembersAreHoldersFirstAndNullWhereTheStoreCannotTell) {
  scene s;
  s.watch_shows({{.identity = "zoe", .version = version{7}}}, version{7});
  EXPECT_EQ(s.db_json()["members"], nullptr);
  s.view().seen->members = members_named({"a", "me", "zoe"});
  const auto members = s.db_json()["members"];
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0]["identity"], "zoe");
  EXPECT_EQ(members[0]["state"], "active");
  EXPECT_EQ(members[1]["identity"], "a");
  EXPECT_EQ(members[1]["state"], "standby");
  EXPECT_EQ(members[1]["is_self"], false);
  EXPECT_EQ(members[2]["identity"], "me");
  EXPECT_EQ(members[2]["is_self"], true);
}

TEST(ElectionAnswer, HolderThatTheListHasLostHasVanished) {
  scene s;
  s.watch_shows({{.identity = "a", .version = version{7}}}, version{7});
  s.view().seen->members = members_named({"me"});
  EXPECT_EQ(s.db_json()["members"][0]["state"], "active") << "it may be no member of the list";
  s.db().gone = std::make_shared<const api::gone_list>(
      api::gone_list{{.identity = "a", .last_seen_unix_ms = start_unix_ms}});
  const auto members = s.db_json()["members"];
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0]["identity"], "a");
  EXPECT_EQ(members[0]["state"], "vanished");
}

TEST(ElectionAnswer, AHolderThatDrainsIsNotShownAsStandby) {
  scene s;
  s.hold(core::phase::draining);
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true}}, version{7});
  s.view().seen->members = members_named({"me"});
  EXPECT_EQ(s.db_json()["members"][0]["state"], "draining");
}

TEST(ElectionAnswer, ShowsForHowLongItStandsAside) {
  scene s;
  EXPECT_EQ(s.db_json()["paused"], false);
  EXPECT_EQ(s.db_json()["aside_for_ms"], nullptr);
  s.view().aside_until = s.at.now + 1500ms;
  EXPECT_EQ(s.db_json()["aside_for_ms"], 1500);
  s.view().aside_until = core::never;
  s.view().paused = true;
  EXPECT_EQ(s.db_json()["aside_for_ms"], nullptr);
  EXPECT_EQ(s.db_json()["paused"], true);
}

}  // namespace
}  // namespace tenure::tests
