#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>

#include "placed_members.hpp"
#include "scripted_agent.hpp"

/// `tenure resign`, `transfer`, `pause`, `resume`.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Three members; "a" holds. Only an order can move this lease within the patience of a test.
class Order : public PlacedMembers {
 protected:
  void SetUp() override {
    PlacedMembers::SetUp();
    if (IsSkipped()) return;
    std::ofstream(in_ / "token") << "sesame\n";
    a_ = join("a");
    ASSERT_TRUE(runs_as(in_, "a")) << a_->process().err();
    b_ = join("b");
    c_ = join("c");
    ASSERT_TRUE(eventually([&] {
      const std::string seen = a_->get("/v1/elections/test");
      return seen.contains(R"({"identity":"b")") && seen.contains(R"({"identity":"c")");
    })) << a_->get("/v1/elections/test");
    ASSERT_TRUE(comes_to_say(*b_, "/v1/elections/test", R"("holder":"a")"));
    ASSERT_TRUE(comes_to_say(*c_, "/v1/elections/test", R"("holder":"a")"));
  }

  std::unique_ptr<member> join(const std::string& identity) {
    return member_of_store(
        {.identity = identity, .ttl = "10m", .more = {"--control-token-file", in_ / "token"}});
  }

  finished order(const member& whom, std::vector<std::string> words) {
    words.insert(words.begin(), tenure_binary());
    words.insert(words.end(), {"--api", whom.api(), "--token-file", in_ / "token"});
    return run(words, in_);
  }

  std::unique_ptr<member> a_;
  std::unique_ptr<member> b_;
  std::unique_ptr<member> c_;
};

TEST_P(Order, ATransferIsOverWhenTheMemberThatIsNamedHolds) {
  const finished r = order(*a_, {"transfer", "c", "test"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, ContainsRegex("^c holds test now, under version [0-9]+\n$"));
  EXPECT_TRUE(runs_as(in_, "c", 1)) << c_->process().err();
  EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
}

TEST_P(Order, WhatTheAgentRefusesIsSaidInItsWordsAndChangesNothing) {
  const finished stranger = order(*a_, {"transfer", "d"});
  EXPECT_EQ(stranger.status, 2);
  EXPECT_THAT(stranger.err, AllOf(HasSubstr("\"d\" is not a member"), HasSubstr("a, b, c")));
  const finished itself = order(*a_, {"transfer", "a"});
  EXPECT_EQ(itself.status, 2);
  EXPECT_EQ(itself.err,
            "tenure transfer: a holds election \"test\" already; name another member\n");
  const finished to_itself = order(*a_, {"resign", "--to", "a"});
  EXPECT_EQ(to_itself.status, 2);
  EXPECT_EQ(to_itself.err,
            "tenure resign: a holds election \"test\" already; name another member, or none\n");
  const finished idle = order(*b_, {"resign", "--member", "c", "--output", "json"});
  EXPECT_EQ(idle.status, 2);
  EXPECT_THAT(idle.err, AllOf(HasSubstr("c does not hold"), HasSubstr("a does")));
  EXPECT_THAT(idle.out, HasSubstr(R"("code":"not_holder")"));
  EXPECT_TRUE(a_->is_active());
}

TEST_P(Order, APausedMemberHoldsNothingUntilItIsResumed) {
  EXPECT_THAT(order(*b_, {"pause"}).out, HasSubstr("b is paused; a holds test now"));
  const finished r = order(*a_, {"resign", "--aside", "10m"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("c holds test now"));
  // The others, c among them, may learn a little later what a has seen.
  ASSERT_TRUE(eventually([&] {
    return c_->is_active() && b_->get("/v1/elections/test").contains(R"("holder":"c")");
  }));
  EXPECT_THAT(order(*b_, {"resume"}).out, HasSubstr("b campaigns for test again; c holds"));
  const finished next = order(*c_, {"pause"});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_THAT(next.out, HasSubstr("c is paused; b holds test now"));
  EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
}

TEST_P(Order, EveryVerbWorksFromTheAgentOfAStandby) {
  const finished moved = order(*c_, {"transfer", "b"});
  EXPECT_EQ(moved.status, 0) << moved.err;
  EXPECT_THAT(moved.out, ContainsRegex("^b holds test now, under version [0-9]+\n$"));
  const finished paused = order(*c_, {"pause", "--member", "a"});
  EXPECT_EQ(paused.status, 0) << paused.err;
  EXPECT_THAT(paused.out, HasSubstr("a was told to pause; b holds test now"));
  const finished resigned = order(*a_, {"resign", "--aside", "10m"});
  EXPECT_EQ(resigned.status, 0) << resigned.err;
  EXPECT_THAT(resigned.out, HasSubstr("c holds test now"));
  EXPECT_THAT(order(*c_, {"resume", "--member", "a"}).out,
              HasSubstr("a was told to campaign for test again"));
  EXPECT_THAT(order(*b_, {"resign", "--no-wait"}).out, HasSubstr("c has accepted it"));
  EXPECT_TRUE(runs_as(in_, "a", 3)) << a_->process().err();
  EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
}

TEST_P(Order, WhoDoesNotWaitIsToldThatItIsAccepted) {
  const finished r = order(*a_, {"resign", "--no-wait"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("a has accepted it"));
  EXPECT_TRUE(eventually([&] { return b_->is_active() || c_->is_active(); }));
}

INSTANTIATE_TEST_SUITE_P(On, Order, testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

constexpr const char* holding =
    R"("state":"active","is_self":true,"holders":[{"identity":"a","version":6}],"members":[])";

class ScriptedOrder : public testing::Test {
 protected:
  ScriptedOrder() {
    std::ofstream(in_ / "token") << "sesame\n";
    agent_.becomes(holding);
  }

  std::vector<std::string> words(std::vector<std::string> what) {
    what.insert(what.begin(), tenure_binary());
    what.insert(what.end(), {"--api", agent_.api(), "--token-file", in_ / "token"});
    return what;
  }

  temporary_directory in_;
  scripted_agent agent_;
};

TEST_F(ScriptedOrder, TheTokenGoesIntoTheRequestAndNowhereElse) {
  program p(words({"resign", "db", "--aside", "30s"}), in_ / "resign");
  ASSERT_TRUE(eventually([&] { return agent_.asked_for("POST") == 1; })) << p.err();
  EXPECT_EQ(agent_.asked_for("POST /v1/elections/db/resign host=127.0.0.1:"), 1U);
  EXPECT_EQ(agent_.asked_for(R"(auth=Bearer sesame {"aside":"30s"})"), 1U);
  EXPECT_EQ(agent_.asked_for("auth="), 1U) << "questions need no token";
  std::ifstream words_of("/proc/" + std::to_string(p.pid()) + "/cmdline");
  const std::string argv((std::istreambuf_iterator<char>(words_of)), {});
  EXPECT_THAT(argv, AllOf(HasSubstr("resign"), Not(HasSubstr("sesame"))));
  agent_.becomes(R"("state":"candidate","holders":[{"identity":"b","version":7}])");
  EXPECT_EQ(p.wait(), 0);
  EXPECT_EQ(p.out(), "b holds db now, under version 7\n");
  EXPECT_THAT(p.out() + p.err(), Not(HasSubstr("sesame")));
}

TEST_F(ScriptedOrder, WhatIsNotDoneInTimeSaysHowFarItHasCome) {
  const finished r = run(words({"resign", "db", "--timeout", "0s"}), in_);
  EXPECT_EQ(r.status, 124) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("not done after 0s: a is still giving db up"),
                           HasSubstr("tenure status --watch")));
}

TEST_F(ScriptedOrder, WhoHasGivenUpHasDoneItsPartAlthoughNobodyComes) {
  program p(words({"resign", "db", "--timeout", "1s"}), in_ / "resign");
  ASSERT_TRUE(eventually([&] { return agent_.asked_for("POST") == 1; })) << p.err();
  agent_.becomes(
      R"("state":"candidate","holders":[],"members":[{"identity":"b","state":"standby"}])");
  EXPECT_EQ(p.wait(), 0) << p.err();
  EXPECT_EQ(p.out(), "a has given db up; nobody has taken it yet (waited 1s)\n");
}

TEST_F(ScriptedOrder, ATransferThatGoesElsewhereHasFailed) {
  program p(words({"transfer", "c", "db"}), in_ / "transfer");
  ASSERT_TRUE(eventually([&] { return agent_.asked_for(R"({"to":"c"})") == 1; })) << p.err();
  agent_.becomes(R"("state":"candidate","holders":[{"identity":"b","version":7}])");
  EXPECT_EQ(p.wait(), 1) << p.err();
  EXPECT_EQ(p.out(), "b holds db now, under version 7, not c\n");
}

TEST_F(ScriptedOrder, ATimeWithoutAUnitSaysHowItIsWritten) {
  const finished r = run(words({"resign", "db", "--aside", "5"}), in_);
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, HasSubstr("--aside is \"5\", without a unit; say which unit: \"5s\"\n"));
}

TEST_F(ScriptedOrder, WhoHasNoTokenIsToldWhereOneGoes) {
  agent_.accepts(R"(401 {"error":{"code":"token_missing","message":"m","action":"x"}})");
  const finished r = run({tenure_binary(), "pause", "db", "--api", agent_.api()}, in_);
  EXPECT_EQ(r.status, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("give --token-file FILE"), HasSubstr("unix:PATH")));
  const finished none =
      run({tenure_binary(), "pause", "db", "--api", agent_.api(), "--token-file", in_ / "nothing"},
          in_);
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("nothing"), HasSubstr("ENOENT")));
}

}  // namespace
}  // namespace tenure::tests
