// The place in line of the member that comes next.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.hpp"
#include "etcd_scene.hpp"
#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

constexpr core::election_index first{0};

class EtcdLine : public EtcdNode {
 protected:
  std::unique_ptr<member> join_as(const std::string& identity, core::duration ttl = long_ttl,
                                  std::uint32_t elections = 1) {
    return join(announced(settings(identity, {etcd_->endpoint()}, ttl, elections)));
  }

  /// The identities of all contenders, holders first, as etcd has them.
  std::vector<std::string> contenders(const std::string& election = "db0") {
    std::vector<std::string> out;
    for (const auto& one : etcd_operator(*etcd_).keys(election + "/")) out.push_back(one.value);
    return out;
  }

  line_of_two stand_in_line(core::duration ttl_of_b = long_ttl) {
    line_of_two out{
        .a = join_as("a"), .b = join_as("b", ttl_of_b), .by_a = {}, .by_b = {}, .old = {}};
    out.by_a = out.a->watch();
    out.by_b = out.b->watch();
    out.old = out.a->hold();
    (*out.b)->stand_in_line(first, true);
    EXPECT_TRUE(become({"a", "b"}));
    return out;
  }

  bool become(const std::vector<std::string>& expected, const std::string& election = "db0") {
    return eventually([&] { return contenders(election) == expected; });
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdLine, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdLine, TheReleaseIsTheGrantToWhoStandsInLine) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] {
    return by_b->shows([](const auto& o) { return o.holders.size() == 1 && o.holders[0].ours; });
  }));
  const core::version shown = by_b->seen.back().holders[0].version;
  const stores::grant next = b->hold();
  EXPECT_EQ(next.version, shown);
  EXPECT_GT(next.version, old.version);
  EXPECT_TRUE(next.released_cleanly);
  EXPECT_EQ(words(renew(*b, next.version, renewal_time)), "renewed");
}

TEST_P(EtcdLine, TheWatchShowsWhetherThereIsAPlace) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto last_says = [&](bool in_line) {
    return loop_.run_until(
        [&] { return !by_b->seen.empty() && by_b->seen.back().in_line == in_line; });
  };
  EXPECT_TRUE(last_says(true));
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(by_b->seen.back().in_line) << "the key is there still";
  EXPECT_TRUE(last_says(false));
  EXPECT_THAT(contenders(), testing::ElementsAre("a"));
  // From when it is asked for, as nobody knows when etcd will write it.
  (*b)->stand_in_line(first, true);
  EXPECT_TRUE(last_says(true));
  EXPECT_TRUE(become({"a", "b"}));
  a->release(old.version, {.clean = true});
  EXPECT_TRUE(last_says(false)) << "it is a term";
}

TEST_P(EtcdLine, APlaceBehindAProgramThatKnowsNoSlotsSaysHowManyThereAre) {
  // As `etcdctl lock` has it.
  etcd_operator(*etcd_).put("db0/77cfd7f382168515", "other");
  const auto b = join_as("b");
  const auto by_b = b->watch();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(become({"other", "b"}));
  etcd_operator(*etcd_).erase("db0/77cfd7f382168515");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_EQ(by_b->seen.back().agreed.slots, 1U) << "nothing else says that b is alone";
}

TEST_P(EtcdLine, AReleaseThatIsNotCleanLeavesADoubt) {
  expect_doubt_after_unclean_end(loop_, stand_in_line());
}

TEST_P(EtcdLine, AHolderWhoseTermIsEndedByAnotherMemberIsFollowedByWhoStandsInLine) {
  const line_of_two two = stand_in_line();
  expect_line_moves_on_without_the_holder(loop_, two, *join_as("c"));
}

TEST_P(EtcdLine, AHolderThatIsDeletedLeavesADoubt) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  etcd_operator(*etcd_).erase(key_of(old));
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_FALSE(b->hold().released_cleanly);
}

TEST_P(EtcdLine, WhoLeavesTheLineHasNoKeyAnyMore) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(become({"a"}));
  (*b)->stand_in_line(first, true);
  EXPECT_TRUE(become({"a", "b"}));
  b->leave();
  EXPECT_TRUE(become({"a"})) << "at the end of an agent, too";
}

TEST_P(EtcdLine, APlaceIsThereOnlyWhileSomebodyHolds) {
  auto a = join_as("a");
  auto b = join_as("b");
  const auto by_b = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  (*b)->stand_in_line(first, true);
  const stores::grant old = a->hold();
  EXPECT_TRUE(become({"a", "b"}));
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(become({"a"}));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  EXPECT_TRUE(become({}));
}

TEST_P(EtcdLine, AReleaseOfEverythingTakesThePlaceAlong) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  (*b)->stand_in_line(first, false);
  EXPECT_EQ(words(b->release(0, core::no_version)), "released");
  EXPECT_TRUE(become({"a"}));
}

TEST_P(EtcdLine, AMemberThatIsNamedComesBeforeTheOneInLine) {
  auto a = join_as("a");
  auto b = join_as("b");
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(become({"a", "b"}));
  // The one that is shown last, so that a has seen b's place by then.
  auto c = join_as("c");
  const auto by_c = c->watch();
  ASSERT_TRUE(loop_.run_until([&] {
    return by_a->shows([](const auto& o) { return o.members && o.members->size() == 3; });
  }));
  a->release(old.version, {.clean = true, .heir = "c"});
  ASSERT_TRUE(loop_.run_until([&] { return by_c->shows(nobody); }));
  EXPECT_TRUE(c->hold().released_cleanly);
  EXPECT_TRUE(become({"c", "b"})) << "b stands in line behind c";
}

TEST_P(EtcdLine, TheLeaseOfATermIsRenewedWithTheTermAlone) {
  constexpr core::duration ttl = std::chrono::seconds(2);
  auto a = join_as("a");
  auto b = join_as("b", ttl);
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(become({"a", "b"}));
  // It outlives its TTL, which nobody renews but the place.
  const core::time_point later = base::boot_now() + 3 * ttl;
  ASSERT_TRUE(eventually([&] { return base::boot_now() >= later; }));
  ASSERT_EQ(contenders(), (std::vector<std::string>{"a", "b"}));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  b->hold();
  // Now it is the lease of a term that nobody renews.
  EXPECT_TRUE(loop_.run_until([&] { return by_a->shows(nobody); }));
}

TEST_P(EtcdLine, PlacesOfSeveralElectionsAreIndependent) {
  auto a = join_as("a", long_ttl, 3);
  auto b = join_as("b", long_ttl, 3);
  std::vector<std::shared_ptr<sightings>> by_b;
  std::vector<stores::grant> old;
  for (std::uint32_t i = 0; i < 3; ++i) {
    by_b.push_back(b->watch(i));
    old.push_back(a->hold(i));
    (*b)->stand_in_line(core::election_index{i}, true);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(become({"a", "b"}, "db" + std::to_string(i)));
  }
  EXPECT_EQ(words(a->release(1, old[1].version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b[1]->shows(held_by("b")); }));
  EXPECT_TRUE(b->hold(1).released_cleanly);
  // The lease of the places has become that of a term: the others get another one.
  const auto lease_of_others_differs = [&] {
    const auto held = etcd_operator(*etcd_).keys("db1/");
    const auto waits = etcd_operator(*etcd_).keys("db0/");
    return held.size() == 1 && waits.size() == 2 && waits[1].lease != held[0].lease;
  };
  EXPECT_TRUE(eventually(lease_of_others_differs));
}

/// One with so many elections is in no list, and its places would be more than a look shows.
TEST_P(EtcdLine, AMemberThatIsNotListedForItsManyElectionsHasNoPlace) {
  auto a = join_as("a");
  auto b = join_as("b", long_ttl, 101);
  auto c = join_as("c");
  const auto by_b = b->watch();
  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  (*b)->stand_in_line(first, true);
  (*c)->stand_in_line(first, true);
  EXPECT_TRUE(become({"a", "c"}));
  EXPECT_FALSE(by_b->seen.back().in_line);
}

/// A member that was in line when it was cut off, and is passed the term without knowing it.
class EtcdLineBehindANetwork : public EtcdBehindANetwork {};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdLineBehindANetwork,
                         testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdLineBehindANetwork, ATermThatNobodyKnowsOfRunsOut) {
  auto b = join(announced(settings("b", {near_->endpoint()}, std::chrono::seconds(2))));
  auto a = join(settings("a", {etcd_->endpoint()}));
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(eventually([&] { return etcd_operator(*etcd_).keys("db0/").size() == 2; }));
  near_->refuse();
  near_->cut();
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return by_a->shows(held_by("b")); }));
  EXPECT_TRUE(loop_.run_until([&] { return by_a->shows(nobody); }))
      << "nobody renews what b does not know of";
}

/// A proxy that drops an event, and nothing else: the progress of the watch goes on.
TEST_P(EtcdLineBehindANetwork, ATermWhoseEventTheWatchHasLostIsFoundByALook) {
  // It looks after a third of the ttl. A busy machine may need the rest.
  stores::setup with = announced(settings("b", {near_->endpoint()}, std::chrono::seconds(9)));
  std::vector<std::string> noted;
  with.notes = [&](const stores::notice& what) { noted.push_back(what.text); };
  auto b = join(with);
  auto a = join(settings("a", {etcd_->endpoint()}));
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(eventually([&] { return etcd_operator(*etcd_).keys("db0/").size() == 2; }));
  near_->lose_pieces(R"("type":"DELETE")");
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(eventually([&] { return near_->lost_pieces() == 1; }));
  near_->heal();
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_GT(b->hold().version, old.version);
  EXPECT_THAT(noted, testing::ElementsAre(testing::HasSubstr("has lost a change of the election"),
                                          testing::HasSubstr("complete again")));
}

/// The event of the place itself is lost as well.
TEST_P(EtcdLineBehindANetwork, AWatchThatLosesThePlaceAndItsTermIsFoundOut) {
  stores::setup with = announced(settings("b", {near_->endpoint()}, std::chrono::seconds(9)));
  auto b = join(with);
  auto a = join(settings("a", {etcd_->endpoint()}));
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  near_->lose_pieces(R"("events")");
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(eventually([&] { return etcd_operator(*etcd_).keys("db0/").size() == 2; }));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(eventually([&] { return near_->lost_pieces() >= 2; }));
  near_->heal();
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")) || by_b->shows(nobody); }));
  EXPECT_GT(b->hold().version, old.version);
}

/// A fake etcd in which "a" holds, whatever its watch says.
class EtcdLineInAFake : public etcd_scene, public testing::Test {
 protected:
  EtcdLineInAFake() {
    fake_.on("/v3/kv/txn",
             [this](peer& to, const std::string& request) { to.reply(transaction(request)); });
    fake_.on("/v3/watch", [this](peer& to, const std::string&) {
      to.send("HTTP/1.1 200 OK\r\n\r\n" + in_watch(R"("created":true)", "5"));
      while (!to.closed_within(std::chrono::milliseconds(1))) to.send(news());
    });
  }

  /// Writes places and deletes them, and shows the holder to all who read.
  std::string transaction(const std::string& request) {
    const std::lock_guard lock(mutex_);
    const std::string key = field_of(request, "key", R"("success")");
    const bool is_contender = base::from_base64(key).value_or("").starts_with("db0/");
    std::string read;
    if (is_contender && request.contains("request_put")) {
      place_ = key_value(key, "b", "6", field_of(request, "lease"));
    } else if (is_contender && request.contains("request_delete_range")) {
      place_.clear();
    } else if (!request.contains("request_put")) {
      read = R"({"response_range":{"kvs":[)" + of_a_ + R"(],"count":"1"}})";
    }
    return "{" + header() + R"(,"succeeded":true,"responses":[)" + read + "]}";
  }

  std::string place() {
    const std::lock_guard lock(mutex_);
    return place_;
  }

  void show(const std::string& event, const std::string& revision) {
    const std::lock_guard lock(mutex_);
    news_ += in_watch(R"("events":[)" + event + "]", revision);
  }

  std::string news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
  }

  static std::string in_watch(const std::string& what, const std::string& revision) {
    return R"({"result":{)" + header(revision) + R"(,"watch_id":"1",)" + what + "}}";
  }

  static std::string key_value(const std::string& key, const std::string& identity,
                               const std::string& revision, const std::string& lease) {
    return R"({"key":")" + key + R"(","value":")" + base::to_base64(identity) +
           R"(","create_revision":")" + revision + R"(","mod_revision":")" + revision +
           R"(","lease":")" + lease + "\"}";
  }

  const std::string key_of_a_ = base::to_base64("db0/1");
  const std::string of_a_ = key_value(key_of_a_, "a", "5", "1");
  std::mutex mutex_;  ///< of what follows but the fake
  std::string place_;
  std::string news_;
  fake_etcd fake_;  ///< last: its threads use the rest
};

/// The release is from before a restore, which has put the place behind the holder again.
TEST_F(EtcdLineInAFake, APlaceThatWasGivenBackIsNoTermForTheWatchAlone) {
  auto b = join(announced(settings("b", {fake_.endpoint()})));
  const auto by_b = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(eventually([&] { return !place().empty(); }));
  show(R"({"kv":)" + place() + "}", "6");
  (*b)->stand_in_line(first, false);
  ASSERT_TRUE(eventually([&] { return place().empty(); }));
  show(R"({"type":"DELETE","kv":{"key":")" + key_of_a_ + R"(","mod_revision":"7"}})", "7");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_EQ(words(acquire(*b, renewal_time)), "refused");
}

}  // namespace
}  // namespace tenure::tests
