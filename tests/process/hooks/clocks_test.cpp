#include <gtest/gtest.h>

#include <csignal>

#include "hooked_agent.hpp"

namespace tenure::tests {
namespace {

/// The agent is late from the next renewal on; another member gets the lease a TTL after the last
/// one, which is more than a second later.
TEST(AgentClocks, StoppedAgentSaysHowLateItIs) {
  const temporary_directory in;
  hooked_agent a(in, "a", {"--gain-command", notes(in), "--stop-command", notes(in)}, "3s");
  ASSERT_TRUE(a.becomes_active()) << a.process().err();
  a.process().send(SIGSTOP);
  hooked_agent b(in, "b", {"--gain-command", notes(in), "--stop-command", notes(in)}, "3s");
  ASSERT_TRUE(b.becomes_active()) << b.process().err();
  EXPECT_FALSE(a.process().said("got no processor"));
  a.process().send(SIGCONT);
  EXPECT_TRUE(eventually([&] { return a.process().said("got no processor"); }))
      << a.process().err();
  EXPECT_TRUE(eventually([&] { return a.process().said("reason=renew_timeout"); }))
      << "it was stopped alone: the machine has not slept\n"
      << a.process().err();
}

}  // namespace
}  // namespace tenure::tests
