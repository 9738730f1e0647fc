#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <memory>

#include "placed_members.hpp"

/// Orders to real members, and what the other members see.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* election = "/v1/elections/test";

/// Three members; "a" holds. Only a release can move this lease within the patience of a test, and
/// the named member never comes first just by chance.
class Control : public PlacedMembers {
 protected:
  void SetUp() override {
    PlacedMembers::SetUp();
    if (IsSkipped()) return;
    std::ofstream(in_ / "token") << "sesame\n";
    a_ = join("a");
    ASSERT_TRUE(runs_as(in_, "a")) << a_->process().err();
    b_ = join("b");
    c_ = join("c");
    for (member* one : {b_.get(), c_.get()}) {
      ASSERT_TRUE(eventually([&] { return one->process().said("holder=a"); }));
    }
    ASSERT_TRUE(eventually([&] {
      return shows(*a_, R"({"identity":"b")") && shows(*a_, R"({"identity":"c")");
    })) << a_->get(election);
  }

  std::unique_ptr<member> join(const std::string& identity) {
    return member_of_store(
        {.identity = identity, .ttl = "10m", .more = {"--control-token-file", in_ / "token"}});
  }

  static bool shows(const member& one, const std::string& words) {
    return one.get(election).find(words) != std::string::npos;
  }

  static std::string order(const member& one, const std::string& what,
                           const std::string& body = {}) {
    return one.post(std::string(election) + "/" + what, body, "sesame");
  }

  void expect_clean() {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  std::unique_ptr<member> a_;
  std::unique_ptr<member> b_;
  std::unique_ptr<member> c_;
};

TEST_P(Control, TransferGoesToTheMemberThatIsNamedEachTime) {
  std::uint64_t last = stamped_runs(in_).back().version;
  member* holder = a_.get();
  for (const auto& [name, next] : std::initializer_list<std::pair<const char*, member*>>{
           {"c", c_.get()}, {"b", b_.get()}, {"c", c_.get()}, {"a", a_.get()}}) {
    EXPECT_THAT(order(*holder, "transfer", std::string(R"({"to":")") + name + "\"}"),
                HasSubstr("202 Accepted"));
    const auto run = runs_as(in_, name, last);
    ASSERT_TRUE(run) << next->process().err();
    last = run->version;
    holder = next;
  }
  EXPECT_EQ(stamped_runs(in_).size(), 5U) << "nobody else came in between";
  EXPECT_THAT(b_->get(std::string(election) + "/history"), HasSubstr(R"("reason":"resigned")"));
  expect_clean();
}

TEST_P(Control, TransferToAStrangerChangesNothing) {
  EXPECT_THAT(order(*a_, "transfer", R"({"to":"d"})"),
              AllOf(HasSubstr("409 Conflict"), HasSubstr("not_a_member"), HasSubstr("a, b, c")));
  EXPECT_THAT(order(*a_, "transfer", R"({"to":"a"})"), HasSubstr("already_holder"));
  EXPECT_THAT(order(*b_, "transfer", R"({"to":"d"})"),
              AllOf(HasSubstr("409 Conflict"), HasSubstr("not_a_member"), HasSubstr("a, b, c")))
      << "in the words of the holder's agent";
  EXPECT_THAT(order(*b_, "resign", R"({"member":"c"})"),
              AllOf(HasSubstr("not_holder"), HasSubstr("a does")));
  EXPECT_TRUE(a_->is_active());
  EXPECT_EQ(stamped_runs(in_).size(), 1U);
}

TEST_P(Control, AnyAgentPassesAnOrderOnToTheHolder) {
  std::uint64_t last = 1;
  std::string holder = "a";
  for (const auto& [asked, next] :
       std::initializer_list<std::pair<member*, const char*>>{{c_.get(), "b"}, {a_.get(), "c"}}) {
    // A workload may run before the others have heard who holds now.
    ASSERT_TRUE(eventually([&] { return asked->process().said("holder=" + holder); }));
    const std::string answer = order(*asked, "transfer", std::string(R"({"to":")") + next + "\"}");
    EXPECT_THAT(answer, AllOf(HasSubstr("202 Accepted"), HasSubstr(R"("by":")")));
    const auto run = runs_as(in_, next, last);
    ASSERT_TRUE(run) << a_->process().err() << b_->process().err();
    last = run->version;
    holder = next;
  }
  EXPECT_EQ(stamped_runs(in_).size(), 3U) << "each order was obeyed once";
  expect_clean();
}

TEST_P(Control, AnyAgentPausesAMemberThatIsNamed) {
  EXPECT_THAT(order(*b_, "pause", R"({"member":"c"})"),
              AllOf(HasSubstr("202 Accepted"), HasSubstr(R"("by":"c")")));
  EXPECT_TRUE(eventually([&] { return shows(*c_, R"("paused":true)"); }));
  EXPECT_TRUE(shows(*b_, R"("paused":false)"));
  EXPECT_THAT(order(*c_, "pause", R"({"member":"a"})"), HasSubstr(R"("by":"a")"));
  ASSERT_TRUE(runs_as(in_, "b", 1)) << b_->process().err();
  EXPECT_THAT(order(*b_, "resume", R"({"member":"c"})"), HasSubstr(R"("by":"c")"));
  EXPECT_TRUE(eventually([&] { return shows(*c_, R"("paused":false)"); }));
  expect_clean();
}

TEST_P(Control, AnOrderForAMemberThatDoesNotTakeItIsWithdrawn) {
  // The store lists this member, but its agent is stopped.
  const auto agent = a_->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  const std::string answer = order(*b_, "resign", "");
  EXPECT_THAT(answer, AllOf(HasSubstr("503 Service Unavailable"), HasSubstr("no_taker"),
                            HasSubstr("nothing is done")));
  ::kill(*agent, SIGCONT);
  // The later order is obeyed; the earlier one ended the term.
  EXPECT_THAT(order(*b_, "pause", R"({"member":"a"})"), HasSubstr(R"("by":"a")"));
  ASSERT_TRUE(runs_as(in_, "c", 1) || runs_as(in_, "b", 1));
  expect_clean();
}

TEST_P(Control, AnObserverPassesOrdersOnToo) {
  const program observer({tenure_binary(), "agent", "--observe", "--store", GetParam().kind,
                          "--endpoint", store_->endpoint(), "--election", "test", "--listen", "off",
                          "--probe-listen", "off", "--socket", in_ / "observer.sock"},
                         in_ / "observer");
  finished r;
  EXPECT_TRUE(eventually([&] {
    r = run({tenure_binary(), "transfer", "c", "test", "--api",
             "unix:" + (in_ / "observer.sock").string()},
            in_);
    return r.status == 0;
  })) << r.err;
  EXPECT_THAT(r.out, HasSubstr("c holds test now"));
  EXPECT_THAT(
      run({tenure_binary(), "pause", "test", "--api", "unix:" + (in_ / "observer.sock").string()},
          in_)
          .err,
      HasSubstr("only watches"));
  expect_clean();
}

TEST_P(Control, OnlyWhoHasTheTokenIsObeyed) {
  const std::string path = std::string(election) + "/resign";
  EXPECT_THAT(a_->post(path, "", ""), HasSubstr("401 Unauthorized"));
  EXPECT_THAT(a_->post(path, "", "open"), HasSubstr("401 Unauthorized"));
  EXPECT_TRUE(a_->is_active());
  EXPECT_THAT(a_->process().err(), Not(HasSubstr("sesame")));
  EXPECT_THAT(a_->post(path, "", "sesame"), HasSubstr("202 Accepted"));
  EXPECT_TRUE(eventually([&] { return b_->is_active() || c_->is_active(); }));
  expect_clean();
}

TEST_P(Control, WhoIsPausedHoldsNothingUntilItIsResumed) {
  EXPECT_THAT(order(*b_, "pause"), HasSubstr("202 Accepted"));
  EXPECT_THAT(order(*a_, "pause"), HasSubstr("202 Accepted"));
  ASSERT_TRUE(runs_as(in_, "c", 1)) << c_->process().err();
  EXPECT_TRUE(shows(*a_, R"("paused":true)"));
  EXPECT_THAT(order(*c_, "resign", R"({"aside":"10m"})"), HasSubstr("202 Accepted"));
  ASSERT_TRUE(eventually([&] { return shows(*b_, R"("holder":null)"); }));
  EXPECT_THAT(order(*b_, "resign"), AllOf(HasSubstr("not_held"), HasSubstr("nothing to do")));
  EXPECT_THAT(order(*b_, "transfer", R"({"to":"c"})"),
              AllOf(HasSubstr("409 Conflict"), HasSubstr("not_held"), HasSubstr("ask again")));
  EXPECT_THAT(order(*b_, "resume"), HasSubstr("202 Accepted"));
  ASSERT_TRUE(runs_as(in_, "b", 2)) << b_->process().err();
  EXPECT_FALSE(shows(*b_, R"("paused":true)"));
  expect_clean();
}

TEST_P(Control, TheOthersHearWhyTheLastHolderLeft) {
  a_->process().send(SIGTERM);
  ASSERT_TRUE(eventually([&] { return b_->is_active() || c_->is_active(); }));
  member& standby = b_->is_active() ? *c_ : *b_;
  ASSERT_TRUE(eventually([&] { return shows(standby, R"("reason":"shutdown")"); }))
      << standby.get(election);
  EXPECT_TRUE(eventually([&] { return shows(standby, R"("gone":[{"identity":"a")"); }))
      << "it has left: " << standby.get(election);
}

INSTANTIATE_TEST_SUITE_P(On, Control, testing::ValuesIn(places()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tenure::tests
