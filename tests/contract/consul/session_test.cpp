// Sessions as Consul's documentation describes them, each property a setting.

#include "consul_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class ConsulSession : public ConsulScene {};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulSession, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulSession, IsAsItWasAskedForAndDependsOnNoCheckByDefault) {
  start();
  auto a = join(settings("a", 15s));
  a->hold();
  const auto info = cluster_->call("GET", "/v1/session/info/" + holder());
  EXPECT_THAT(info.body, AllOf(HasSubstr(R"("Name":"tenure a")"), HasSubstr(R"("TTL":"15000ms")"),
                               HasSubstr(R"("Behavior":"release")"), HasSubstr(R"("LockDelay":0)"),
                               HasSubstr(R"("NodeChecks":[])")));
}

TEST_P(ConsulSession, ANodeCheckThatFailsEndsTheLeaseAtOnce) {
  start();
  register_node_check("alive");
  stores::setup with = settings("a", 24h);
  with.consul.node_checks = {"serfHealth", "alive"};
  auto a = join(with);
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  fail_check("alive");
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_THAT(words(a->renew(term(held.version))), is_session_loss());
  EXPECT_EQ(words(join(settings("b"))->acquire()), "granted");
}

TEST_P(ConsulSession, AServiceCheckThatFailsEndsTheLeaseAtOnce) {
  start();
  register_service_check("service:web");
  stores::setup with = settings("a", 24h);
  with.consul.service_checks = {"service:web"};
  auto a = join(with);
  const stores::grant held = a->hold();
  fail_check("service:web");
  ASSERT_TRUE(eventually(loop_, [&] { return holder().empty(); }));
  EXPECT_THAT(words(a->renew(term(held.version))), is_session_loss());
}

TEST_P(ConsulSession, OfACheckThatDoesNotExistOrDoesNotPassIsNotMadeAndTheReasonSaid) {
  start();
  stores::setup with = settings("a");
  with.consul.node_checks = {"absent"};
  EXPECT_THAT(words(join(with)->acquire()), AllOf(HasSubstr("unknown: "), HasSubstr("absent"),
                                                  HasSubstr("each check of a session must exist")));
  register_node_check("ill");
  fail_check("ill");
  with.consul.node_checks = {"ill"};
  auto a = join(with);
  std::string said;
  // The agent tells the servers of its checks a moment later.
  ASSERT_TRUE(eventually(loop_, [&] {
    said = words(a->acquire());
    return said.contains("critical");
  })) << said;
  EXPECT_THAT(said, HasSubstr("a check that the session needs does not pass"));
}

TEST_P(ConsulSession, ThatReleasesLeavesItsKeyAndOneThatDeletesTakesItAlong) {
  start();
  auto a = join(settings("a"));
  const stores::grant first = a->hold();
  destroy(holder());
  ASSERT_TRUE(lock());
  EXPECT_THAT(words(a->renew(term(first.version))), is_session_loss());

  stores::setup with = settings("b");
  with.consul.behavior = settings::session_behavior::remove;
  auto b = join(with);
  const stores::grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  destroy(holder());
  EXPECT_FALSE(lock());
  EXPECT_THAT(words(b->renew(term(second.version))), is_session_loss());
  EXPECT_GT(a->hold().version, second.version) << "versions grow although the key was deleted";
}

TEST_P(ConsulSession, LockDelayKeepsTheLockFromEverybodyAndIsToldToTheBudget) {
  start();
  stores::setup with = settings("a");
  with.consul.lock_delay = 2s;
  auto a = std::make_unique<member>(loop_, with);
  ASSERT_TRUE(a->open());
  const stores::grant held = a->hold();
  auto b = join(settings("b"));
  const core::time_point before = base::boot_now();
  destroy(holder());
  auto outcome = b->acquire();
  ASSERT_EQ(words(outcome), "refused");
  EXPECT_LT(std::get<stores::refusal>(outcome).seen.retry_at, core::never)
      << "no watch shows the end of a lock-delay";
  // Where the look at the key is late, the loss does not wait for it.
  EXPECT_TRUE(eventually(loop_, [&] {
    const auto told = a->renew(term(held.version));
    EXPECT_THAT(words(told), is_session_loss());
    return std::get<stores::renewal>(told).lost.front().room == 2s;
  }));
  ASSERT_TRUE(eventually(loop_, [&] {
    outcome = b->acquire();
    return words(outcome) == "granted";
  }));
  EXPECT_GE(base::boot_now() - before, 2s);
  EXPECT_FALSE(std::get<stores::grant>(outcome).released_cleanly);
}

TEST_P(ConsulSession, LockDelayIsNoneForASemaphoreNorToldToTheBudget) {
  start();
  stores::setup with = settings("a", 10s, 2);
  with.consul.lock_delay = 60s;
  auto a = join(with);
  const stores::grant held = a->hold();
  auto b = join(settings("b", 10s, 2));
  b->hold();
  destroy(session_of(held));
  EXPECT_EQ(words(join(settings("c", 10s, 2))->acquire()), "granted");
  EXPECT_TRUE(eventually(loop_, [&] {
    const auto told = a->renew(term(held.version));
    return testing::Matches(is_session_loss())(words(told)) &&
           std::get<stores::renewal>(told).lost.front().room == 0s;
  }));
}

TEST_P(ConsulSession, AReleaseOfOursStartsNoLockDelay) {
  start();
  stores::setup with = settings("a");
  with.consul.lock_delay = 60s;
  auto a = join(with);
  const stores::grant held = a->hold();
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  auto b = join(settings("b"));
  EXPECT_EQ(words(b->acquire()), "granted");
}

TEST_P(ConsulSession, WithoutATtlOnlyAnOperatorEndsIt) {
  start();
  stores::setup with = settings("a", 1s);
  with.consul.without_ttl = true;
  auto a = join(with);
  const stores::grant held = a->hold();
  EXPECT_EQ(held.ttl, 1s) << "our own budget is as without it";
  const std::string session = holder();
  EXPECT_THAT(cluster_->call("GET", "/v1/session/info/" + session).body,
              testing::Not(HasSubstr(R"("TTL":"1)")));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  a->close();
  // A session with a TTL of a second that nobody renews, made later, ends earlier.
  stores::setup other = settings("b", 1s);
  other.elections = {{.name = "other"}};
  auto b = join(other);
  b->hold();
  b->close();
  auto c = join(other);
  ASSERT_TRUE(eventually(loop_, [&] { return c->read().holders.empty(); }));
  EXPECT_EQ(holder(), session);
  destroy(session);
  EXPECT_EQ(holder(), "");
}

TEST_P(ConsulSession, ATtlThatConsulRefusesIsExplained) {
  start({.least_ttl = 10s});
  auto a = join(settings("a", 2s));
  EXPECT_THAT(words(a->acquire()),
              AllOf(HasSubstr("must be between"), HasSubstr("session_ttl_min of all Consul")));
}

/// Nobody knows how long the session of an earlier run lives, so the term moves to one of ours.
TEST_P(ConsulSession, OfAnEarlierRunIsLeftBehindAndTheTermGoesOnInAnother) {
  start();
  for (const std::uint32_t slots : {1U, 2U}) {
    SCOPED_TRACE(slots);
    stores::setup with = settings("a", 10s, slots);
    with.elections.front().name = "of " + std::to_string(slots);
    auto first = join(with);
    const stores::grant before = first->hold();
    first->close();
    auto again = join(with);
    const stores::grant now = again->hold();
    EXPECT_EQ(now.version, before.version);
    EXPECT_NE(session_of(now), session_of(before));
    destroy(session_of(before));
    EXPECT_EQ(words(again->renew(term(now.version))), "renewed");
    EXPECT_EQ(again->read().holders.size(), 1U);
    EXPECT_EQ(words(again->release(0, now.version)), "released");
    EXPECT_GT(again->hold().version, before.version);
  }
}

TEST_P(ConsulSession, ThatHasEndedUnnoticedIsReplacedByTheNextCampaign) {
  start();
  auto a = join(settings("a"));
  const stores::grant first = a->hold();
  const std::string session = holder();
  ASSERT_EQ(words(a->release(0, first.version)), "released");
  destroy(session);
  EXPECT_GT(a->hold().version, first.version);
  EXPECT_NE(holder(), session);
}

}  // namespace
}  // namespace tenure::tests
