#include "cli/client/local_agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.hpp"
#include "runtime/exit_status.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

candidate agent(const std::string& identity, const std::string& election) {
  return {.agent = {.host = {}, .socket_path = "/run/tenure/" + identity + ".sock"},
          .says = {.election = election, .identity = identity, .state = "candidate"}};
}

candidate holding(const std::string& identity, const std::string& election) {
  candidate out = agent(identity, election);
  out.says.is_self = true;
  return out;
}

std::string socket_of(const std::expected<election_address, ask_failure>& what) {
  return what ? what->agent.socket_path : what.error().text;
}

TEST(LocalAgents, TheOneThatHoldsKnowsBest) {
  const std::vector<candidate> all{agent("a", "db"), holding("b", "db"), agent("c", "db")};
  EXPECT_EQ(socket_of(chosen_of(all, "db", meant::any, "")), "/run/tenure/b.sock");
  EXPECT_EQ(chosen_of(all, std::nullopt, meant::any, "")->election, "db") << "the only one";
}

TEST(LocalAgents, OneThatReachesItsStoreKnowsBetter) {
  std::vector<candidate> all{agent("a", "db"), agent("b", "db")};
  all[0].says.holder_known = false;
  EXPECT_EQ(socket_of(chosen_of(all, "db", meant::any, "")), "/run/tenure/b.sock");
}

TEST(LocalAgents, TheMemberThatIsNamedIsAskedItself) {
  const std::vector<candidate> all{holding("a", "db"), agent("b", "db")};
  EXPECT_EQ(socket_of(chosen_of(all, "db", meant::any, "b")), "/run/tenure/b.sock");
  EXPECT_EQ(socket_of(chosen_of(all, "db", meant::self, "b")), "/run/tenure/b.sock");
  EXPECT_EQ(socket_of(chosen_of(all, "db", meant::any, "elsewhere")), "/run/tenure/a.sock");
}

TEST(LocalAgents, WhatIsAboutAMemberItselfIsNotGuessed) {
  const std::vector<candidate> all{holding("a", "db"), agent("b", "db"), agent("c", "queue")};
  const auto unclear = chosen_of(all, "db", meant::self, "");
  ASSERT_FALSE(unclear);
  EXPECT_EQ(unclear.error().status, runtime::exit_bad_settings);
  EXPECT_THAT(unclear.error().text,
              AllOf(HasSubstr("which agent?"), HasSubstr("a at unix:/run/tenure/a.sock"),
                    HasSubstr("b at unix:/run/tenure/b.sock"), HasSubstr("--api")));
  EXPECT_EQ(socket_of(chosen_of(all, "queue", meant::self, "")), "/run/tenure/c.sock");
}

TEST(LocalAgents, SeveralElectionsHaveToBeToldApart) {
  const std::vector<candidate> all{agent("a", "db"), agent("b", "queue")};
  EXPECT_THAT(socket_of(chosen_of(all, std::nullopt, meant::any, "")),
              HasSubstr("which election? the agents of this machine have: db, queue"));
  EXPECT_THAT(socket_of(chosen_of(all, "nope", meant::any, "")),
              HasSubstr("no agent of this machine has the election \"nope\""));
}

base::unique_fd served_at(const std::string& path) {
  base::unique_fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un where{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(where.sun_path, path.c_str(), sizeof(where.sun_path) - 1);
  EXPECT_EQ(::bind(out.get(), reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
  EXPECT_EQ(::listen(out.get(), 1), 0);
  return out;
}

/// As systemd makes the RuntimeDirectory of a unit with User=.
TEST(LocalAgents, ThoseOfUnitsOfOtherUsersAreFoundInADirectoryOfOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  constexpr uid_t other = 65534;
  const tests::temporary_directory in;
  const std::string unit = in / "db-1";
  const std::string open_to_all = in / "open";
  for (const std::string& one : {unit, open_to_all}) std::filesystem::create_directory(one);
  const auto agent = served_at(unit + "/7.sock");
  const auto fake = served_at(open_to_all + "/8.sock");
  ASSERT_EQ(::chown(unit.c_str(), other, other), 0);
  ASSERT_EQ(::chmod(open_to_all.c_str(), 0777), 0);
  ASSERT_EQ(::setenv("TENURE_RUNTIME_DIR", std::string(in / "").c_str(), 1), 0);
  const auto found = local_agents();
  ASSERT_EQ(::unsetenv("TENURE_RUNTIME_DIR"), 0);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 1U);
  EXPECT_THAT(found->front().socket_path, HasSubstr("/db-1/7.sock"));
}

}  // namespace
}  // namespace tenure::cli
