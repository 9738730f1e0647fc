#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "harness.hpp"

/// `tenure install`, on the file systems that a volume can be.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Install : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkdir(volume().c_str(), 0755), 0); }

  [[nodiscard]] std::string volume() const { return in_ / "volume"; }
  [[nodiscard]] std::string installed() const { return volume() + "/tenure"; }

  finished install(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{tenure_binary(), "install", volume()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, in_);
  }

  /// Runs commands in a mount namespace of their own; $1 is the program, $2 the volume.
  finished among_mounts(const std::string& commands) {
    return run({"unshare", "--mount", "sh", "-c", commands, "sh", tenure_binary(), volume()}, in_);
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(volume())) {
      out.push_back(one.path().filename());
    }
    return out;
  }

  [[nodiscard]] const temporary_directory& in() const { return in_; }

 private:
  temporary_directory in_;
};

TEST_F(Install, TheCopyIsTheProgramAndASecondTimeWritesNothing) {
  const std::string version = run({tenure_binary(), "version"}, in()).out;
  const finished first = install();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, installed() + ": installed " + version);
  EXPECT_EQ(run({installed(), "version"}, in()).out, version);
  EXPECT_THAT(names(), testing::ElementsAre("tenure"));

  const finished second = install();
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(second.out, installed() + " is this program already; nothing is written\n");

  // The copy can do the same.
  const std::string further = in() / "further";
  ASSERT_EQ(::mkdir(further.c_str(), 0755), 0);
  EXPECT_EQ(run({installed(), "install", further}, in()).status, 0);
  EXPECT_EQ(std::filesystem::file_size(further + "/tenure"),
            std::filesystem::file_size(tenure_binary()));
}

TEST_F(Install, PlaceForGuardAndAgentIsForEverybodyToAddToAndForNobodyToTakeFrom) {
  const std::string place = in() / "place";
  for (int times = 0; times < 2; ++times) {
    const finished done = install({"--guard-dir", place});
    EXPECT_EQ(done.status, 0) << done.err;
    struct stat about{};
    ASSERT_EQ(::stat(place.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode, S_IFDIR | 01777U);
  }
  const finished file = install({"--guard-dir", installed()});
  EXPECT_EQ(file.status, 1);
  EXPECT_THAT(file.err, HasSubstr("/tenure is a regular file; name a directory"));
}

TEST_F(Install, JsonSaysWhetherAnythingWasWritten) {
  EXPECT_THAT(install({"-o", "json"}).out,
              AllOf(HasSubstr("\"path\": \"" + installed() + "\""), HasSubstr("\"written\": true"),
                    HasSubstr("\"version\": \"")));
  EXPECT_THAT(install({"--output", "json"}).out, HasSubstr("\"written\": false"));
}

TEST_F(Install, AnOlderProgramIsReplacedWhileItRuns) {
  std::filesystem::copy_file("/bin/sleep", installed());
  const program older({installed(), "1000"}, in() / "older");
  ASSERT_TRUE(eventually([&] { return name_of(older.pid()) == "tenure"; }));
  const finished done = install();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(run({installed(), "version"}, in()).status, 0);
  EXPECT_TRUE(is_alive(older.pid()));
}

TEST_F(Install, SeveralAtOnceAllSucceed) {
  std::vector<std::unique_ptr<program>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(
        std::make_unique<program>(std::vector<std::string>{tenure_binary(), "install", volume()},
                                  in() / ("run" + std::to_string(i))));
  }
  for (const auto& one : all) EXPECT_EQ(one->wait(), 0) << one->err();
  EXPECT_THAT(names(), testing::ElementsAre("tenure"));
  EXPECT_EQ(run({installed(), "version"}, in()).status, 0);
}

TEST_F(Install, AnErrorNamesThePlaceAndTheRemedy) {
  const finished missing = run({tenure_binary(), "install", (in() / "missing").string()}, in());
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(missing.err, "tenure install: cannot open " + (in() / "missing").string() +
                             ": No such file or directory (ENOENT); create the directory, or mount "
                             "a volume there\n");
  EXPECT_EQ(run({tenure_binary(), "install"}, in()).status, 2);
}

class InstallAmongMounts : public Install {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount";
    Install::SetUp();
  }
};

TEST_F(InstallAmongMounts, AReadOnlyVolumeIsRefusedUnlessTheProgramIsThere) {
  const std::string commands =
      "mount --bind $2 $2 && mount -o remount,bind,ro $2 && exec $1 install $2";
  const finished refused = among_mounts(commands);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot write " + installed() +
                                     ": Read-only file system (EROFS); mount the volume without "
                                     "the option for read-only\n"));
  ASSERT_EQ(install().status, 0);
  const finished there = among_mounts(commands);
  EXPECT_EQ(there.status, 0) << there.err;
  EXPECT_THAT(there.out, HasSubstr("nothing is written"));
}

TEST_F(InstallAmongMounts, AFullVolumeKeepsItsOlderProgramAndNoPieceOfTheNewOne) {
  const finished full = among_mounts(
      "mount -t tmpfs -o size=1m tmpfs $2 && echo older >$2/tenure && $1 install $2; "
      "echo $?; ls -A $2; cat $2/tenure");
  EXPECT_EQ(full.out, "1\ntenure\nolder\n");
  EXPECT_THAT(full.err, AllOf(HasSubstr("No space left on device (ENOSPC); the program needs "),
                              HasSubstr(" MB there; make room, or the volume larger\n")));
}

TEST_F(InstallAmongMounts, AUserWhoMayNotWriteThereIsNamed) {
  // The program itself may be in a directory that only root can enter.
  ASSERT_EQ(::chmod(in().path().c_str(), 0755), 0);
  ASSERT_EQ(install().status, 0);
  const finished refused = run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--",
                                installed(), "install", "/"},
                               in());
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot write /tenure: Permission denied (EACCES); let user "
                                     "65534, whom this process runs as, write to the directory\n"));
}

TEST_F(InstallAmongMounts, WithoutProcItSaysWhatIsMissing) {
  const finished refused = among_mounts("mount -t tmpfs tmpfs /proc && exec $1 install $2");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot read this program at /proc/self/exe: No such file or "
                                     "directory (ENOENT); is /proc mounted?\n"));
  EXPECT_THAT(names(), testing::IsEmpty());
}

}  // namespace
}  // namespace tenure::tests
