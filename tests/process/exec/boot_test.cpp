#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.hpp"

/// SQLite compares instants of CLOCK_BOOTTIME between members, so all must be in one boot, on one
/// clock. Members also use files beside the lease file, so all must see the same ones.
namespace tenure::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* boot_id = "/proc/sys/kernel/random/boot_id";

class SqliteNamespaces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  }

  /// A member that ends at once, started through `before`.
  finished join(std::vector<std::string> before) {
    before.insert(before.end(),
                  {tenure_binary(), "exec", "--store", "sqlite", "--endpoint", endpoint_,
                   "--election", "test", "--listen", "off", "--probe-listen", "off", "--", "true"});
    return run(before, in_);
  }

  /// In a mount namespace of its own, after `script`.
  finished join_after(const std::string& script) {
    return join({"unshare", "--mount", "sh", "-ec", script + "; exec \"$@\"", "sh"});
  }

  temporary_directory in_;
  std::string endpoint_ = in_ / "db";
};

class SqliteBoot : public SqliteNamespaces {};
class SqliteMount : public SqliteNamespaces {};

TEST_F(SqliteBoot, TheKernelsOwnIsTaken) {
  EXPECT_EQ(join_after("true").status, 0);
  // As container runtimes do it: a bind mount of the directory above shows the same file.
  EXPECT_EQ(join_after("mount --bind -o ro /proc/sys /proc/sys").status, 0);
}

TEST_F(SqliteBoot, OneThatIsMountedOverIsRefused) {
  std::ofstream(in_ / "id") << "11111111-2222-3333-4444-555555555555\n";
  const finished over_it =
      join_after("mount --bind " + (in_ / "id").string() + " " + std::string(boot_id));
  EXPECT_EQ(over_it.status, 1) << over_it.err;
  EXPECT_THAT(over_it.err, AllOf(HasSubstr(boot_id), HasSubstr("mounted"), HasSubstr("unmount")));
  // On the same file system, but not the same file.
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

TEST_F(SqliteMount, FileThatIsMountedByItselfIsRefused) {
  // As with `docker run -v /srv/l.db:/data/l.db`: -wal, -shm and -members/ belong to the container.
  const std::string shared = in_ / "srv l.db";
  endpoint_ = in_ / "data l.db";
  for (const std::string& one : {shared, endpoint_}) {
    std::ofstream{one};
    ASSERT_EQ(::chmod(one.c_str(), 0600), 0);
  }
  const finished alone = join_after("mount --bind '" + shared + "' '" + endpoint_ + "'");
  EXPECT_EQ(alone.status, 1) << alone.err;
  EXPECT_THAT(alone.err, AllOf(HasSubstr(endpoint_), HasSubstr("-wal"),
                               HasSubstr("mount its directory instead")));
  EXPECT_FALSE(std::filesystem::exists(endpoint_ + "-wal")) << "it was used";
}

TEST_F(SqliteMount, FileInADirectoryThatIsMountedIsTaken) {
  std::filesystem::create_directories(in_ / "srv");
  std::filesystem::create_directories(in_ / "data");
  endpoint_ = in_ / "data/l.db";
  const std::string mount =
      "mount --bind '" + (in_ / "srv").string() + "' '" + (in_ / "data").string() + "'";
  EXPECT_EQ(join_after(mount).status, 0) << "it is made";
  EXPECT_EQ(join_after(mount).status, 0) << "it is found";
  EXPECT_TRUE(std::filesystem::exists(in_ / "srv/l.db"));
}

}  // namespace
}  // namespace tenure::tests
