// The place in line of the member that comes next.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/boot_time.hpp"
#include "consul_scene.hpp"
#include "stores/records/readiness_text.hpp"

namespace tenure::tests {
namespace {

constexpr core::election_index first{0};

class ConsulLine : public ConsulScene {
 protected:
  std::unique_ptr<member> join_as(const std::string& identity, std::uint32_t elections = 1) {
    auto out = join(announced(settings(identity, std::chrono::seconds(10), 1, elections)));
    // So that the holder sees it in the list.
    (*out)->announce(first, {.since_unix_ms = 1});
    return out;
  }

  line_of_two stand_in_line() {
    start();
    line_of_two out{.a = join_as("a"), .b = join_as("b"), .by_a = {}, .by_b = {}, .old = {}};
    out.by_a = out.a->watch();
    out.by_b = out.b->watch();
    out.old = out.a->hold();
    (*out.b)->stand_in_line(first, true);
    EXPECT_TRUE(have_places(*out.by_a, 1));
    return out;
  }

  /// What members of "db0" say of themselves.
  [[nodiscard]] std::vector<stores::consul::key_value> entries() const {
    const auto all =
        stores::consul::parse_keys(cluster_->call("GET", "/v1/kv/db0/.tenure/ready/?recurse").body);
    return all.value_or(std::vector<stores::consul::key_value>());
  }

  /// The sessions that they name.
  [[nodiscard]] std::vector<std::string> places() const {
    std::vector<std::string> out;
    for (const auto& one : entries()) {
      if (std::string its = stores::peer_in(one.value); !its.empty()) out.push_back(std::move(its));
    }
    return out;
  }

  /// Waits until that many members have a place, and until `by` has seen that.
  bool have_places(const sightings& by, std::size_t count) {
    if (!eventually(loop_, [&] { return places().size() == count; })) return false;
    std::uint64_t last = 0;
    for (const auto& one : entries()) last = std::max(last, one.modify_index);
    return loop_.run_until(
        [&] { return by.shows([&](const auto& o) { return core::number(o.as_of) >= last; }); });
  }

  bool shows(const sightings& what, const std::string& holder) {
    return loop_.run_until([&] { return what.shows(held_by(holder)); });
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulLine, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulLine, TheReleaseIsTheGrantToWhoStandsInLine) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const std::uint64_t locked = lock()->lock_index;
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_TRUE(by_b->seen.back().holders.front().ours);
  const auto key = lock();
  EXPECT_EQ(key->lock_index, locked + 1);
  const stores::grant next = b->hold();
  EXPECT_EQ(core::number(next.version), key->modify_index);
  EXPECT_GT(next.version, old.version);
  EXPECT_TRUE(next.released_cleanly);
  EXPECT_EQ(session_of(next), key->session);
  EXPECT_EQ(lock()->modify_index, key->modify_index) << "nothing was written";
  EXPECT_EQ(words(b->renew(term(next.version))), "renewed");
}

TEST_P(ConsulLine, AReleaseThatIsNotCleanLeavesADoubt) {
  expect_doubt_after_unclean_end(loop_, stand_in_line());
}

/// The holder's own offer is still in the list of members, so nothing is passed on.
TEST_P(ConsulLine, AHolderWhoseTermIsEndedByAnotherMemberIsFollowedWithoutALockDelay) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto c = join_as("c");
  const core::holder its = c->read().holders.at(0);
  a->close();
  EXPECT_EQ(words(c->end_term(its, {.clean = true})), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  const stores::grant next = b->hold();
  EXPECT_GT(next.version, old.version);
  EXPECT_TRUE(next.released_cleanly);
}

TEST_P(ConsulLine, AHolderWhoseSessionEndsIsFollowedByNobodyAtOnce) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  destroy(session_of(old));
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  EXPECT_EQ(holder(), "");
}

TEST_P(ConsulLine, TheWatchShowsWhetherThereIsAPlace) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const auto last_says = [&](bool in_line) {
    return loop_.run_until(
        [&] { return !by_b->seen.empty() && by_b->seen.back().in_line == in_line; });
  };
  EXPECT_TRUE(last_says(true));
  (*b)->stand_in_line(first, false);
  EXPECT_TRUE(last_says(false));
  EXPECT_TRUE(places().empty());
  (*b)->stand_in_line(first, true);
  EXPECT_TRUE(last_says(true));
  ASSERT_TRUE(have_places(*by_a, 1));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_FALSE(by_b->seen.back().in_line) << "it is a term";
}

TEST_P(ConsulLine, WhoHasLeftTheLineIsPassedNothing) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  (*b)->stand_in_line(first, false);
  ASSERT_TRUE(have_places(*by_a, 0));
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  EXPECT_EQ(holder(), "");
}

TEST_P(ConsulLine, WhoLeavesIsPassedNothing) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  const std::vector<std::string> its = places();
  b->leave();
  for (const std::string& one : its) {
    EXPECT_TRUE(eventually(loop_, [&] {
      return cluster_->call("GET", "/v1/session/info/" + one).body.find(one) == std::string::npos;
    }));
  }
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  EXPECT_EQ(holder(), "");
}

TEST_P(ConsulLine, AMemberThatIsNamedComesBeforeTheOneInLine) {
  expect_named_member_before_line(loop_, stand_in_line());
}

TEST_P(ConsulLine, TheOneInLineIsPassedTheTermIfItIsNamed) {
  expect_term_for_named_member_in_line(loop_, stand_in_line());
}

TEST_P(ConsulLine, APlaceWhoseSessionHasEndedIsPassedOver) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  for (const std::string& one : places()) destroy(one);
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(nobody); }));
  EXPECT_TRUE(b->hold().released_cleanly) << "it asks for the lock, as others do";
}

TEST_P(ConsulLine, ATermThatNobodyHasAskedForIsReleased) {
  expect_term_not_asked_for_is_over(loop_, stand_in_line());
}

TEST_P(ConsulLine, AMemberThatHoldsElsewhereTakesTheTermIntoItsSession) {
  start();
  auto a = join_as("a", 2);
  auto b = join_as("b", 2);
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant elsewhere = b->hold(1);
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(have_places(*by_a, 1));
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  const stores::grant next = b->hold();
  EXPECT_EQ(next.version, by_b->seen.back().holders.front().version);
  EXPECT_EQ(session_of(next), session_of(elsewhere));
  EXPECT_TRUE(next.released_cleanly);
  EXPECT_EQ(words(b->renew({{.which = first, .version = next.version},
                            {.which = core::election_index{1}, .version = elsewhere.version}})),
            "renewed");
}

/// Nobody releases a term that is lost.
TEST_P(ConsulLine, AMemberThatHasLostATermTakesItsPlaceUpAsAnyOther) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  (*b)->stand_in_line(first, false);
  ASSERT_TRUE(have_places(*by_a, 0));
  a->release(old.version, {.clean = true});
  const stores::grant lost = b->hold();
  put("/v1/kv/db0/.lock?release=" + session_of(lost));
  ASSERT_EQ(words(b->renew(term(lost.version))), "lost: revoked");
  const stores::grant next = a->hold();
  ASSERT_TRUE(shows(*by_b, "a"));
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(have_places(*by_a, 1));
  a->release(next.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  const auto key = lock();
  EXPECT_EQ(session_of(b->hold()), key->session);
  EXPECT_EQ(lock()->modify_index, key->modify_index) << "nothing was written";
}

TEST_P(ConsulLine, AMemberThatHasLostATermLeavesNoSessionBehind) {
  start();
  auto a = join_as("a");
  const auto by_a = a->watch();
  const stores::grant lost = a->hold();
  ASSERT_TRUE(shows(*by_a, "a"));
  put("/v1/kv/db0/.lock?release=" + session_of(lost));
  ASSERT_TRUE(loop_.run_until([&] { return by_a->shows(nobody); }));
  a->leave();
  EXPECT_TRUE(eventually(loop_, [&] {
    return !cluster_->call("GET", "/v1/session/info/" + session_of(lost))
                .body.contains(session_of(lost));
  }));
}

TEST_P(ConsulLine, ThePlaceIsRenewedForAsLongAsItIsWanted) {
  const auto [a, b, by_a, by_b, old] = stand_in_line();
  // Consul ends a session that nobody renews within twice its TTL.
  for (int seconds = 0; seconds < 24; seconds += 3) {
    const core::time_point later = base::boot_now() + std::chrono::seconds(3);
    ASSERT_TRUE(eventually(loop_, [&] { return base::boot_now() >= later; }));
    ASSERT_EQ(words(a->renew(term(old.version))), "renewed");
  }
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(shows(*by_b, "b"));
  EXPECT_TRUE(b->hold().released_cleanly);
}

}  // namespace
}  // namespace tenure::tests
