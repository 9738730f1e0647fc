#include <csignal>
#include <map>
#include <set>

#include "scene.hpp"

/// Many at once: Go clients queue up with a key each, we come when the queue is empty.
namespace tenure::tests {
namespace {

TEST_P(Interop, EverybodyInTheQueueAndBehindItRunsOnceAndAlone) {
  std::map<std::string, std::unique_ptr<member>> ours;
  std::map<std::string, std::unique_ptr<program>> theirs;
  ours["a"] = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << ours["a"]->process().err();
  for (const std::string name : {"b", "c"}) {
    ours[name] = tenure(name, ttl_beyond_patience);
    ASSERT_TRUE(shows(*ours[name], "a")) << ours[name]->process().err();
  }
  for (const std::string name : {"x", "y", "z"}) {
    theirs[name] = locked_stamper(name);
    ASSERT_TRUE(contenders_become(2 + theirs.size())) << theirs[name]->err();
  }

  const std::size_t all = ours.size() + theirs.size();
  std::set<std::string> served;
  while (served.size() < all) {
    const std::size_t round = served.size();
    ASSERT_TRUE(eventually([&] { return stamped_runs(in_).size() > round; })) << "round " << round;
    const std::string holder = stamped_runs(in_).back().identity;
    EXPECT_TRUE(served.insert(holder).second) << holder << " ran again";
    if (ours.contains(holder)) {
      ours[holder]->process().send(SIGTERM);
    } else {
      for (const pid_t command : children_of(theirs[holder]->pid())) ::kill(command, SIGTERM);
    }
  }
  EXPECT_EQ(stamped_runs(in_).size(), all);
}

}  // namespace
}  // namespace tenure::tests
