#include "api/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene.hpp"
#include "support/event_stream.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A reader of a scene.
struct reading {
  explicit reading(const scene& s, const http::request& asked) : of(s) {
    auto wanted = s.call<api::calls::events>(asked);
    if (!wanted) {
      ADD_FAILURE() << "no events for " << asked.target.path;
      return;
    }
    reader.emplace(std::move(*wanted));
  }
  reading(const scene& s, const std::string& target) : reading(s, scene::get(target)) {}

  /// The next piece; empty if there is none.
  std::string next() {
    const auto text = reader ? reader->next(of.seen, of.at, texts) : nullptr;
    return text ? *text : std::string();
  }
  /// All that there is now.
  std::string all() {
    std::string out;
    for (std::string one = next(); !one.empty(); one = next()) out += one;
    return out;
  }

  const scene& of;
  api::event_texts texts;
  std::optional<api::event_reader> reader;
};

http::request again(const std::string& target, const std::string& last_id) {
  http::request out = scene::get(target);
  out.last_event_id = last_id;
  return out;
}

/// The data of the one event in a piece, which may begin with the time to connect again.
nlohmann::json data_of(std::string_view piece) {
  if (piece.starts_with("retry: ")) piece.remove_prefix(piece.find("\n\n") + 2);
  return nlohmann::json::parse(tests::read_event(piece).value().data);
}

TEST(Events, BeginWithThePresentStateAndHowToComeAgain) {
  scene s;
  s.hold(phase::active);
  reading r(s, "/v1/elections/db/events");
  const std::string first = r.next();
  EXPECT_THAT(first, StartsWith("retry: 2000\n\nid: run1-1\nevent: election\ndata: {"));
  EXPECT_THAT(first, testing::EndsWith("}\n\n"));
  EXPECT_EQ(data_of(first), s.db_json());
  EXPECT_EQ(r.next(), "");
}

TEST(Events, ComeAtAChangeAndNotAtARenewal) {
  scene s;
  s.hold(phase::active);
  reading r(s, "/v1/elections/db/events");
  r.all();
  s.view().lease->stop_at += 5s;
  EXPECT_EQ(r.next(), "");
  s.view().phase = phase::draining;
  s.publish_change();
  EXPECT_EQ(data_of(r.next())["state"], "draining");
  EXPECT_EQ(r.next(), "");
}

TEST(Events, ComeWhenATermIsOverByTimeAlone) {
  scene s;
  s.hold(phase::active);
  reading r(s, "/v1/elections/db/events");
  r.all();
  s.advance(10s);
  EXPECT_EQ(data_of(r.next())["is_self"], false);
  EXPECT_EQ(r.next(), "");
}

TEST(Events, ThatWereMissedAreFoldedIntoTheNewestState) {
  scene s;
  reading r(s, "/v1/elections/db/events");
  r.all();
  for (std::uint64_t v = 1; v <= 100; ++v) {
    s.watch_shows({{.identity = "a", .version = version{v}}}, version{v});
    s.publish_change();
  }
  EXPECT_EQ(data_of(r.next())["version"], 100);
  EXPECT_EQ(r.next(), "");
}

TEST(Events, ReaderThatComesAgainIsNotToldWhatItHas) {
  scene s;
  reading same(s, again("/v1/elections/db/events", "run1-1"));
  EXPECT_EQ(same.all(), "retry: 2000\n\n");
  s.publish_change();
  EXPECT_THAT(same.next(), StartsWith("id: run1-" + std::to_string(s.seen.index) + "\n"));
  for (const char* other : {"run1-0", "run2-1", "run1-11", ""}) {
    reading r(s, again("/v1/elections/db/events", other));
    EXPECT_THAT(r.next(), HasSubstr("\ndata: ")) << other;
  }
}

TEST(Events, TextOfAChangeIsMadeOnceForAllReaders) {
  scene s;
  api::event_texts texts;
  s.publish_change();
  const auto one = texts.of_election(s.seen, 0, s.at);
  s.advance(1s);
  EXPECT_EQ(texts.of_election(s.seen, 0, s.at), one);
  s.publish_change();
  EXPECT_NE(texts.of_election(s.seen, 0, s.at), one);
}

TEST(Events, PresentStateIsAsOfTheConnectionAndNotOfTheChange) {
  scene s;
  s.hold(phase::active);
  reading early(s, "/v1/elections/db/events");
  early.all();
  s.advance(4s);
  reading late(s, "/v1/elections/db/events");
  EXPECT_EQ(data_of(late.next())["expires_in_ms"], 6000);
}

TEST(Events, OfAllElectionsHaveAnIdOnceTheReaderHasEverything) {
  scene s;
  s.add("cache");
  reading r(s, "/v1/events");
  EXPECT_EQ(r.next(), "retry: 2000\n\n");
  EXPECT_THAT(r.next(), StartsWith("event: election\ndata: {\"election\":\"db\""));
  EXPECT_THAT(r.next(), StartsWith("event: election\ndata: {\"election\":\"cache\""));
  EXPECT_EQ(r.next(), "id: run1-1\n\n");
  EXPECT_EQ(r.next(), "");

  s.publish_change(1);
  EXPECT_THAT(r.next(), HasSubstr("\"election\":\"cache\""));
  const std::string id = "run1-" + std::to_string(s.seen.index);
  EXPECT_EQ(r.next(), "id: " + id + "\n\n");

  reading same(s, again("/v1/events", id));
  EXPECT_EQ(same.all(), "retry: 2000\n\n");
  s.publish_change(0);
  EXPECT_THAT(same.next(), HasSubstr("\"election\":\"db\""));
}

TEST(Events, ElectionThatChangesAllTheTimeKeepsNoOtherWaiting) {
  scene s;
  s.add("cache");
  reading r(s, "/v1/events");
  r.all();
  s.publish_change(0);
  s.publish_change(1);
  EXPECT_THAT(r.next(), HasSubstr("\"election\":\"db\""));
  s.publish_change(0);
  EXPECT_THAT(r.next(), HasSubstr("\"election\":\"cache\""));
}

TEST(Events, OfTheOnlyElectionNameTheirIdThemselves) {
  const scene s;
  EXPECT_THAT(reading(s, "/v1/events").next(), HasSubstr("id: run1-1\nevent: election\ndata: "));
}

TEST(Events, ForOlderReadersHaveTheOlderBodyAndNoName) {
  scene s;
  s.hold(phase::active);
  reading r(s, "/sse");
  const std::string first = r.next();
  EXPECT_THAT(first, Not(HasSubstr("event:")));
  EXPECT_EQ(data_of(first), s.json("/"));
  EXPECT_EQ(data_of(first)["name"], "me");
  s.view().phase = phase::draining;
  s.publish_change();
  EXPECT_EQ(data_of(r.next())["name"], "");
}

TEST(Events, WhatIsNotInOrderIsAnsweredAsEverywhere) {
  scene s;
  for (const char* target :
       {"/v1/elections/nope/events", "/v1/elections/db/event", "/v1/events/x", "/sse/x"}) {
    EXPECT_EQ(s.ask(target).status, 404u) << target;
  }
  for (const char* target : {"/v1/elections/db/events", "/v1/events", "/sse"}) {
    http::request asked = scene::get(target);
    asked.method = "POST";
    EXPECT_EQ(s.ask(asked).status, 405u);
    asked = scene::get(target);
    asked.host = "evil.example";
    EXPECT_EQ(s.ask(asked).status, 403u);
  }
}

}  // namespace
}  // namespace tenure::tests
