#include <csignal>

#include "scene.hpp"

/// `etcdctl lock`, which is a Go program's `concurrency.Mutex`, and `tenure exec` on one name.
namespace tenure::tests {
namespace {

TEST_P(Interop, AnotherClientsLockIsShownAndKeepsTheCommandFromStarting) {
  const auto other = etcdctl({"lock", "test"}, "other");
  ASSERT_TRUE(eventually([&] { return other->out().ends_with('\n'); })) << other->err();
  // A mutex has no value: the name of its key is all that there is to show.
  expect_to_wait_for(*other, other->out().substr(0, other->out().find('\n')));
}

TEST_P(Interop, TheCommandUnderAnotherClientsLockEndsBeforeOursBegins) {
  const auto other = locked_stamper("other");
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=test/"); })) << a->process().err();
  for (const pid_t command : children_of(other->pid())) ::kill(command, SIGTERM);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
}

TEST_P(Interop, AnotherClientThatVanishedIsFollowedOnceItsLeaseHasRunOut) {
  auto other = locked_stamper("other", 2);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=test/"); })) << a->process().err();
  other.reset();
  ASSERT_TRUE(contenders_become(1));
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
}

TEST_P(Interop, AnotherClientsLockWaitsForOurCommandToEnd) {
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  const auto workload = a->workload();
  ASSERT_TRUE(workload);
  ::kill(*workload, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << a->process().err();
}

TEST_P(Interop, AnotherClientsLockWaitsForTheDrainOfWhatWeStop) {
  const auto a = stubborn_tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << a->process().err();
}

TEST_P(Interop, AnotherClientsLockFollowsOurTtlWhenAllOfUsHasVanished) {
  const auto a = tenure("a", "2s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  a->pull_the_plug();
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
}

TEST_P(Interop, AFrozenAgentsCommandIsDeadWhenAnotherClientGetsItsLock) {
  const auto a = stubborn_tenure("a", "2s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
}

}  // namespace
}  // namespace tenure::tests
