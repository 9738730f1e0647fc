#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "api/service.hpp"
#include "raw_client.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::version;
using nlohmann::json;
using testing::HasSubstr;

struct watched : scene {
  watched() {
    view().phase = core::phase::observer;
    watch_shows({{.identity = "b", .version = version{9}, .sequencer = "db/.lock@3@s"}},
                version{9});
  }
};

TEST(VerifyAnswer, ValidTermIs200WithWhatItRestsOn) {
  watched s;
  s.advance(250ms);
  const http::response r = s.ask("/v1/elections/db/verify?version=9&holder=b");
  EXPECT_EQ(r.status, 200U);
  EXPECT_EQ(
      r.body,
      R"({"valid":true,"election":"db",)"
      R"("asked":{"version":9,"version_text":"9","holder":"b","sequencer":null},)"
      R"("holder":"b","version":9,"version_text":"9",)"
      R"("holders":[{"identity":"b","version":9,"slot":0}],"source":"cache",)"
      R"("as_of":"2026-01-31T12:00:00.000Z","age_ms":250,"expires_in_ms":null,)"
      R"("identity":"me","store":{"kind":"etcd","reachable":true,"last_answer_ms":250,"why":null},)"
      R"("cluster_id":"c1"})"
      "\n");
}

TEST(VerifyAnswer, TermThatIsOverIs409WithTheReasonAndWhoHoldsNow) {
  watched s;
  const http::response r = s.ask("/v1/elections/db/verify?version=7&holder=b");
  EXPECT_EQ(r.status, 409U);
  const json body = json::parse(r.body);
  EXPECT_EQ(body["valid"], false);
  EXPECT_EQ(body["reason"], "superseded");
  EXPECT_EQ(body["message"],
            "version 7 of election \"db\" is over; b holds it now, under version 9");
  EXPECT_EQ(body["holder"], "b");
  EXPECT_EQ(body["version"], 9);
  EXPECT_EQ(body["asked"]["version"], 7);
}

TEST(VerifyAnswer, ASequencerStandsForTheVersionOrIsCheckedBesideIt) {
  watched s;
  const http::response r = s.ask("/v1/elections/db/verify?sequencer=db%2F.lock%403%40s");
  EXPECT_EQ(r.status, 200U);
  const json said = json::parse(r.body);
  EXPECT_EQ(said["asked"], (json{{"version", nullptr},
                                 {"version_text", nullptr},
                                 {"holder", nullptr},
                                 {"sequencer", "db/.lock@3@s"}}));
  EXPECT_EQ(said["holder"], "b");
  EXPECT_EQ(said["version"], 9);
  EXPECT_EQ(s.ask("/v1/elections/db/verify?version=9&sequencer=db%2F.lock%403%40s").status, 200U);
  EXPECT_EQ(s.json("/v1/elections/db/verify?sequencer=other")["error"]["code"], "cache_behind");

  const auto asked = s.call<api::calls::verify>(
                          scene::get("/v1/elections/db/verify?version=9&sequencer=x&fresh=1"))
                         .value();
  const api::fresh_view now{.seen = *s.view().seen, .asked_at = s.at.now};
  const http::response no = api::answer_fresh(asked, s.seen, s.at, now);
  EXPECT_EQ(no.status, 409U);
  EXPECT_EQ(json::parse(no.body)["reason"], "other_sequencer");
  EXPECT_THAT(no.body,
              HasSubstr("version 9 of election \\\"db\\\" is in force by another sequencer"));
}

TEST(VerifyAnswer, WhatCannotBeVouchedForIs503ThatSaysWhatToDo) {
  watched s;
  EXPECT_EQ(s.ask("/v1/elections/db/verify?version=10").status, 503U);
  EXPECT_EQ(s.json("/v1/elections/db/verify?version=10")["error"]["code"], "cache_behind");
  s.view().seen->expires_at = s.at.now;
  EXPECT_EQ(s.json("/v1/elections/db/verify?version=9")["error"]["code"], "lease_may_be_over");
  s.db().watched = false;
  const json body = s.json("/v1/elections/db/verify?version=9");
  EXPECT_EQ(body["error"]["code"], "watch_broken");
  EXPECT_THAT(body["error"]["action"].get<std::string>(), HasSubstr("fresh=1"));
  s.store_says(core::contact::failed{.asked_at = s.at.now, .why = "connection refused"});
  const json down = s.json("/v1/elections/db/verify?version=9");
  EXPECT_EQ(down["error"]["code"], "store_unreachable");
  EXPECT_EQ(down["error"]["message"], "the store does not answer: connection refused");
}

TEST(VerifyAnswer, QuestionThatIsNotInOrderIs400AndIsNotGuessedAt) {
  const watched s;
  for (const char* query :
       {"", "?version=", "?version=0", "?version=-1", "?version=+9", "?version=09", "?version=9x",
        "?version=18446744073709551616", "?version=9&holder=", "?version=9&fresh=yes",
        "?version=9&hodler=c", "?version=9&version=7", "?version=9&holder=b&holder=c",
        "?sequencer=", "?version=9&sequencer=", "?sequencer=a&sequencer=b",
        "?version=0&sequencer=a", "?holder=b"}) {
    for (const char* fresh : {"", "&fresh=1"}) {
      const std::string target = std::string("/v1/elections/db/verify") + query + fresh;
      if (target.ends_with("verify&fresh=1")) continue;
      const http::response r = s.ask(target);
      EXPECT_EQ(r.status, 400U) << target;
      EXPECT_THAT(r.body, HasSubstr("\"code\":\"bad_query\"")) << target;
      EXPECT_FALSE(s.call<api::calls::verify>(scene::get(target))) << target;
    }
  }
  EXPECT_EQ(s.ask("/v1/elections/db/verify?version=18446744073709551615").status, 503U);
}

TEST(VerifyAnswer, UnknownElectionIs404AndOtherMethodsAre405) {
  const watched s;
  EXPECT_EQ(s.ask("/v1/elections/nope/verify?version=9").status, 404U);
  EXPECT_EQ(s.ask("/v1/elections/db/verify/more?version=9").status, 404U);
  http::request asked = scene::get("/v1/elections/db/verify?version=9");
  asked.method = "POST";
  EXPECT_EQ(s.ask(asked).status, 405U);
  asked.method = "HEAD";
  EXPECT_EQ(s.ask(asked).status, 200U);
}

TEST(VerifyAnswer, NameWithASlashIsPercentEncoded) {
  watched s;
  s.add("a/b");
  EXPECT_EQ(s.json("/v1/elections/a%2Fb/verify?version=9")["error"]["code"], "watch_broken");
  const auto asked =
      s.call<api::calls::verify>(scene::get("/v1/elections/a%2Fb/verify?version=9&fresh=1"));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->place, 1U);
}

TEST(VerifyAnswer, StrangersDoNotMakeTheAgentReadItsStore) {
  const watched s;
  http::request asked = scene::get("/v1/elections/db/verify?version=9&fresh=1");
  EXPECT_TRUE(s.call<api::calls::verify>(asked).value().fresh);
  asked.host = "evil.example";
  EXPECT_FALSE(s.call<api::calls::verify>(asked));
  EXPECT_EQ(s.ask(asked).status, 403U);
}

TEST(VerifyAnswer, FreshOneIsJudgedByTheReadAndNotByTheWatch) {
  const watched s;
  const auto asked =
      s.call<api::calls::verify>(scene::get("/v1/elections/db/verify?version=9&fresh=1")).value();
  const api::fresh_view now{
      .seen = {.as_of = version{12}, .holders = {{.identity = "c", .version = version{12}}}},
      .asked_at = s.at.now};
  const http::response r = api::answer_fresh(asked, s.seen, s.at, now);
  EXPECT_EQ(r.status, 409U);
  EXPECT_THAT(r.body, HasSubstr("\"source\":\"store\""));
  EXPECT_THAT(r.body, HasSubstr("\"holder\":\"c\",\"version\":12"));

  const http::response none = api::answer_fresh(
      asked, s.seen, s.at,
      std::unexpected(wire::problem{.code = "store_unknown", .message = "m", .action = "a"}));
  EXPECT_EQ(none.status, 503U) << "no answer of the store is not a no";
}

api::service_settings api_alone() {
  api::service_settings out;
  out.api = settings::listen_address{"127.0.0.1", 0};
  out.probe.reset();
  return out;
}

TEST(VerifyService, FreshAnswerComesFromAnotherThreadAndTheRestFromTheBoard) {
  api::published published;
  watched s;
  published.publish(std::make_shared<const api::snapshot>(s.seen.share()));
  std::jthread reading;
  const api::fresh_reader reader = [&](core::election_index which, api::fresh_handler done) {
    EXPECT_EQ(core::place(which), 0U);
    reading = std::jthread([done = std::move(done)]() mutable {
      done(api::fresh_view{
          .seen = {.as_of = version{12}, .holders = {{.identity = "c", .version = version{12}}}},
          .asked_at = start});
    });
  };
  auto service = api::service::start(
      published, api_alone(),
      {.boot = [] { return start; }, .unix_ms = [] { return start_unix_ms; }}, reader);
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  EXPECT_EQ(client.ask(get("/v1/elections/db/verify?version=12&fresh=1")).status, 200);
  EXPECT_EQ(client.ask(get("/v1/elections/db/verify?version=9&fresh=1")).status, 409);
  EXPECT_EQ(client.ask(get("/v1/elections/db/verify?version=9")).status, 200);
  client.send("HEAD /v1/elections/db/verify?version=9&fresh=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive(false).status, 409);
}

TEST(VerifyService, WithoutAReaderFreshIsSaidToBeImpossible) {
  api::published published;
  watched s;
  published.publish(std::make_shared<const api::snapshot>(s.seen.share()));
  auto service =
      api::service::start(published, api_alone(),
                          {.boot = [] { return start; }, .unix_ms = [] { return start_unix_ms; }});
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  const reply r = client.ask(get("/v1/elections/db/verify?version=9&fresh=1"));
  EXPECT_EQ(r.status, 503);
  EXPECT_THAT(r.body, HasSubstr("no_fresh_reads"));
}

}  // namespace
}  // namespace tenure::tests
