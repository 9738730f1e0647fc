#include "base/runtime_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace tenure::base {
namespace {

constexpr uid_t somebody = 12345;

/// What the default is for a user, given these variables; empty: not set. In a process of its own.
void expect_default(uid_t user, const std::string& of_login, const std::string& of_unit,
                    const std::string& wanted) {
  EXPECT_EXIT(
      {
        if (::geteuid() != user && ::seteuid(user) != 0) std::_Exit(2);
        ::unsetenv("XDG_RUNTIME_DIR");
        ::unsetenv("RUNTIME_DIRECTORY");
        if (!of_login.empty()) ::setenv("XDG_RUNTIME_DIR", of_login.c_str(), 1);
        if (!of_unit.empty()) ::setenv("RUNTIME_DIRECTORY", of_unit.c_str(), 1);
        std::_Exit(default_runtime_directory() == wanted ? 0 : 1);
      },
      testing::ExitedWithCode(0), "")
      << user << " " << of_login << " " << of_unit;
}

TEST(RuntimeDirectory, IsThatOfTheLoginOrOfTheUnit) {
  const uid_t user = ::geteuid() == 0 ? somebody : ::geteuid();
  expect_default(user, "/run/user/7", "", "/run/user/7/tenure");
  expect_default(user, "/run/user/7", "/run/tenure/db", "/run/user/7/tenure");
  expect_default(user, "", "/run/tenure/db", "/run/tenure/db");
  expect_default(user, "", "/run/other:/run/tenure/db", "/run/tenure/db");
  if (user == somebody) {
    const std::string own = "/tmp/tenure-" + std::to_string(somebody);
    expect_default(user, "", "", own);
    expect_default(user, "", "/run/other", own);
  }
}

TEST(RuntimeDirectory, OfAUnitHasItsName) {
  const auto name_in = [](const char* directories) {
    ::setenv("RUNTIME_DIRECTORY", directories, 1);
    const std::string out = unit_name();
    ::unsetenv("RUNTIME_DIRECTORY");
    return out;
  };
  EXPECT_EQ(name_in("/run/tenure/db-1"), "db-1");
  EXPECT_EQ(name_in("/run/other:/run/tenure/db-1"), "db-1");
  EXPECT_EQ(name_in("/run/other"), "");
  EXPECT_EQ(unit_name(), "");
}

TEST(RuntimeDirectory, IsWhatTheSettingSays) {
  EXPECT_EQ(runtime_directory("/run/db"), "/run/db");
  EXPECT_EQ(runtime_directory(""), default_runtime_directory());
  EXPECT_EQ(runtime_directory("off"), "");
}

TEST(RuntimeDirectory, OfRootIsOneForAllUnits) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root";
  expect_default(0, "/run/user/0", "/run/tenure/db", "/run/tenure");
}

}  // namespace
}  // namespace tenure::base
