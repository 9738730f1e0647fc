// What an operator may do to Consul's keys and servers while we hold and watch.

#include <chrono>
#include <fstream>

#include "consul_scene.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/semaphore_codec.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using stores::consul::lock_flags;
using stores::consul::semaphore_flags;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ConsulOperator : public ConsulScene {
 protected:
  /// `consul snapshot save` or `restore`.
  int snapshot(const std::string& what) {
    return child({GetParam().binary, "snapshot", what, "-http-addr=" + cluster_->endpoint(),
                  folder_ / "backup"})
        .wait();
  }

  static std::string flags(std::uint64_t what) { return "?flags=" + std::to_string(what); }

  temporary_directory folder_;
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulOperator, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulOperator, AForcedReleaseIsShownAndIsTheEndOfTheTerm) {
  start();
  auto a = join(settings("a", 24h));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  put("/v1/kv/db0/.lock?release=" + holder());
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
  auto b = join(settings("b"));
  const stores::grant next = b->hold();
  EXPECT_FALSE(next.released_cleanly) << "nobody knows that a's workload is dead";
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: taken_over");
}

TEST_P(ConsulOperator, AValueThatIsWrittenOverOursEndsTheTerm) {
  start();
  auto a = join(settings("a", 24h));
  const stores::grant held = a->hold();
  put("/v1/kv/db0/.lock" + flags(lock_flags), "mine");
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
  EXPECT_GT(a->hold().version, held.version) << "our session still locks it";
}

TEST_P(ConsulOperator, AKeyOfAnotherProgramIsNeverTaken) {
  start();
  put("/v1/kv/db0/.lock", "of another program");
  std::vector<std::string> said;
  stores::setup with = settings("a");
  with.notes = [&](const stores::notice& what) {
    said.push_back((what.is_trouble ? "trouble: " : "over: ") + what.text);
  };
  auto a = join(with);
  EXPECT_EQ(words(a->acquire()), "refused") << "and not tried again before the watch shows more";
  EXPECT_EQ(words(a->acquire()), "refused");
  EXPECT_THAT(said, ElementsAre(AllOf(HasSubstr("trouble: the key db0/.lock is not a lock"),
                                      HasSubstr("then delete the key"))))
      << "once";
  put("/v1/kv/db0/.lock" + flags(semaphore_flags), "no semaphore");
  ASSERT_TRUE(loop_.run_until([&] { return said.size() == 2; }));
  EXPECT_THAT(said.back(), HasSubstr("is not a semaphore, although its flags say so"));
  EXPECT_EQ(words(a->acquire()), "refused");
  EXPECT_EQ(lock()->value, "no semaphore");
  cluster_->call("DELETE", "/v1/kv/db0/.lock");
  ASSERT_TRUE(loop_.run_until([&] { return said.size() == 3; }));
  EXPECT_THAT(said.back(), HasSubstr("over: any member may lock the key db0/.lock again"));
  EXPECT_EQ(words(a->acquire()), "granted");
}

/// Consul leaves a key alone that is locked again by its session with the value that it has, so
/// its index would be that of the term before.
TEST_P(ConsulOperator, AHolderThatIsTakenOutOfASemaphoreHoldsAnewUnderALargerVersion) {
  start();
  auto a = join(settings("a", 60s, 2));
  const stores::grant held = a->hold();
  put("/v1/kv/db0/.lock" + flags(semaphore_flags), R"({"Limit":2,"Holders":{}})");
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
  auto b = join(settings("b", 60s, 2));
  const stores::grant between = b->hold();
  const stores::grant again = a->hold();
  EXPECT_GT(again.version, between.version);
  EXPECT_NE(again.sequencer, held.sequencer);
  EXPECT_EQ(words(a->renew(term(again.version))), "renewed");
  EXPECT_EQ(words(a->release(0, again.version)), "released");
}

/// What the key has said is gone: under which version, and in which slot, it was held.
TEST_P(ConsulOperator, ATermWhoseKeyIsOverwrittenIsLostAndTheNextOneHasASlotOfItsOwn) {
  start();
  auto a = join(settings("a", 60s, 2));
  auto b = join(settings("b", 60s, 2));
  a->hold();
  const stores::grant held = b->hold();
  put("/v1/kv/db0/" + held.sequencer.substr(std::string("db0/").size(), 36) +
          flags(semaphore_flags),
      "x");
  EXPECT_THAT(words(b->renew(term(held.version))), StartsWith("lost"));
  const stores::grant again = b->hold();
  EXPECT_GT(again.version, held.version);
  EXPECT_EQ(again.slot, 1U);
  EXPECT_THAT(a->read().holders, Contains(tests::other("b", again.version, 1)));
  EXPECT_EQ(words(b->renew(term(again.version))), "renewed");
  EXPECT_EQ(words(b->release(0, again.version)), "released");
}

TEST_P(ConsulOperator, ALockWhoseKeyIsOverwrittenIsHeldAnewUnderALargerVersion) {
  start();
  auto a = join(settings("a", 60s));
  const stores::grant held = a->hold();
  put("/v1/kv/db0/.lock" + flags(lock_flags), "x");
  EXPECT_THAT(words(a->renew(term(held.version))), StartsWith("lost"));
  const stores::grant again = a->hold();
  EXPECT_GT(again.version, held.version);
  EXPECT_EQ(again.slot, 0U);
  EXPECT_THAT(a->read().holders, ElementsAre(tests::own("a", again.version)));
  EXPECT_EQ(words(a->renew(term(again.version))), "renewed");
  EXPECT_EQ(words(a->release(0, again.version)), "released");
}

/// As somebody makes it with curl who follows the guide: without flags, and with a list.
TEST_P(ConsulOperator, ASemaphoreOfTheGuideIsSharedAsItIs) {
  start();
  const std::string made = put("/v1/session/create", R"({"TTL":"60s","NodeChecks":[]})");
  const std::string theirs = made.substr(made.find(':') + 2, 36);
  put("/v1/kv/db0/" + theirs + "?acquire=" + theirs, "worker-1");
  put("/v1/kv/db0/.lock?cas=0", R"({"Limit": 2, "Holders": [")" + theirs + R"("]})");
  auto a = join(settings("a", 10s, 2));
  auto b = join(settings("b", 10s, 2));
  const stores::grant held = a->hold();
  const auto body = stores::consul::parse_semaphore(lock()->value);
  ASSERT_TRUE(body) << lock()->value;
  EXPECT_TRUE(body->as_list);
  EXPECT_EQ(body->holders.size(), 2U);
  EXPECT_EQ(lock()->flags, 0U);
  const core::observation seen = b->read();
  ASSERT_EQ(seen.holders.size(), 2U);
  EXPECT_EQ(seen.holders[0].identity, "worker-1");
  EXPECT_EQ(words(b->acquire()), "refused");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  destroy(theirs);
  EXPECT_EQ(words(b->acquire()), "granted");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

/// As after somebody has written a smaller limit. The guide calls it a conflict.
TEST_P(ConsulOperator, ASemaphoreWithMoreHoldersThanItsLimitGrantsNothingUntilFewerHold) {
  start();
  std::vector<std::string> theirs;
  std::string holders;
  for (int i = 0; i < 3; ++i) {
    const std::string made = put("/v1/session/create", R"({"TTL":"60s","NodeChecks":[]})");
    theirs.push_back(made.substr(made.find(':') + 2, 36));
    put("/v1/kv/db0/" + theirs.back() + flags(semaphore_flags) + "&acquire=" + theirs.back());
    holders += (i == 0 ? "\"" : ",\"") + theirs.back() + "\":true";
  }
  put("/v1/kv/db0/.lock" + flags(semaphore_flags), R"({"Limit":2,"Holders":{)" + holders + "}}");
  auto a = join(settings("a", 10s, 2));
  EXPECT_EQ(words(a->acquire()), "refused");
  EXPECT_EQ(a->read().holders.size(), 3U) << "all of them are shown";
  destroy(theirs[0]);
  EXPECT_EQ(words(a->acquire()), "refused") << "as many as may hold";
  destroy(theirs[1]);
  EXPECT_EQ(words(a->acquire()), "granted");
}

/// The tuple of Consul's guide, (key, LockIndex, session), as a resource would look at it.
TEST_P(ConsulOperator, ASequencerTellsAnyoneWhoAsksConsulWhetherItsTermIsInForce) {
  start();
  const auto holds = [this](const std::string& sequencer) {
    const auto first = sequencer.find('@');
    const auto last = sequencer.rfind('@');
    const auto shown =
        cluster_->call("GET", "/v1/kv/" + sequencer.substr(0, first) + "?consistent");
    if (shown.status != 200) return false;
    const auto key = stores::consul::parse_keys(shown.body)->front();
    return std::to_string(key.lock_index) == sequencer.substr(first + 1, last - first - 1) &&
           key.session == sequencer.substr(last + 1);
  };
  for (const std::uint32_t slots : {1U, 2U}) {
    SCOPED_TRACE(slots);
    stores::setup with = settings("a", 60s, slots);
    with.elections.front().name = "of-" + std::to_string(slots);
    auto a = join(with);
    const stores::grant first = a->hold();
    EXPECT_TRUE(holds(first.sequencer)) << first.sequencer;
    ASSERT_EQ(words(a->release(0, first.version)), "released");
    EXPECT_FALSE(holds(first.sequencer));
    const stores::grant second = a->hold();
    EXPECT_TRUE(holds(second.sequencer));
    // The contender's key of a semaphore is deleted with its term, and its LockIndex begins anew:
    // two terms of a session differ by their versions alone.
    if (slots == 1) EXPECT_FALSE(holds(first.sequencer)) << "the same session";
    EXPECT_GT(second.version, first.version);
    destroy(session_of(second));
    EXPECT_FALSE(holds(second.sequencer));
  }
}

TEST_P(ConsulOperator, ALockThatAnotherProgramHoldsStaysOne) {
  start();
  const std::string made = put("/v1/session/create", R"({"TTL":"60s","NodeChecks":[]})");
  const std::string theirs = made.substr(made.find(':') + 2, 36);
  put("/v1/kv/db0/.lock" + flags(lock_flags) + "&acquire=" + theirs);
  auto a = join(settings("a", 10s, 2));
  EXPECT_EQ(words(a->acquire()), "refused");
  EXPECT_EQ(holder(), theirs);
  destroy(theirs);
}

TEST_P(ConsulOperator, AHolderOfASemaphoreWhoseSessionEndedIsPrunedWithItsKey) {
  start();
  auto a = join(settings("a", 10s, 2));
  auto b = join(settings("b", 10s, 2));
  auto c = join(settings("c", 10s, 2));
  const stores::grant first = a->hold();
  b->hold();
  const std::string dead =
      first.sequencer.substr(std::string("db0/").size(), std::string::npos).substr(0, 36);
  destroy(dead);
  // The look may be answered first, and b, which holds the other slot, is all that it shows.
  EXPECT_THAT(words(a->renew(term(first.version))),
              testing::AnyOf(is_session_loss(), "lost: taken_over"));
  const stores::grant next = c->hold();
  EXPECT_FALSE(next.released_cleanly);
  EXPECT_EQ(cluster_->call("GET", "/v1/kv/db0/" + dead).status, 404);
  EXPECT_EQ(stores::consul::parse_semaphore(lock()->value)->holders.size(), 2U);
}

TEST_P(ConsulOperator, AHolderThatIsTakenOutOfASemaphoreHasLostItsSlot) {
  start();
  auto a = join(settings("a", 24h, 2));
  const stores::grant held = a->hold();
  put("/v1/kv/db0/.lock" + flags(semaphore_flags), R"({"Limit":2,"Holders":{}})");
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: revoked");
}

TEST_P(ConsulOperator, AReleasedSlotLeavesNeitherContenderNorHolder) {
  start();
  auto a = join(settings("a", 10s, 2));
  const stores::grant held = a->hold();
  ASSERT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(stores::consul::parse_semaphore(lock()->value)->holders.empty());
  const auto all = cluster_->call("GET", "/v1/kv/db0/?keys");
  EXPECT_THAT(all.body, AllOf(HasSubstr("db0/.lock"), HasSubstr("db0/.tenure/release")));
  EXPECT_EQ(std::ranges::count(all.body, ','), 1) << all.body;
}

TEST_P(ConsulOperator, ARestoredBackupIsNoticedAndNobodyIsBelievedToHaveReleased) {
  start();
  auto a = join(settings("a", 24h));
  const stores::grant first = a->hold();
  ASSERT_EQ(words(a->release(0, first.version)), "released");
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  ASSERT_EQ(snapshot("save"), 0);
  auto b = join(settings("b", 24h));
  const stores::grant lost = b->hold();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  ASSERT_EQ(snapshot("restore"), 0);
  cluster_->wait_until_healthy();
  ASSERT_TRUE(eventually(loop_, [&] { return seen->shows(nobody) || !seen->broken.empty(); }));
  EXPECT_THAT(words(b->renew(term(lost.version))), HasSubstr("lost: "));
  stores::acquire_outcome next;
  ASSERT_TRUE(eventually(loop_, [&] {
    next = a->acquire();
    return words(next) == "granted";
  })) << words(next);
  EXPECT_FALSE(std::get<stores::grant>(next).released_cleanly) << "b's workload may run";
}

}  // namespace
}  // namespace tenure::tests
