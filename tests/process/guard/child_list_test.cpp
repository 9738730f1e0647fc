#include "process/child_list.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "stage.hpp"

namespace tenure::tests {
namespace {

using process::child_list;

class ChildList : public testing::TestWithParam<child_list::way> {
 protected:
  std::set<pid_t> listed() {
    std::set<pid_t> found;
    list_.rewind();
    while (const auto child = list_.next()) found.insert(*child);
    EXPECT_TRUE(list_.complete());
    return found;
  }

  child_list list_;
};

TEST_P(ChildList, HasEveryChildAndNobodyElse) {
  ASSERT_TRUE(list_.open(::getpid(), GetParam()));
  EXPECT_TRUE(listed().empty());
  // More than one buffer holds.
  constexpr int many = 700;
  std::set<pid_t> children;
  for (int i = 0; i < many; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    children.insert(child);
  }
  EXPECT_EQ(listed(), children);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(listed().empty());
}

TEST_P(ChildList, HasAChildThatEndedUntilItIsReaped) {
  ASSERT_TRUE(list_.open(::getpid(), GetParam()));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(listed(), std::set{child});
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(listed().empty());
}

INSTANTIATE_TEST_SUITE_P(BothWays, ChildList,
                         testing::Values(child_list::way::best, child_list::way::scan),
                         [](const auto& info) {
                           return info.param == child_list::way::best ? "Best" : "Scan";
                         });

}  // namespace
}  // namespace tenure::tests
