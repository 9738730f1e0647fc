// What goes wrong with the file while it is in use is unknown, never lost.

#include <gmock/gmock.h>

#include "scene.hpp"
#include "small_disk.hpp"

namespace tenure::tests {
namespace {

using stores::acquire_outcome;
using stores::grant;
using stores::renew_outcome;
using stores::unknown;
using testing::AllOf;
using testing::HasSubstr;

TEST(SqliteTrouble, LockHeldByAnotherProgramIsUnknownAtTheDeadlineAndOverWithIt) {
  loop loop;
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  member a(loop, settings_for("sqlite", path, "a"));
  ASSERT_TRUE(a.open());
  const grant g = a.hold();
  child other({FOREIGN_PROGRAM, path, "BEGIN IMMEDIATE", "hold"});
  ASSERT_EQ(other.line(), "done");

  std::optional<renew_outcome> outcome;
  const core::time_point deadline = base::boot_now() + std::chrono::milliseconds(100);
  a->renew({{core::election_index{0}, g.version}}, deadline,
           [&](renew_outcome o) { outcome.emplace(std::move(o)); });
  ASSERT_TRUE(loop.run_until([&] { return outcome.has_value(); }));
  ASSERT_TRUE(std::holds_alternative<unknown>(*outcome));
  EXPECT_THAT(std::get<unknown>(*outcome).why,
              AllOf(HasSubstr(path), HasSubstr("another program")));
  EXPECT_EQ(a.read().holders.size(), 1u) << "reading needs no lock";

  other.kill();
  other.wait();
  EXPECT_TRUE(
      std::holds_alternative<stores::renewal>(a.renew({{core::election_index{0}, g.version}})));
}

TEST(SqliteTrouble, LooksAreNoAnswerWhileTheFileCannotBeWritten) {
  loop loop;
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  int showed = 0;
  stores::setup with = settings_for("sqlite", path, "a", std::chrono::seconds(2));
  with.hears = [&](const core::contact_event& what) {
    if (std::holds_alternative<core::contact::showed>(what)) ++showed;
  };
  member a(loop, with);
  ASSERT_TRUE(a.open());
  const auto watched = a.watch();
  ASSERT_TRUE(loop.run_until([&] { return showed > 0; }));
  child other({FOREIGN_PROGRAM, path, "BEGIN IMMEDIATE", "hold"});
  ASSERT_EQ(other.line(), "done");

  const auto fails = [&] {
    std::optional<acquire_outcome> outcome;
    a->acquire(core::election_index{0}, core::no_version,
               base::boot_now() + std::chrono::milliseconds(300),
               [&](acquire_outcome o) { outcome.emplace(std::move(o)); });
    return loop.run_until([&] { return outcome.has_value(); }) &&
           std::holds_alternative<unknown>(*outcome);
  };
  ASSERT_TRUE(fails());
  const int before = showed;
  // Longer than any pause between two looks.
  const core::time_point until = base::boot_now() + with.ttl;
  while (base::boot_now() < until) ASSERT_TRUE(fails());
  EXPECT_EQ(showed, before) << "read it can, but nobody has asked for that";

  other.kill();
  other.wait();
  a.hold();
  EXPECT_TRUE(loop.run_until([&] { return showed > before; }));
}

TEST(SqliteTrouble, CloseDoesNotWaitForALockThatOthersHold) {
  loop loop;
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  member a(loop, settings_for("sqlite", path, "a"));
  ASSERT_TRUE(a.open());
  child other({FOREIGN_PROGRAM, path, "BEGIN IMMEDIATE", "hold"});
  ASSERT_EQ(other.line(), "done");
  // Waited for, this lock would keep the test until it is ended from outside.
  a->acquire(core::election_index{0}, core::no_version, base::boot_now() + std::chrono::hours(1),
             [](acquire_outcome) { ADD_FAILURE() << "called after close"; });
  a.close();
  loop.context().restart();
  loop.context().run();
}

TEST(SqliteTrouble, FullDiskIsUnknownAndOverWithIt) {
  small_disk disk;
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  loop loop;
  constexpr std::uint32_t elections = 200;
  member a(loop,
           settings_for("sqlite", disk / "leases.db", "a", std::chrono::seconds(60), 1, elections));
  ASSERT_TRUE(a.open());
  a.hold();
  disk.fill();
  std::optional<acquire_outcome> failed;
  for (std::uint32_t i = 1; i < elections && !failed; ++i) {
    auto outcome = a.acquire(i);
    if (!std::holds_alternative<grant>(outcome)) failed.emplace(std::move(outcome));
  }
  ASSERT_TRUE(failed) << "the disk took it all";
  ASSERT_TRUE(std::holds_alternative<unknown>(*failed));
  EXPECT_THAT(std::get<unknown>(*failed).why, AllOf(HasSubstr("full"), HasSubstr("free some")));
  disk.empty();
  a.hold(elections - 1);
}

TEST(SqliteTrouble, TablesThatWereDroppedAreUnknownAndTheReasonSaysSo) {
  loop loop;
  const temporary_directory directory;
  const std::string path = directory / "leases.db";
  member a(loop, settings_for("sqlite", path, "a"));
  ASSERT_TRUE(a.open());
  const grant g = a.hold();
  ASSERT_EQ(child({FOREIGN_PROGRAM, path, "DROP TABLE lease"}).wait(), 0);
  const auto outcome = a.renew({{core::election_index{0}, g.version}});
  ASSERT_TRUE(std::holds_alternative<unknown>(outcome));
  EXPECT_THAT(std::get<unknown>(outcome).why, HasSubstr("cannot renew leases in " + path));
}

}  // namespace
}  // namespace tenure::tests
