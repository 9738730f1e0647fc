// Semaphores that members share with programs that follow Consul's guide, or only half of it: no
// more hold than may, and nobody is taken for dead who lives.

#include "consul_scene.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/semaphore_codec.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using stores::consul::semaphore_flags;
using testing::SizeIs;

class ConsulSharedSemaphore : public ConsulScene {
 protected:
  std::string make_session() const {
    const std::string made = put("/v1/session/create", R"({"TTL":"60s","NodeChecks":[]})");
    return made.substr(made.find(':') + 2, 36);
  }

  /// As the guide's commands make it: without flags.
  void contend(const std::string& session) const {
    put("/v1/kv/db0/" + session + "?acquire=" + session, "worker-1");
  }

  void write_lock(const std::string& body, const std::string& query = {}) const {
    put("/v1/kv/db0/.lock" + query, body);
  }

  static std::string official() { return "?flags=" + std::to_string(semaphore_flags); }

  [[nodiscard]] std::size_t holders() const {
    const auto body = stores::consul::parse_semaphore(lock()->value);
    EXPECT_TRUE(body) << lock()->value;
    return body ? body->holders.size() : 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulSharedSemaphore,
                         testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulSharedSemaphore, AContenderWithoutFlagsHoldsBesideALockKeyThatHasThem) {
  start();
  const std::string theirs = make_session();
  contend(theirs);
  write_lock(R"({"Limit":2,"Holders":{")" + theirs + R"(":true}})", official());
  auto a = join(settings("a", 10s, 2));
  auto b = join(settings("b", 10s, 2));
  const stores::grant held = a->hold();
  EXPECT_EQ(words(b->acquire()), "refused");
  EXPECT_EQ(holders(), 2U);
  EXPECT_THAT(b->read().holders, SizeIs(2));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  destroy(theirs);
  EXPECT_EQ(words(b->acquire()), "granted");
  EXPECT_EQ(cluster_->call("GET", "/v1/kv/db0/" + theirs).status, 404)
      << "it was one of the holders";
}

/// A check-and-set by the guide's commands leaves the lock key without flags.
TEST_P(ConsulSharedSemaphore, ALockKeyThatLosesItsFlagsLosesNoHolder) {
  start();
  auto a = join(settings("a", 10s, 3));
  auto b = join(settings("b", 10s, 3));
  auto c = join(settings("c", 10s, 3));
  const stores::grant first = a->hold();
  const stores::grant second = b->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const auto& o) { return o.holders.size() == 2; }); }));
  const std::string theirs = make_session();
  contend(theirs);
  auto body = *stores::consul::parse_semaphore(lock()->value);
  body.holders.push_back(theirs);
  body.changes.reset();
  write_lock(stores::consul::semaphore_text(body), "?cas=" + std::to_string(lock()->modify_index));
  ASSERT_TRUE(loop_.run_until(
      [&] { return seen->shows([](const auto& o) { return o.holders.size() == 3; }); }));
  for (const core::observation& one : seen->seen) EXPECT_GE(one.holders.size(), 2U);
  EXPECT_EQ(lock()->flags, 0U);
  EXPECT_EQ(words(a->renew(term(first.version))), "renewed");
  EXPECT_EQ(words(c->acquire()), "refused");
  EXPECT_EQ(words(b->release(0, second.version)), "released");
  EXPECT_EQ(words(c->acquire()), "granted");
  EXPECT_EQ(holders(), 3U);
}

/// The official client counts any key below the prefix that a session locks.
TEST_P(ConsulSharedSemaphore, AHolderIsAliveWhileItLocksAnyKeyBelowThePrefix) {
  start();
  const std::string theirs = make_session();
  put("/v1/kv/db0/a-name-of-its-own?acquire=" + theirs, "worker-1");
  write_lock(R"({"Limit":2,"Holders":{")" + theirs + R"(":true}})", official());
  auto a = join(settings("a", 10s, 2));
  a->hold();
  EXPECT_EQ(words(join(settings("b", 10s, 2))->acquire()), "refused");
  EXPECT_EQ(holders(), 2U);
}

/// Their keys are no concern of ours, whatever they are called.
TEST_P(ConsulSharedSemaphore, KeysOfOtherProgramsAreNeverDeleted) {
  start();
  const std::string named_like_a_session = "db0/adf4238a-882b-9ddc-4a9d-5b6758e4159e";
  put("/v1/kv/" + named_like_a_session, "data");
  auto a = join(settings("a", 10s, 2));
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_EQ(cluster_->call("GET", "/v1/kv/" + named_like_a_session).status, 200);
}

}  // namespace
}  // namespace tenure::tests
