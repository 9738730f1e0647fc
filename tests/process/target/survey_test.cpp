#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <csignal>
#include <filesystem>

#include "pod.hpp"
#include "support/eventually.hpp"

/// Each problem is reported with its own fix.
namespace tenure::tests {
namespace {

using guard::target_fault;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

int number(target_fault kind) {
  return 100 + static_cast<int>(kind);
}

class TargetSurvey : public testing::Test {
 protected:
  void SetUp() override {
    if (!pod_.missing().empty()) GTEST_SKIP() << pod_.missing();
  }

  /// Expects this fault and returns the text.
  std::string refused(target_fault kind, const std::string& by, const std::string& value,
                      const words& before = {}) {
    const std::string said = pod_.survey(by, value, before);
    EXPECT_EQ(pod_.fault(), number(kind)) << said;
    return said;
  }

  pid_t start_main(const words& before = {}) {
    return pod_.start_program('b', "sleep 1000", before);
  }

  pod pod_;
};

TEST_F(TargetSurvey, NobodyThereIsNoProblem) {
  EXPECT_EQ(pod_.survey("command_line", "sleep 1000"), "");
  EXPECT_EQ(pod_.fault(), 0);
  EXPECT_EQ(pod_.survey("pid_file", pod_.file("none.pid")), "");
  EXPECT_EQ(pod_.fault(), 0);
}

TEST_F(TargetSurvey, NothingAskedForIsRefused) {
  EXPECT_THAT(refused(target_fault::no_target, "executable", ""),
              HasSubstr("set target_executable, target_command_line or target_pid_file"));
}

TEST_F(TargetSurvey, ANamespaceOfOurOwnIsRefusedWithTheFix) {
  int status = 0;
  actor alone({"unshare", "--pid", "--mount-proc", "--fork", TARGET_STAGE, "survey", "executable",
               "sleep"});
  EXPECT_THAT(alone.hear_all(status), HasSubstr("set shareProcessNamespace: true in the pod"));
  EXPECT_EQ(WEXITSTATUS(status), number(target_fault::not_shared));
}

TEST_F(TargetSurvey, AForeignProcIsRefused) {
  int status = 0;
  actor lost({"unshare", "--pid", "--fork", TARGET_STAGE, "survey", "executable", "sleep"});
  EXPECT_THAT(lost.hear_all(status), HasSubstr("is that of another PID namespace; mount"));
  EXPECT_EQ(WEXITSTATUS(status), number(target_fault::proc_unusable));
}

TEST_F(TargetSurvey, AHidingProcIsRefused) {
  words hidden{"unshare", "--mount", "--",
               "sh",      "-c",      "mount -t proc -o hidepid=2 proc /proc && exec \"$@\"",
               "hide"};
  const words nobody = as_nobody();
  hidden.insert(hidden.end(), nobody.begin(), nobody.end());
  EXPECT_THAT(refused(target_fault::hidden, "executable", "sleep", hidden),
              AllOf(StartsWith("/proc does not show process 1 to user 65534"),
                    HasSubstr("mount it without hidepid")));
}

TEST_F(TargetSurvey, ATargetThatNamesUsIsTooWide) {
  EXPECT_THAT(refused(target_fault::too_wide, "command_line", TARGET_STAGE " survey"),
              HasSubstr(", which is this one; name what only the main container runs"));
  EXPECT_THAT(refused(target_fault::too_wide, "command_line", "sh -c x=1;",
                      {"sh", "-c", "x=1; \"$@\"; exit $?", "sh"}),
              HasSubstr(", which is an ancestor of this one; "));
}

TEST_F(TargetSurvey, ThePauseProcessIsRefused) {
  EXPECT_THAT(refused(target_fault::first_process, "command_line", TARGET_STAGE " pause"),
              AllOf(HasSubstr("names process 1 ("), HasSubstr("name the main container's own")));
  EXPECT_THAT(refused(target_fault::first_process, "pid_file", pod_.write("app.pid", "1\n")),
              HasSubstr("let the program write its number as seen in the shared namespace"));
}

TEST_F(TargetSurvey, AnotherUsersProcessIsRefusedWithBothUsers) {
  const pid_t main = start_main();
  EXPECT_TRUE(eventually([&] { return pod_.survey("executable", "sleep") != ""; }));
  EXPECT_THAT(refused(target_fault::not_permitted, "command_line", "sleep 1000", as_nobody()),
              AllOf(StartsWith("may not signal process " + std::to_string(main) + " (sleep 1000)"),
                    HasSubstr("it runs as user 0, we as user 65534; give both containers the "
                              "same runAsUser")));
  auto finder = pod_.finder("command_line", "sleep 1000", as_nobody());
  EXPECT_EQ(finder->ask("kill"), "left=1 matching=1 stuck=0 denied=1 unreadable=0 complete=1");
  EXPECT_TRUE(pod_.runs(main));
}

TEST_F(TargetSurvey, TheSameUserWithoutAnyCapabilityIsEnough) {
  const pid_t main = start_main(as_nobody());
  EXPECT_TRUE(eventually([&] {
    return pod_.survey("executable", "sleep", as_nobody()).ends_with("its executable is sleep\n");
  }));
  auto finder = pod_.finder("executable", "sleep", as_nobody());
  EXPECT_THAT(finder->ask("kill"), StartsWith("left=1 matching=1 stuck=0 denied=0"));
  EXPECT_TRUE(eventually([&] { return !pod_.runs(main); }));
}

TEST_F(TargetSurvey, AnExecutableThatCannotBeReadIsNotTakenForNobody) {
  start_main();
  EXPECT_THAT(refused(target_fault::unreadable, "executable", "sleep", as_nobody()),
              AllOf(StartsWith("cannot read which program process "),
                    HasSubstr("it runs as user 0, we as user 65534"),
                    HasSubstr("or give target_command_line")));
  auto finder = pod_.finder("executable", "sleep", as_nobody());
  EXPECT_EQ(finder->ask("look"), "left=0 matching=0 stuck=0 denied=0 unreadable=1 complete=0");
}

TEST_F(TargetSurvey, AStrangersProcessWithTheSameWordsIsNotTheWorkload) {
  const pid_t fake = pod_.start_program('b', "sleep 1000", as_nobody());
  const pid_t beside = pod_.start_program('b', "sleep 2000");
  auto finder = pod_.finder("command_line", "sleep 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("kill").ends_with("unreadable=1 complete=0"); }));
  EXPECT_EQ(finder->ask("kill"), "left=0 matching=0 stuck=0 denied=0 unreadable=1 complete=0");
  auto of_user_1 = pod_.finder("command_line@1", "sleep 1000");
  EXPECT_EQ(of_user_1->ask("kill"), nothing_left);
  EXPECT_TRUE(pod_.runs(fake));
  EXPECT_TRUE(pod_.runs(beside));
  EXPECT_THAT(refused(target_fault::other_user, "command_line", "sleep 1000"),
              AllOf(HasSubstr("names process " + std::to_string(fake)),
                    HasSubstr("runs as user 65534, neither ours (0) nor root"),
                    HasSubstr("give target_uid 65534")));

  auto of_nobody = pod_.finder("command_line@65534", "sleep 1000");
  EXPECT_EQ(killed(*of_nobody), nothing_left);
  EXPECT_FALSE(pod_.runs(fake));
}

TEST_F(TargetSurvey, ASetUserIdProgramBelongsToWhoHasStartedIt) {
  const std::string program = pod_.file("as-root");
  ASSERT_TRUE(std::filesystem::copy_file("/bin/sleep", program));
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  const pid_t fake = pod_.start_program('b', program + " 1000", as_nobody());
  auto finder = pod_.finder("command_line", program + " 1000");
  EXPECT_TRUE(eventually([&] { return finder->ask("kill").ends_with("unreadable=1 complete=0"); }));
  EXPECT_TRUE(pod_.runs(fake));
}

TEST_F(TargetSurvey, APidFileThatOthersWriteToNamesNobody) {
  const pid_t main = start_main();
  const std::string number = std::to_string(main) + "\n";
  const std::string open_to_all = pod_.write("all.pid", number);
  ASSERT_EQ(::chmod(open_to_all.c_str(), 0666), 0);
  EXPECT_THAT(refused(target_fault::pid_file_unreadable, "pid_file", open_to_all),
              HasSubstr("can be written to by other users (mode 0666)"));
  const std::string theirs = pod_.write("theirs.pid", number);
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  EXPECT_THAT(refused(target_fault::pid_file_unreadable, "pid_file", theirs),
              HasSubstr("belongs to user 65534"));
  const std::string link = pod_.file("link.pid");
  std::filesystem::create_symlink(pod_.write("app.pid", number), link);
  EXPECT_THAT(refused(target_fault::pid_file_unreadable, "pid_file", link),
              HasSubstr("is a symbolic link"));
  auto finder = pod_.finder("pid_file", link);
  EXPECT_EQ(finder->ask("kill"), "left=0 matching=0 stuck=0 denied=0 unreadable=0 complete=0");
  EXPECT_TRUE(pod_.runs(main));
  EXPECT_EQ(killed(*pod_.finder("pid_file@65534", theirs)), nothing_left);
}

TEST_F(TargetSurvey, APidFileNamesItsProcessBySharedNumber) {
  const pid_t main = start_main();
  const std::string file = pod_.write("app.pid", std::to_string(main) + "\n");
  EXPECT_THAT(pod_.survey("pid_file", file),
              AllOf(StartsWith("process " + std::to_string(main) + " ("),
                    EndsWith(": its number is in " + file + "\n")));
  auto finder = pod_.finder("pid_file", file);
  EXPECT_EQ(killed(*finder), nothing_left);
  EXPECT_FALSE(pod_.runs(main));
}

TEST_F(TargetSurvey, APidFileThatIsNoneIsRefused) {
  EXPECT_THAT(refused(target_fault::pid_file_malformed, "pid_file", pod_.write("a.pid", "main\n")),
              HasSubstr("a.pid does not begin with a process id; name the file that"));
  EXPECT_THAT(refused(target_fault::pid_file_unreadable, "pid_file", pod_.file("")),
              HasSubstr("is a directory; name a file in it; mount its volume"));
  const std::string secret = pod_.write("b.pid", "7\n");
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  EXPECT_THAT(refused(target_fault::pid_file_unreadable, "pid_file", secret, as_nobody()),
              HasSubstr("Permission denied (EACCES)"));
  auto finder = pod_.finder("pid_file", secret, as_nobody());
  EXPECT_THAT(finder->ask("look"), EndsWith("complete=0")) << "who knows what runs?";
}

TEST_F(TargetSurvey, APipeInPlaceOfAPidFileDoesNotLetUsWait) {
  ASSERT_EQ(::mkfifo(pod_.file("pipe").c_str(), 0644), 0);
  refused(target_fault::pid_file_unreadable, "pid_file", pod_.file("pipe"));
}

TEST_F(TargetSurvey, AProcessThatIsYoungerThanItsPidFileIsNeitherKilledNorTakenForNobody) {
  const pid_t main = start_main();
  const std::string file = pod_.write("old.pid", std::to_string(main));
  const utimbuf long_ago{.actime = 1'000'000'000, .modtime = 1'000'000'000};
  ASSERT_EQ(::utime(file.c_str(), &long_ago), 0);
  EXPECT_THAT(refused(target_fault::pid_file_stale, "pid_file", file),
              AllOf(HasSubstr("which began after the file was written"),
                    HasSubstr("remove the file, or restart the program")));
  auto finder = pod_.finder("pid_file", file);
  EXPECT_EQ(finder->ask("kill"), "left=0 matching=0 stuck=0 denied=0 unreadable=1 complete=0");
  EXPECT_TRUE(pod_.runs(main));
}

}  // namespace
}  // namespace tenure::tests
