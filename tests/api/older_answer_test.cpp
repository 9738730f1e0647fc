#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;

TEST(OlderAnswer, OneBodyHasTheFieldsOfAllFour) {
  scene s;
  s.hold(phase::active);
  const auto body = s.json("/");
  EXPECT_EQ(body["name"], "me");
  EXPECT_EQ(body["last_update"], "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(body["is_leader"], true);
  EXPECT_EQ(body["leader"], "me");
  EXPECT_EQ(body["node"], "me");
  EXPECT_EQ(body["timestamp"], "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(s.json("/api/leader"), body);
}

TEST(OlderAnswer, NameIsEmptyWhileWeHoldButMayNotAct) {
  scene s;
  for (const phase in : {phase::pending, phase::draining}) {
    s.hold(in);
    const auto body = s.json("/");
    EXPECT_EQ(body["name"], "") << "readers begin to work when they see their own name";
    EXPECT_EQ(body["leader"], "");
    EXPECT_EQ(body["is_leader"], false);
  }
}

TEST(OlderAnswer, NameIsEmptyFromStopAt) {
  scene s;
  s.hold(phase::active);
  s.advance(10s);
  EXPECT_EQ(s.json("/")["name"], "");
  EXPECT_EQ(s.json("/")["is_leader"], false);
}

TEST(OlderAnswer, StandbyNamesTheHolder) {
  scene s;
  s.watch_shows({{.identity = "other", .version = version{5}}}, version{5});
  EXPECT_EQ(s.json("/")["name"], "other");
  EXPECT_EQ(s.json("/")["node"], "me");
  EXPECT_EQ(s.json("/")["version"], 5);
}

TEST(OlderAnswer, FirstElectionIsTheOneThatIsMeant) {
  scene s;
  s.add("cache");
  EXPECT_EQ(s.json("/")["election"], "db");
}

TEST(OlderAnswer, Is503BeforeThereIsAnyElection) {
  scene s;
  s.seen.elections.clear();
  EXPECT_EQ(s.ask("/").status, 503u);
}

}  // namespace
}  // namespace tenure::tests
