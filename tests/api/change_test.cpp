#include "api/change.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;

/// What an election shows, without what only follows from time.
nlohmann::json shown(const scene& s) {
  nlohmann::json out = s.db_json();
  for (const char* one : {"as_of", "expires_in_ms", "holder_age_ms", "index"}) out.erase(one);
  out["store"].erase("last_answer_ms");
  return out;
}

struct edit {
  std::string what;
  std::function<void(scene&)> make;
};

scene holder() {
  scene s;
  s.hold(phase::active);
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true}}, version{7});
  return s;
}

const std::vector<edit>& edits() {
  static const std::vector<edit> all{
      {"phase", [](scene& s) { s.view().phase = phase::draining; }},
      {"version", [](scene& s) { s.view().lease->version = version{8}; }},
      {"sequencer", [](scene& s) { s.view().sequencer = "proof-8"; }},
      {"no lease", [](scene& s) { s.view().lease.reset(); }},
      {"workload", [](scene& s) { s.view().workload_running = false; }},
      {"last loss", [](scene& s) { s.view().last_loss = core::loss_reason::resigned; }},
      {"since", [](scene& s) { s.db().since_unix_ms += 1; }},
      {"health", [](scene& s) { s.seen.health = api::health_report{}; }},
      {"health reason", [](scene& s) { s.seen.health = api::health_report{.reason = "x"}; }},
      {"paused", [](scene& s) { s.view().paused = true; }},
      {"members", [](scene& s) { s.view().seen->members = members_named({"me"}); }},
      {"in_line", [](scene& s) { s.view().seen->in_line = true; }},
      {"next", [](scene& s) { s.view().next = core::member{.identity = "b"}; }},
      {"last term",
       [](scene& s) {
         s.db().terms = std::make_shared<const api::term_list>(
             api::term_list{{.who = {.identity = "a", .version = version{3}}, .ended = true}});
       }},
      {"obstacle",
       [](scene& s) { s.view().held_back = {.why = core::campaign_obstacle::no_guard}; }},
      {"gone",
       [](scene& s) {
         s.db().gone = std::make_shared<const api::gone_list>(api::gone_list{{.identity = "b"}});
       }},
      {"cluster", [](scene& s) { s.seen.cluster_id = "c2"; }},
      {"renewal",
       [](scene& s) {
         s.view().lease->sent_at += 5s;
         s.view().lease->stop_at += 5s;
         s.view().lease->kill_at += 5s;
         s.view().lease->safe_until += 5s;
       }},
      {"renewal seen", [](scene& s) { s.view().seen->as_of = version{12}; }},
      {"others' renewal", [](scene& s) { s.view().seen->expires_at = start + 7s; }},
      {"watch", [](scene& s) { s.db().seen_at = start + 1s; }},
      {"answer", [](scene& s) { s.store_says(core::contact::answered{}); }},
      {"failure",
       [](scene& s) { s.store_says(core::contact::failed{.asked_at = start, .why = "refused"}); }},
      {"watch of the store",
       [](scene& s) { s.store_says(core::contact::watch_broke{.why = "torn"}); }},
      {"stopping", [](scene& s) { s.seen.stopping = true; }}};
  return all;
}

TEST(Change, IsWhatAnAnswerShowsAndNothingElse) {
  const scene before = holder();
  for (const edit& one : edits()) {
    scene after = holder();
    one.make(after);
    const bool same = api::shows_same(before.seen, after.seen) &&
                      api::shows_same(before.seen.elections[0], after.seen.elections[0]);
    EXPECT_EQ(same, shown(before) == shown(after)) << one.what;
  }
}

TEST(Change, OfWhoComesNextIsItsNameAndNotWhyItComesNext) {
  scene before = holder();
  before.view().next = core::member{.identity = "b"};
  scene after = holder();
  after.view().next = core::member{.identity = "b", .says = core::readiness{.priority = 3}};
  EXPECT_EQ(shown(before), shown(after));
  EXPECT_TRUE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
  after.view().next = core::member{.identity = "c"};
  EXPECT_FALSE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
  after.view().next.reset();
  EXPECT_FALSE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
}

TEST(Change, OfMembersIsAlsoWhatTheySayOfThemselves) {
  const auto saying = [](core::readiness what) {
    scene s = holder();
    s.view().seen->members = std::vector<core::member>{{.identity = "b", .says = what}};
    return s;
  };
  const scene before = saying({.since_unix_ms = 1000});
  for (const core::readiness other : {core::readiness{}, core::readiness{.since_unix_ms = 1001},
                                      core::readiness{.since_unix_ms = 1000, .priority = 1}}) {
    const scene after = saying(other);
    EXPECT_NE(shown(before), shown(after));
    EXPECT_FALSE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
  }
}

TEST(Change, OfAStandbyIsWhomItShows) {
  scene before;
  before.watch_shows({{.identity = "a", .version = version{5}}}, version{5});
  scene after;
  after.watch_shows({{.identity = "a", .version = version{5}}}, version{9});
  EXPECT_TRUE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
  after.watch_shows({{.identity = "b", .version = version{9}}}, version{9});
  EXPECT_FALSE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
}

TEST(Change, LeaseThatEndsEarlierThanItWasSaidToIsNews) {
  const scene before = holder();
  scene after = holder();
  after.view().lease->stop_at -= 1ms;
  EXPECT_FALSE(api::shows_same(before.seen.elections[0], after.seen.elections[0]));
}

TEST(Change, IndexTurnsAtStopAtAlthoughNothingWasPublished) {
  scene s = holder();
  const auto index = [&] { return api::index_of(s.seen.elections[0], s.seen, s.at.now); };
  const std::uint64_t before = index();
  EXPECT_EQ(api::next_turn(s.seen, s.at.now), start + 10s);
  s.advance(10s - 1ns);
  EXPECT_EQ(index(), before);
  s.advance(1ns);
  EXPECT_GT(index(), before);
  EXPECT_EQ(api::next_turn(s.seen, s.at.now), core::never);
  EXPECT_EQ(s.db_json()["index"], index());
  const std::uint64_t turned = index();
  s.view().phase = phase::draining;  // the election thread has noticed
  s.publish_change();
  EXPECT_GT(index(), turned);
}

TEST(Change, DrainThatWasNotTheHolderAnyMoreDoesNotTurn) {
  scene s = holder();
  s.view().phase = phase::draining;
  s.view().last_loss = core::loss_reason::session_invalid;
  const nlohmann::json before = shown(s);
  s.advance(11s);
  EXPECT_EQ(shown(s), before);
  EXPECT_EQ(s.db_json()["index"], s.seen.elections[0].index);
  EXPECT_EQ(api::next_turn(s.seen, start), core::never);
}

TEST(Change, OfAStandbyIsAlsoWhetherItsWatchIsUp) {
  scene up;
  up.watch_shows({{.identity = "a", .version = version{5}}}, version{5});
  scene down;
  down.watch_shows({{.identity = "a", .version = version{5}}}, version{5});
  down.db().watched = false;
  EXPECT_FALSE(api::shows_same(up.seen.elections[0], down.seen.elections[0]));
}

TEST(Change, EveryIndexTurnsWhenTheStoreHasSaidNothingForTooLong) {
  scene s = holder();
  s.store_answers(15s);
  core::election_view& mine = s.view();
  mine.lease->stop_at = start + 12s;
  s.add("other");
  std::vector<std::uint64_t> before;
  const auto indexes = [&] {
    return std::vector{api::index_of(s.seen, s.at.now),
                       api::index_of(s.seen.elections[0], s.seen, s.at.now),
                       api::index_of(s.seen.elections[1], s.seen, s.at.now)};
  };
  before = indexes();
  EXPECT_EQ(api::next_turn(s.seen, s.at.now), start + 10s);
  s.advance(10s - 1ns);
  EXPECT_EQ(indexes(), before);
  s.advance(1ns);
  std::vector<std::uint64_t> silent = indexes();
  for (std::size_t i = 0; i < silent.size(); ++i) EXPECT_GT(silent[i], before[i]) << i;
  EXPECT_EQ(s.json("/v1/elections/other")["store"]["reachable"], false);
  // stop_at comes on top, of the one that it ends.
  s.advance(2s);
  EXPECT_GT(indexes()[1], silent[1]);
  EXPECT_EQ(indexes()[2], silent[2]);
  const std::uint64_t last = indexes()[0];
  s.publish_change();
  EXPECT_GT(s.seen.index, last);
}

TEST(Change, IndexesOfElectionsThatTurnOneAfterTheOtherNeverMeet) {
  scene s;
  for (const char* name : {"b", "c", "d"}) s.add(name);
  const std::size_t count = s.seen.elections.size();
  // Two of them end at the same instant.
  const std::vector<core::duration> ends{3s, 1s, 3s, 2s};
  for (std::size_t i = 0; i < count; ++i) {
    core::election_view& view = s.seen.elections.edit(i).view;
    view.phase = phase::active;
    view.lease = core::lease{.version = version{1}, .stop_at = start + ends[i]};
  }
  std::set<std::uint64_t> of_all{api::index_of(s.seen, s.at.now)};
  std::uint64_t last = *of_all.begin();
  for (int second = 1; second <= 3; ++second) {
    s.advance(1s);
    const std::uint64_t now = api::index_of(s.seen, s.at.now);
    EXPECT_GT(now, last) << second;
    last = now;
    std::set<std::uint64_t> turned;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& one = s.seen.elections[i];
      const std::uint64_t index = api::index_of(one, s.seen, s.at.now);
      EXPECT_LE(index, now);
      if (index == one.index) continue;
      EXPECT_TRUE(turned.insert(index).second) << "two have the same";
    }
    EXPECT_EQ(turned.size(), second == 3 ? 4u : static_cast<std::size_t>(second));
  }
  s.publish_change();
  EXPECT_GT(s.seen.index, last) << "a publication leaves room for all of them";
}

}  // namespace
}  // namespace tenure::tests
