#include "guard/target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenure::guard {
namespace {

using namespace std::string_view_literals;

TEST(TargetExecutable, IsAWholePathOrALastName) {
  EXPECT_TRUE(executable_matches("/usr/bin/python3.11", "/usr/bin/python3.11"));
  EXPECT_TRUE(executable_matches("/usr/bin/python3.11", "python3.11"));
  EXPECT_FALSE(executable_matches("/usr/bin/python3.11", "python3"));
  EXPECT_FALSE(executable_matches("/usr/bin/python3.11", "/bin/python3.11"));
  EXPECT_FALSE(executable_matches("/opt/usr/bin/main", "/usr/bin/main"));
  EXPECT_FALSE(executable_matches("/usr/bin/main", ""));
  EXPECT_FALSE(executable_matches("/", ""));
}

TEST(TargetExecutable, StaysTheOneWhenItIsReplacedOnDisk) {
  EXPECT_TRUE(executable_matches("/app/main (deleted)", "/app/main"));
  EXPECT_TRUE(executable_matches("/app/main (deleted)", "main"));
}

TEST(TargetCommandLine, IsComparedAsPsShowsItByWholeArguments) {
  constexpr auto line = "python3\0-m\0orders\0--port=80\0"sv;
  EXPECT_TRUE(command_line_matches(line, "python3"));
  EXPECT_TRUE(command_line_matches(line, "python3 -m orders"));
  EXPECT_TRUE(command_line_matches(line, "python3 -m orders --port=80"));
  EXPECT_TRUE(command_line_matches(line, "python3 -m orders "));
  EXPECT_FALSE(command_line_matches(line, "python3 -m order"));
  EXPECT_FALSE(command_line_matches(line, "python3 -m orders --port=8"));
  EXPECT_FALSE(command_line_matches(line, "python3 -m orders --port=80 more"));
  EXPECT_FALSE(command_line_matches(line, "-m orders"));
  EXPECT_FALSE(command_line_matches(line, ""));
  EXPECT_FALSE(command_line_matches(line, "  "));
  EXPECT_TRUE(command_line_matches("sh\0-c\0exec app --all\0"sv, "sh -c exec app"));
}

TEST(TargetCommandLine, MayBeATitle) {
  constexpr auto title = "nginx: master process nginx -g daemon off;\0\0\0\0"sv;
  EXPECT_TRUE(command_line_matches(title, "nginx: master process"));
  EXPECT_FALSE(command_line_matches(title, "nginx"));
}

TEST(TargetCommandLine, OfAKernelThreadOrAZombieIsNobodys) {
  EXPECT_FALSE(command_line_matches("", "sh"));
  EXPECT_FALSE(command_line_matches("\0"sv, "sh"));
}

TEST(TargetPidFile, HoldsANumberInItsFirstLine) {
  EXPECT_EQ(read_pid_file("17"), 17);
  EXPECT_EQ(read_pid_file("  17 \n"), 17);
  EXPECT_EQ(read_pid_file("17\n/var/lib/postgresql/15/main\n1700000000\n5432\n"), 17);
}

TEST(TargetPidFile, IsEmptyForAMomentWhileTheProgramStarts) {
  for (const char* text : {"", "\n", " \r\n"}) {
    EXPECT_EQ(read_pid_file(text), std::unexpected(pid_file_fault::empty)) << text;
  }
}

TEST(TargetPidFile, NamesNobodyIfItHoldsAnythingElse) {
  for (const char* text :
       {"x", "0", "-17", "+17", "17x", "17 18", "0x11", "99999999999", "pid: 17"}) {
    EXPECT_EQ(read_pid_file(text), std::unexpected(pid_file_fault::no_number)) << text;
  }
}

}  // namespace
}  // namespace tenure::guard
