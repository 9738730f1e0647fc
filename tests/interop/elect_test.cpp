#include <gmock/gmock.h>

#include <csignal>
#include <sstream>

#include "scene.hpp"

/// `etcdctl elect`, which is a Go program's `concurrency.Election`, and `tenure exec` on one name.
namespace tenure::tests {
namespace {

using ::testing::ElementsAre;

/// What `etcdctl elect` has printed: a key and its value on two lines for each leader.
std::vector<std::string> leaders_in(const std::string& out) {
  std::vector<std::string> leaders;
  std::istringstream lines(out);
  for (std::string key, value; std::getline(lines, key) && std::getline(lines, value);) {
    leaders.push_back(value);
  }
  return leaders;
}

TEST_P(Interop, AnotherClientsLeaderIsShownByItsValueAndKeepsTheCommandFromStarting) {
  const auto other = etcdctl({"elect", "test", "theirs"}, "other");
  ASSERT_TRUE(eventually([&] { return !leaders_in(other->out()).empty(); })) << other->err();
  expect_to_wait_for(*other, "theirs");
}

TEST_P(Interop, AnotherClientIsElectedOnlyAfterTheDrainOfWhatWeStop) {
  const auto a = stubborn_tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto workload = a->workload();
  ASSERT_TRUE(workload);
  const auto other = etcdctl({"elect", "test", "theirs"}, "other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  EXPECT_TRUE(leaders_in(other->out()).empty());
  a->process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return !leaders_in(other->out()).empty(); }))
      << other->err() << a->process().err();
  EXPECT_FALSE(is_alive(*workload));
}

TEST_P(Interop, WhoListensToAnElectionHearsOurIdentitiesAndTheirs) {
  const auto listener = etcdctl({"elect", "--listen", "test"}, "listener");
  const auto hears = [&](const auto& leaders) {
    return eventually([&] { return ::testing::Value(leaders_in(listener->out()), leaders); });
  };
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(hears(ElementsAre("a"))) << listener->out() << a->process().err();
  const auto b = tenure("b", ttl_beyond_patience);
  ASSERT_TRUE(shows(*b, "a")) << b->process().err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(hears(ElementsAre("a", "b"))) << listener->out() << b->process().err();
  const auto other = etcdctl({"elect", "test", "theirs"}, "other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  b->process().send(SIGTERM);
  ASSERT_TRUE(hears(ElementsAre("a", "b", "theirs"))) << listener->out() << other->err();
}

}  // namespace
}  // namespace tenure::tests
