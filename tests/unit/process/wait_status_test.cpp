#include "process/wait_status.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace tenure::process {
namespace {

TEST(WaitStatus, IsToldInWords) {
  EXPECT_EQ(describe_wait_status(W_EXITCODE(0, 0)), "exited with status 0");
  EXPECT_EQ(describe_wait_status(W_EXITCODE(3, 0)), "exited with status 3");
  EXPECT_EQ(describe_wait_status(W_EXITCODE(0, SIGKILL)), "was ended by SIGKILL");
}

}  // namespace
}  // namespace tenure::process
