#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "harness.hpp"

/// SQLite compares instants of CLOCK_BOOTTIME between members: all must be of one boot, on one
/// clock.
namespace tenure::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* boot_id = "/proc/sys/kernel/random/boot_id";

class SqliteBoot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  }

  /// A member that ends at once, started through `before`.
  finished join(std::vector<std::string> before) {
    before.insert(before.end(),
                  {tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in_ / "db",
                   "--election", "test", "--listen", "off", "--probe-listen", "off", "--", "true"});
    return run(before, in_);
  }

  /// In a mount namespace of its own, after `script`.
  finished join_after(const std::string& script) {
    return join({"unshare", "--mount", "sh", "-ec", script + "; exec \"$@\"", "sh"});
  }

  temporary_directory in_;
};

TEST_F(SqliteBoot, TheKernelsOwnIsTaken) {
  EXPECT_EQ(join_after("true").status, 0);
  // As container runtimes have it: a bind mount of the directory above shows the same file.
  EXPECT_EQ(join_after("mount --bind -o ro /proc/sys /proc/sys").status, 0);
}

TEST_F(SqliteBoot, OneThatIsMountedOverIsRefused) {
  std::ofstream(in_ / "id") << "11111111-2222-3333-4444-555555555555\n";
  const finished over_it =
      join_after("mount --bind " + (in_ / "id").string() + " " + std::string(boot_id));
  EXPECT_EQ(over_it.status, 1) << over_it.err;
  EXPECT_THAT(over_it.err, AllOf(HasSubstr(boot_id), HasSubstr("mounted"), HasSubstr("unmount")));
  // Of the same file system, but not the same file.
  const finished another =
      join_after("mount --bind /proc/sys/kernel/random/uuid " + std::string(boot_id));
  EXPECT_EQ(another.status, 1) << another.err;
}

TEST_F(SqliteBoot, DirectoryAboveThatIsReplacedIsRefused) {
  std::ofstream(in_ / "boot_id") << "11111111-2222-3333-4444-555555555555\n";
  const finished replaced =
      join_after("mount --bind " + in_.path().string() + " /proc/sys/kernel/random");
  EXPECT_EQ(replaced.status, 1) << replaced.err;
  EXPECT_THAT(replaced.err, HasSubstr("mounted"));
}

TEST_F(SqliteBoot, ClockThatIsShiftedIsRefused) {
  const finished shifted = join({"unshare", "--time", "--boottime", "60", "--fork"});
  EXPECT_EQ(shifted.status, 1) << shifted.err;
  EXPECT_THAT(shifted.err, HasSubstr("time namespace"));
}

}  // namespace
}  // namespace tenure::tests
