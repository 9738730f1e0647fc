#include "guard/recognizer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tenure::guard {
namespace {

recognizer by_command_line() {
  recognizer out(reader_that_waits());
  out.prepare({.by = settings::target::kind::command_line, .value = "orders"});
  return out;
}

TEST(Recognizer, OfAProcessThatHangsInTheKernelNobodyCanTell) {
  EXPECT_EQ(by_command_line().of({.pid = ::getpid(), .state = 'D'}), recognition::unreadable);
}

// A busy host has a kernel thread in state D at nearly every look. Taken for one that may be the
// workload, it kept the agent from starting, and a lease from being released.
TEST(Recognizer, AThreadOfTheKernelIsNoWorkload) {
  EXPECT_EQ(by_command_line().of({.pid = ::getpid(), .state = 'D', .of_the_kernel = true}),
            recognition::no);
}

}  // namespace
}  // namespace tenure::guard
