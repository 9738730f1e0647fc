#include "base/file_limit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tenure::base {
namespace {

/// Runs `in_child` in a process of its own, so that limits change only there; returns its result.
bool holds_in_child(const std::function<bool()>& in_child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(in_child() ? 0 : 1);
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

rlim_t soft_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

bool set_limits(rlim_t soft, rlim_t hard) {
  const rlimit limit{.rlim_cur = soft, .rlim_max = hard};
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

TEST(FileLimit, IsRaisedAndGivenBackToOtherPrograms) {
  EXPECT_TRUE(holds_in_child([] {
    if (!set_limits(100, 200)) return false;
    if (raise_file_limit(150) != 150 || soft_limit() != 150) return false;
    if (raise_file_limit(160) != 160) return false;
    const auto of_programs = file_limit_of_programs();
    return of_programs && set_limits(of_programs->rlim_cur, of_programs->rlim_max) &&
           soft_limit() == 100;
  }));
}

TEST(FileLimit, StopsAtTheHardLimit) {
  EXPECT_TRUE(holds_in_child(
      [] { return set_limits(100, 120) && raise_file_limit(1000) == 120 && soft_limit() == 120; }));
}

TEST(FileLimit, IsNeverLowered) {
  EXPECT_TRUE(holds_in_child([] {
    if (!set_limits(100, 200) || raise_file_limit(50) != 100) return false;
    return !file_limit_of_programs() && soft_limit() == 100;
  }));
}

}  // namespace
}  // namespace tenure::base
