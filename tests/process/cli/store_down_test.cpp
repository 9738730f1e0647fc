#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "placed_members.hpp"

/// What commands print when their agent cannot reach its store.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* election_path = "/v1/elections/test";

finished ask(const temporary_directory& in, const member& whom, std::vector<std::string> words) {
  words.insert(words.begin(), tenure_binary());
  words.insert(words.end(), {"--api", whom.api()});
  return run(words, in);
}

class StoreDown : public PlacedMembers {
 protected:
  void SetUp() override {
    PlacedMembers::SetUp();
    if (IsSkipped()) return;
    a_ = join("a");
    ASSERT_TRUE(comes_to_say(*a_, election_path, "\"is_self\":true,\"holder\""))
        << a_->process().err();
    b_ = join("b");
    ASSERT_TRUE(comes_to_say(*b_, election_path, "\"holder\":\"a\"")) << b_->process().err();
  }

  std::unique_ptr<member> join(const std::string& identity) {
    return member_of_store({.identity = identity, .ttl = "3s"});
  }

  void expect_that_b_cannot_tell() {
    ASSERT_TRUE(comes_to_say(*b_, election_path, "\"reachable\":false")) << b_->process().err();
    for (const char* condition : {"vacant", "held", "holder=a", "holder=b"}) {
      const finished r = ask(in_, *b_, {"wait", "--for", condition, "--timeout", "0s"});
      EXPECT_EQ(r.status, 4) << condition << r.out << r.err;
      EXPECT_THAT(r.err,
                  HasSubstr("cannot tell: b is a standby in test; a held it, under version"));
      EXPECT_THAT(r.err,
                  AllOf(HasSubstr(" ago; " + GetParam().kind + " does not answer (last answer "),
                        Not(HasSubstr("nobody holds"))));
    }
    EXPECT_EQ(ask(in_, *b_, {"wait", "--for", "standby", "--timeout", "0s"}).status, 0);
    const finished status = ask(in_, *b_, {"status"});
    EXPECT_EQ(status.status, 4) << status.out << status.err;
    EXPECT_THAT(status.out, ContainsRegex("test +b +standby +a, as of [0-9a-z]+ ago "));
    EXPECT_THAT(status.err,
                HasSubstr("cannot tell who holds test: " + GetParam().kind + " does not answer"));
    EXPECT_EQ(ask(in_, *b_, {"verify", "test", "--version", "1"}).status, 4);
    const finished history = ask(in_, *b_, {"history"});
    EXPECT_THAT(history.out, AllOf(HasSubstr("not known"), Not(HasSubstr("runs"))));
    const std::string json = b_->get(election_path);
    EXPECT_THAT(json, AllOf(HasSubstr("\"holder_known\":false"), HasSubstr("\"is_self\":false"),
                            Not(HasSubstr("\"holder_age_ms\":null"))));
    EXPECT_THAT(b_->get("/metrics"),
                AllOf(HasSubstr("\ntenure_store_up 0\n"), HasSubstr("tenure_store_silence_seconds"),
                      Not(HasSubstr("tenure_election_holder_info{"))));
  }

  void expect_that_b_takes_over() {
    ASSERT_TRUE(runs_as(in_, "b", 1)) << b_->process().err();
    EXPECT_EQ(ask(in_, *b_, {"wait", "--for", "holder=b", "--timeout", "30s"}).status, 0);
    const finished status = ask(in_, *b_, {"status"});
    EXPECT_EQ(status.status, 0) << status.err;
    EXPECT_EQ(status.err, "");
    EXPECT_THAT(b_->get(election_path),
                AllOf(HasSubstr("\"reachable\":true"), HasSubstr("\"holder_known\":true")));
  }

  std::unique_ptr<member> a_;
  std::unique_ptr<member> b_;
};

TEST_P(StoreDown, AStandbyWhoseStoreAndHolderAreDeadCannotTellWhoHolds) {
  store_->server()->kill(0);
  a_->pull_the_plug();
  expect_that_b_cannot_tell();
  store_->server()->start(0);
  expect_that_b_takes_over();
}

TEST_P(StoreDown, AStandbyWhoseStoreKeepsItsConnectionsAndSaysNothingCannotTellEither) {
  store_->server()->freeze(0);
  a_->pull_the_plug();
  expect_that_b_cannot_tell();
  store_->server()->thaw(0);
  expect_that_b_takes_over();
}

TEST_P(StoreDown, AHolderKnowsItselfByItsLeaseAndSaysThatTheStoreIsGone) {
  b_.reset();
  const auto a = std::exchange(a_, nullptr);
  a->pull_the_plug();
  const member c(
      in_,
      {.identity = "c", .ttl = "10m", .store = GetParam().kind, .endpoint = store_->endpoint()});
  ASSERT_TRUE(comes_to_say(c, election_path, "\"is_self\":true,\"holder\""))
      << c.get(election_path);
  store_->server()->kill(0);
  // Its next renewal is minutes away: the watch notices.
  ASSERT_TRUE(comes_to_say(c, election_path, "\"reachable\":false"));
  const finished status = ask(in_, c, {"status"});
  EXPECT_EQ(status.status, 0) << status.err;
  EXPECT_THAT(status.out, ContainsRegex("test +c +active +c "));
  EXPECT_EQ(ask(in_, c, {"wait", "--for", "holder=c", "--timeout", "0s"}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(On, StoreDown, testing::ValuesIn(server_places()),
                         [](const auto& instance) { return instance.param.name; });

TEST(StoreDownOnSqlite, AStandbyWhoseFileIsGoneCannotTellWhoHolds) {
  const temporary_directory in;
  std::filesystem::create_directory(in / "shared");
  const member a(in, {.identity = "a", .ttl = "3s", .endpoint = in / "shared/db"});
  ASSERT_TRUE(comes_to_say(a, election_path, "\"is_self\":true,\"holder\""))
      << a.get(election_path);
  const member b(in, {.identity = "b", .ttl = "3s", .endpoint = in / "shared/db"});
  ASSERT_TRUE(comes_to_say(b, election_path, "\"holder\":\"a\""));
  std::filesystem::rename(in / "shared", in / "elsewhere");
  ASSERT_TRUE(comes_to_say(b, election_path, "\"reachable\":false")) << b.get(election_path);
  const finished r = ask(in, b, {"wait", "--for", "vacant", "--timeout", "0s"});
  EXPECT_EQ(r.status, 4) << r.out << r.err;
  EXPECT_THAT(r.err, HasSubstr("sqlite does not answer"));
  EXPECT_EQ(ask(in, b, {"status"}).status, 4);
  for (const auto& [verb, answer] :
       {std::pair("pause", "b is paused; "), std::pair("resume", "b campaigns for test again; ")}) {
    const finished order = run({tenure_binary(), verb, "--member", "b"}, in);
    EXPECT_EQ(order.status, 0) << order.err;
    EXPECT_THAT(order.out, AllOf(testing::StartsWith(answer),
                                 HasSubstr("who holds test now is not known: sqlite does not")));
  }
  std::filesystem::rename(in / "elsewhere", in / "shared");
  EXPECT_TRUE(comes_to_say(b, election_path, "\"holder_known\":true"));
}

TEST(StoreDownOnSqlite, AStandbyLooksAtAFileThatNobodyWritesTo) {
  const temporary_directory in;
  // With this ttl the holder does not renew while the test runs.
  const member a(in, {.identity = "a", .ttl = "10m"});
  ASSERT_TRUE(comes_to_say(a, election_path, "\"is_self\":true,\"holder\""));
  const member b(in, {.identity = "b", .ttl = "1s"});
  ASSERT_TRUE(comes_to_say(b, election_path, "\"holder\":\"a\""));
  // The watch confirms it repeatedly: its age falls although the file does not change.
  long age = 0;
  int looks = 0;
  EXPECT_TRUE(eventually([&] {
    static const std::string mark = "\"holder_age_ms\":";
    const std::string answer = b.get(election_path);
    const auto at = answer.find(mark);
    if (at == std::string::npos) return false;
    const long now = std::atol(answer.c_str() + at + mark.size());
    looks += now < age ? 1 : 0;
    age = now;
    return looks >= 3;
  })) << b.get(election_path);
  EXPECT_THAT(b.get(election_path), HasSubstr("\"holder_known\":true"));
}

}  // namespace
}  // namespace tenure::tests
