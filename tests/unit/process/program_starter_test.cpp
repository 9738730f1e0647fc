#include "process/program_starter.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "process/environment.hpp"
#include "process/exec_status.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::process {
namespace {

/// How a start ended.
struct ending {
  int status = 0;  ///< of the child, as `waitpid` says
  int error = 0;   ///< why nothing was executed; 0: something was
};

class ProgramStarter : public testing::Test {
 public:
  ProgramStarter() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~ProgramStarter() override { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 protected:
  ending run(std::vector<std::string> command, exec_request with = {}) {
    program_starter starter;
    starter.prepare(command.front(), command.size());
    return run(starter, std::move(command), with);
  }

  ending run(program_starter& starter, std::vector<std::string> command, exec_request with = {}) {
    const std::vector<char*> argv = pointers_to(command);
    std::vector<char*> environment = pointers_to(environment_);
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const base::unique_fd ours(ends[0]);
    base::unique_fd theirs(ends[1]);
    with.argv = argv.data();
    with.environment = environment.data();
    with.error_pipe = theirs.get();
    const pid_t child = starter.start(with);
    EXPECT_GT(child, 0);
    theirs.reset();
    ending out;
    EXPECT_EQ(::waitpid(child, &out.status, 0), child);
    if (::read(ours.get(), &out.error, sizeof out.error) != sizeof out.error) out.error = 0;
    return out;
  }

  std::string file(const std::string& name, const std::string& text, mode_t mode) {
    const std::string path = in_.path() / name;
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  tests::temporary_directory in_;
  std::vector<std::string> environment_;

 private:
  sigset_t before_{};
};

bool ended_with(const ending& what, int status) {
  return WIFEXITED(what.status) && WEXITSTATUS(what.status) == status;
}

TEST_F(ProgramStarter, AProgramIsFoundInPathAndGetsItsArgumentsAndItsEnvironment) {
  environment_ = {"COLOUR=green", "TERM=1"};
  const ending what = run({"sh", "-c", R"([ "$1/$COLOUR/$TERM" = "a b/green/1" ])", "sh", "a b"});
  EXPECT_EQ(what.error, 0);
  EXPECT_TRUE(ended_with(what, 0)) << what.status;
}

TEST_F(ProgramStarter, WhatIsNotThereIsReported) {
  const ending nowhere = run({"there-is-no-such-program"});
  EXPECT_EQ(nowhere.error, ENOENT);
  EXPECT_TRUE(ended_with(nowhere, exit_command_not_found));
  const ending empty = run({""});
  EXPECT_EQ(empty.error, ENOENT);
  const ending text = run({file("text", "nothing", 0644)});
  EXPECT_EQ(text.error, EACCES);
  EXPECT_TRUE(ended_with(text, exit_command_not_executable));
}

TEST_F(ProgramStarter, AScriptWithoutAFirstLineIsExecutedByTheShell) {
  const std::string script = file("script", R"([ "$#/$1/$2" = "2/a/b c" ] && exit 7)", 0755);
  const ending what = run({script, "a", "b c"});
  EXPECT_EQ(what.error, 0);
  EXPECT_TRUE(ended_with(what, 7)) << what.status;
}

TEST_F(ProgramStarter, TheProgramBlocksAndIgnoresNoSignal) {
  ::signal(SIGUSR1, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  const auto shows = [this](const char* line, exec_request with) {
    return ended_with(run({"grep", "-q", line, "/proc/self/status"}, with), 0);
  };
  EXPECT_TRUE(shows("SigBlk:\t0000000000000000", {}));
  EXPECT_TRUE(shows("SigIgn:\t0000000000000000", {}));
  EXPECT_TRUE(shows("SigIgn:\t0000000000000001", {.keeps_hup_ignored = true}));
  ::signal(SIGUSR1, SIG_DFL);
  ::signal(SIGHUP, SIG_DFL);
}

TEST_F(ProgramStarter, TheProgramGainsNoPrivilegesIfToldSo) {
  const auto shows = [this](const char* line, exec_request with) {
    return ended_with(run({"grep", "-q", line, "/proc/self/status"}, with), 0);
  };
  EXPECT_TRUE(shows("NoNewPrivs:	1", {.gains_no_privileges = true}));
  EXPECT_TRUE(shows("NoNewPrivs:	0", {}));
}

TEST_F(ProgramStarter, TheProgramLeadsAGroupOfItsOwn) {
  const ending what = run({"sh", "-c", "[ $(ps -o pgid= -p $$) -eq $$ ]"});
  EXPECT_TRUE(ended_with(what, 0)) << what.status;
}

TEST_F(ProgramStarter, OnlyTheNamedDescriptorIsInherited) {
  const base::unique_fd named(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const base::unique_fd other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto sees = [this](int fd, exec_request with) {
    return ended_with(run({"test", "-e", "/proc/self/fd/" + std::to_string(fd)}, with), 0);
  };
  EXPECT_TRUE(sees(named.get(), {.inherits = {named.get(), -1, -1}}));
  EXPECT_FALSE(sees(other.get(), {.inherits = {named.get(), -1, -1}}));
  EXPECT_NE(::fcntl(named.get(), F_GETFD) & FD_CLOEXEC, 0) << "the parent's own has changed";
}

TEST_F(ProgramStarter, TheParentsErrnoStaysItsOwn) {
  program_starter starter;
  starter.prepare("there-is-no-such-program", 1);
  std::vector<std::string> command{"there-is-no-such-program"};
  const std::vector<char*> argv = pointers_to(command);
  char* const environment[] = {nullptr};
  for (int i = 0; i < 100; ++i) {
    const pid_t child = starter.start({.argv = argv.data(), .environment = environment});
    ASSERT_GT(child, 0);
    errno = EDOM;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) ASSERT_EQ(errno, EDOM);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == exit_command_not_found);
    ASSERT_EQ(errno, EDOM);
  }
}

TEST_F(ProgramStarter, AKilledChildTakesNothingAlong) {
  program_starter starter;
  const std::vector<std::string> command{"sleep", "60"};
  starter.prepare("sleep", command.size());
  for (int i = 0; i < 50; ++i) {
    std::vector<std::string> own = command;
    const std::vector<char*> argv = pointers_to(own);
    char* const environment[] = {nullptr};
    const pid_t child = starter.start({.argv = argv.data(), .environment = environment});
    ASSERT_GT(child, 0);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  EXPECT_TRUE(ended_with(run({"true"}), 0));
}

}  // namespace
}  // namespace tenure::process
