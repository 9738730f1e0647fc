// A process that dies in the middle of its transactions.

#include <gmock/gmock.h>

#include <csignal>
#include <cstdio>

#include "scene.hpp"

namespace tenure::tests {
namespace {

TEST(SqliteCrash, ProcessesKilledAtAnyPointLeaveAFileThatGoesOn) {
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  unsigned long long highest = 0;
  constexpr int deaths = 30;
  for (int i = 0; i < deaths; ++i) {
    // A new session every time; the one before may be left as the holder.
    child victim({CONTENDER, "sqlite", path, "victim" + std::to_string(i), "50"});
    // Each dies a little later in its loop than the one before.
    for (int line = 0; line <= i; ++line) {
      const auto said = victim.line();
      ASSERT_TRUE(said) << "victim " << i;
      unsigned long long version = 0;
      if (std::sscanf(said->c_str(), "+ %llu", &version) == 1) {
        EXPECT_GT(version, highest);
        highest = version;
      }
    }
    victim.kill();
    EXPECT_EQ(victim.wait(), -SIGKILL);
  }
  loop loop;
  member heir(loop, settings_for("sqlite", path, "heir"));
  const auto opened = heir.open();  // checks that the file is whole
  ASSERT_TRUE(opened) << opened.error().text;
  EXPECT_GE(core::number(heir.read().as_of), highest);
}

TEST(SqliteCrash, ProcessThatDiesWithTheLockHeldDoesNotKeepIt) {
  loop loop;
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  member a(loop, settings_for("sqlite", path, "a"));
  ASSERT_TRUE(a.open());
  child victim({FOREIGN_PROGRAM, path,
                "BEGIN IMMEDIATE; INSERT INTO election VALUES ('half', 1, 1)", "hold"});
  ASSERT_EQ(victim.line(), "done");
  victim.kill();
  victim.wait();
  EXPECT_EQ(a.hold().version, core::version{1});
}

}  // namespace
}  // namespace tenure::tests
