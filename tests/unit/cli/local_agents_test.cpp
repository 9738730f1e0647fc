#include "cli/client/local_agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/exit_status.hpp"

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

}  // namespace
}  // namespace tenure::cli
