#include "api/election_pages.hpp"

#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;

/// The answer with the help of `pages`, which must be the one without.
nlohmann::json ask(const scene& s, api::election_pages& pages, const char* target) {
  const http::response with = api::answer(scene::get(target), s.seen, s.alive, s.at, {}, pages);
  EXPECT_EQ(with.body, s.ask(target).body);
  return nlohmann::json::parse(with.body);
}

TEST(ElectionPages, WhatFollowsFromTimeIsOfTheAnswerAndNotOfTheChange) {
  scene s;
  s.hold(phase::active);
  api::election_pages pages;
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], 10'000);
  s.advance(4s);
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], 6'000);
  EXPECT_EQ(ask(s, pages, "/v1/elections")["elections"][0]["as_of"], "2026-01-31T12:00:04.000Z");
  s.view().lease->stop_at += 5s;
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], 11'000) << "after a renewal";
}

TEST(ElectionPages, TermThatIsOverByTimeAloneIsNotShownFromTheOldPage) {
  scene s;
  s.hold(phase::active);
  api::election_pages pages;
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["is_self"], true);
  s.advance(10s);
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["is_self"], false);
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], nullptr);
}

TEST(ElectionPages, ChangeIsShown) {
  scene s;
  api::election_pages pages;
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["holder"], nullptr);
  s.watch_shows({{.identity = "a", .term = version{5}}}, version{5});
  s.publish_change();
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["holder"], "a");
}

TEST(ElectionPages, LeaseOfAnotherMayLearnAndForgetItsEnd) {
  scene s;
  s.watch_shows({{.identity = "a", .term = version{5}}}, version{5});
  api::election_pages pages;
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], nullptr);
  s.view().seen->expires_at = start + 3s;  // no change: it has no other index
  EXPECT_EQ(ask(s, pages, "/v1/elections/db")["expires_in_ms"], 3'000);
}

TEST(ElectionPages, MoreElectionsThanAreKeptAreAllShown) {
  scene s;
  for (std::size_t i = 1; i < api::election_pages::most_kept + 2; ++i) {
    s.add("e" + std::to_string(i));
  }
  api::election_pages pages;
  const auto list = ask(s, pages, "/v1/elections");
  EXPECT_EQ(list["elections"].size(), api::election_pages::most_kept + 2);
  EXPECT_EQ(list["elections"].back()["election"],
            "e" + std::to_string(api::election_pages::most_kept + 1));
}

}  // namespace
}  // namespace tenure::tests
