#include "api/long_poll.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using testing::HasSubstr;

/// The call, if it may wait.
std::optional<api::calls::status> poll(const scene& s, const http::request& asked) {
  auto out = s.call<api::calls::status>(asked);
  return out && out->reader.wait > 0s ? out : std::nullopt;
}
std::optional<api::calls::status> poll(const scene& s, const std::string& target) {
  return poll(s, scene::get(target));
}

bool has_news(const api::calls::status& what, const scene& s) {
  return api::has_news(what.reader, s.seen.agent, api::index_of(what, s.seen, s.at.now));
}

http::request with_etag(const std::string& target, const std::string& etag) {
  http::request out = scene::get(target);
  out.if_none_match = etag;
  return out;
}

std::string etag_of(const http::response& r) {
  for (const http::header& h : r.headers) {
    if (h.name == "ETag") return h.value;
  }
  return {};
}

TEST(LongPoll, WaitsOnlyWhileTheIndexIsTheReaders) {
  scene s;
  for (const char* target : {"/v1/elections/db?index=1", "/v1/elections?index=1"}) {
    scene now = scene();
    const auto asked = poll(now, target);
    ASSERT_TRUE(asked) << target;
    EXPECT_EQ(asked->reader.wait, 30s) << "by default";
    EXPECT_FALSE(has_news(*asked, now));
    now.publish_change();
    EXPECT_TRUE(has_news(*asked, now));
  }
  for (const char* other : {"0", "2", "18446744073709551615"}) {
    const auto asked = poll(s, std::string("/v1/elections/db?index=") + other);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(has_news(*asked, s)) << "larger or smaller";
  }
}

TEST(LongPoll, HearsThatATermIsOverByTimeAlone) {
  scene s;
  s.hold(phase::active);
  const auto asked = poll(s, "/v1/elections/db?index=1&wait=2m");
  ASSERT_TRUE(asked);
  s.advance(10s - 1ns);
  EXPECT_FALSE(has_news(*asked, s));
  s.advance(1ns);
  EXPECT_TRUE(has_news(*asked, s));
}

TEST(LongPoll, OfOneElectionDoesNotHearOfAnother) {
  scene s;
  s.add("cache");
  const auto asked = poll(s, "/v1/elections/db?index=1");
  const auto list = poll(s, "/v1/elections?index=1");
  ASSERT_TRUE(asked && list);
  s.publish_change(1);
  EXPECT_FALSE(has_news(*asked, s));
  EXPECT_TRUE(has_news(*list, s));
}

TEST(LongPoll, DurationsAreThoseOfTheConfigurationUpToTenMinutes) {
  const scene s;
  const auto wait = [&](const std::string& text) {
    const auto asked = poll(s, "/v1/elections/db?index=1&wait=" + text);
    return asked ? std::optional(asked->reader.wait) : std::nullopt;
  };
  EXPECT_EQ(wait("500ms"), 500ms);
  EXPECT_EQ(wait("1m30s"), 90s);
  EXPECT_EQ(wait("10m"), 10min);
  EXPECT_FALSE(wait("0s")) << "whoever waits for nothing is answered at once";
  EXPECT_EQ(s.ask("/v1/elections/db?index=1&wait=0s").status, 200u);
  for (const char* bad : {"", "5", "11m", "-1s", "soon", "5s5s"}) {
    const std::string target = std::string("/v1/elections/db?index=1&wait=") + bad;
    EXPECT_FALSE(poll(s, target)) << bad;
    EXPECT_EQ(s.ask(target).status, 400u) << bad;
    EXPECT_THAT(s.ask(target).body, HasSubstr("which is not a duration up to 600s")) << bad;
  }
}

TEST(LongPoll, WhatIsNotInOrderIsA400ThatSaysWhy) {
  const scene s;
  const auto message = [&](const std::string& query) {
    const http::response r = s.ask("/v1/elections/db?" + query);
    EXPECT_EQ(r.status, 400u) << query;
    EXPECT_FALSE(poll(s, "/v1/elections/db?" + query));
    return std::string(nlohmann::json::parse(r.body)["error"]["message"]);
  };
  EXPECT_EQ(message("index=x"), "\"x\" is not an index: a whole number");
  EXPECT_EQ(message("index=-1"), "\"-1\" is not an index: a whole number");
  EXPECT_EQ(message("index=1&index=2"), "\"index\" is given more than once");
  EXPECT_EQ(message("wait=3s"),
            "wait needs what has been seen: an index, or an ETag in If-None-Match");
}

TEST(LongPoll, IsOnlyForWhomIsAllowedToAskAndForElectionsThatThereAre) {
  const scene s;
  EXPECT_FALSE(poll(s, "/v1/elections/nope?index=1"));
  EXPECT_FALSE(poll(s, "/?index=1"));
  http::request asked = scene::get("/v1/elections/db?index=1");
  asked.host = "evil.example";
  EXPECT_FALSE(poll(s, asked));
  asked = scene::get("/v1/elections/db?index=1");
  asked.method = "POST";
  EXPECT_FALSE(poll(s, asked));
}

TEST(LongPoll, EtagThatMatchesIs304WithTheEtag) {
  scene s;
  for (const char* target : {"/v1/elections/db", "/v1/elections"}) {
    const std::string etag = etag_of(s.ask(target));
    EXPECT_EQ(etag, "W/\"run1-" + std::to_string(s.seen.index) + "\"");
    for (const std::string& same : {etag, "\"other\", " + etag, etag.substr(2), std::string("*")}) {
      const http::response r = s.ask(with_etag(target, same));
      EXPECT_EQ(r.status, 304u) << same;
      EXPECT_EQ(etag_of(r), etag);
      EXPECT_TRUE(r.body.empty());
    }
    s.publish_change();
    const http::response r = s.ask(with_etag(target, etag));
    EXPECT_EQ(r.status, 200u);
    EXPECT_NE(etag_of(r), etag);
  }
}

TEST(LongPoll, EtagOfAnotherRunOfTheAgentNeverMatches) {
  const scene s;
  EXPECT_EQ(s.ask(with_etag("/v1/elections/db", "W/\"run2-1\"")).status, 200u);
  EXPECT_EQ(s.ask(with_etag("/v1/elections/db", "W/\"xrun1-1\"")).status, 200u);
}

TEST(LongPoll, WithAnEtagWaitsForSomethingElse) {
  scene s;
  const auto asked = poll(s, with_etag("/v1/elections/db?wait=5s", "W/\"run1-1\""));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->reader.wait, 5s);
  EXPECT_FALSE(has_news(*asked, s));
  s.publish_change();
  EXPECT_TRUE(has_news(*asked, s));
  EXPECT_FALSE(poll(s, with_etag("/v1/elections/db", "W/\"run1-1\""))) << "without wait, at once";
}

TEST(LongPoll, AnswerNamesIndexAndRunOfTheAgent) {
  const scene s;
  EXPECT_EQ(s.db_json()["index"], 1);
  EXPECT_EQ(s.db_json()["agent"], "run1");
  EXPECT_EQ(s.json("/v1/elections")["index"], 1);
  EXPECT_EQ(s.json("/v1/elections")["agent"], "run1");
}

}  // namespace
}  // namespace tenure::tests
