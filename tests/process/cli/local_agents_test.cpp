#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "harness.hpp"

/// Commands without an address, and agents without a port.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class LocalAgents : public testing::Test {
 protected:
  void SetUp() override {
    a_ = join("a");
    ASSERT_TRUE(runs_as(in_, "a")) << a_->process().err();
    b_ = join("b");
    ASSERT_TRUE(eventually([&] { return tenure({"status"}).out.contains(" b      standby  a "); }))
        << tenure({"status"}).out << b_->process().err();
  }

  std::unique_ptr<member> join(const std::string& identity) {
    return std::make_unique<member>(
        in_, member::options{.identity = identity, .ttl = "10m", .listen = "off"});
  }

  finished tenure(std::vector<std::string> words) {
    words.insert(words.begin(), tenure_binary());
    return run(words, in_);
  }

  std::vector<std::filesystem::path> sockets() {
    std::vector<std::filesystem::path> out;
    for (const auto& one : std::filesystem::directory_iterator(in_ / "agents")) {
      if (one.path().extension() == ".sock") out.push_back(one.path());
    }
    return out;
  }

  temporary_directory in_;
  std::unique_ptr<member> a_;
  std::unique_ptr<member> b_;
};

TEST_F(LocalAgents, StatusShowsAllOfThem) {
  const finished r = tenure({"status"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(ContainsRegex("test +a +active +a +1 "),
                           ContainsRegex("test +b +standby +a +1 ")));
  EXPECT_EQ(tenure({"status", "test"}).out.substr(0, 8), "ELECTION");
  const finished other = tenure({"status", "nope"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("there is no election \"nope\""));
}

TEST_F(LocalAgents, QuestionsAboutTheElectionGoToWhoeverKnowsAndThoseAboutAMemberAreNotGuessed) {
  EXPECT_EQ(tenure({"wait", "--for", "holder=a", "--timeout", "0s"}).status, 0);
  EXPECT_EQ(tenure({"verify", "test", "--version", "1"}).status, 0);
  EXPECT_EQ(tenure({"history"}).status, 0);
  const finished unclear = tenure({"wait", "--for", "active", "--timeout", "0s"});
  EXPECT_EQ(unclear.status, 2);
  EXPECT_THAT(unclear.err,
              AllOf(HasSubstr("which agent?"), HasSubstr("a at unix:"), HasSubstr("b at unix:")));
  EXPECT_THAT(tenure({"pause"}).err, HasSubstr("which agent?"));
  EXPECT_THAT(tenure({"pause", "--member", "b"}).out, HasSubstr("b is paused; a holds test now"));
}

TEST_F(LocalAgents, AProbeOfSeveralAgentsSaysWhichThereAre) {
  for (const char* probe : {"livez", "leader"}) {
    const finished unclear = tenure({"probe", probe});
    EXPECT_EQ(unclear.status, 2) << unclear.out;
    EXPECT_THAT(unclear.err, AllOf(HasSubstr("which agent?"), HasSubstr("a at unix:"),
                                   HasSubstr("b at unix:"), HasSubstr("give --api")));
  }
  for (const auto& one : sockets()) {
    const bool is_of_a = one.stem() == std::to_string(*a_->agent());
    EXPECT_EQ(tenure({"probe", "leader", "--api", "unix:" + one.string()}).status, is_of_a ? 0 : 1);
  }
  b_.reset();  // kills its guard, which the agent follows
  EXPECT_TRUE(eventually([&] { return tenure({"probe", "leader"}).status == 0; }))
      << "of one agent it is clear; but " << tenure({"probe", "leader"}).err;
}

TEST_F(LocalAgents, OrdersNeedNeitherAnAddressNorATokenForTheAgentsOwnUser) {
  const finished r = tenure({"transfer", "b", "--aside", "1s"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, ContainsRegex("^b holds test now, under version [0-9]+\n$"));
  EXPECT_EQ(tenure({"resign", "--aside", "10m"}).out.substr(0, 2), "a ");
  EXPECT_TRUE(never_two_at_once(stamped_runs(in_)));
}

TEST_F(LocalAgents, OneThatHangsIsNamedAndTheOthersAreShown) {
  const auto agent = b_->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  const finished r = tenure({"status"});
  ::kill(*a_->agent(), SIGSTOP);
  const finished none = tenure({"status"});
  ::kill(*a_->agent(), SIGCONT);
  ::kill(*agent, SIGCONT);
  EXPECT_EQ(r.status, 4) << "one has answered: " << r.err;
  EXPECT_THAT(r.out, AllOf(ContainsRegex("test +a +active"), Not(ContainsRegex("test +b "))));
  const std::string pid = std::to_string(*agent);
  EXPECT_THAT(r.err, AllOf(HasSubstr("one of 2 agents has not answered: pid " + pid + ": "),
                           HasSubstr("unix:" + (in_ / "agents/").string() + pid + ".sock"),
                           HasSubstr("no answer in time while"), Not(HasSubstr("still"))));
  EXPECT_EQ(none.status, 5) << none.err;
  EXPECT_THAT(none.err, HasSubstr("none of 2 agents has answered: pid "));
}

TEST_F(LocalAgents, OneThatIsDeadIsNotShownAndTheNextOneTidiesUp) {
  ASSERT_EQ(sockets().size(), 2U);
  const auto agent = b_->agent();
  ASSERT_TRUE(agent);
  b_->pull_the_plug();
  ASSERT_TRUE(eventually([&] { return !is_alive(*agent); })) << "its socket is closed last";
  const finished r = tenure({"status"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr(" a "), Not(HasSubstr(" b      standby"))));
  EXPECT_EQ(sockets().size(), 2U) << "its socket is left";
  b_ = join("c");
  EXPECT_TRUE(eventually([&] { return tenure({"status"}).out.contains(" c      standby"); }));
  EXPECT_EQ(sockets().size(), 2U);
  for (const auto& one : sockets()) {
    struct stat about{};
    ASSERT_EQ(::stat(one.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << "for its user alone";
  }
}

TEST(LocalAgentsElsewhere, ADirectoryThatOthersCanWriteToIsNotUsed) {
  const temporary_directory in;
  std::filesystem::create_directory(in / "shared");
  ::chmod((in / "shared").c_str(), 0777);
  const std::vector<std::string> environment{"TENURE_RUNTIME_DIR=" + (in / "shared").string()};
  const program agent({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db",
                       "--election", "db", "--listen", "127.0.0.1:0", "--probe-listen", "off"},
                      in / "agent", environment);
  ASSERT_TRUE(eventually([&] { return agent.said("api=127.0.0.1:"); })) << agent.err();
  EXPECT_THAT(agent.err(), AllOf(HasSubstr("will not find this agent"),
                                 HasSubstr("can be written to by other users")));
  EXPECT_TRUE(std::filesystem::is_empty(in / "shared"));
}

TEST(LocalAgentsElsewhere, ADirectoryThatIsNamedAndCannotBeUsedIsNotPassedOverInSilence) {
  const temporary_directory in;
  const std::string nowhere = "TENURE_RUNTIME_DIR=" + (in / "nowhere").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"status"}, {"history"}, {"probe", "livez"}, {"pause"}}) {
    std::vector<std::string> line{tenure_binary()};
    line.insert(line.end(), words.begin(), words.end());
    EXPECT_THAT(run(line, in, {nowhere}).err,
                AllOf(HasSubstr("tenure " + words.front() +
                                ": the directory of "
                                "TENURE_RUNTIME_DIR cannot be used: "),
                      HasSubstr((in / "nowhere").string()), HasSubstr("unset the variable"),
                      HasSubstr("asking http://127.0.0.1:4040 now")));
    line.insert(line.end(), {"--api", "unix:" + (in / "none").string()});
    EXPECT_THAT(run(line, in, {nowhere}).err, Not(HasSubstr("TENURE_RUNTIME_DIR")))
        << "an address is given";
  }
  EXPECT_THAT(run({tenure_binary(), "status"}, in, {"TENURE_RUNTIME_DIR=off"}).err,
              Not(HasSubstr("TENURE_RUNTIME_DIR")));
}

TEST(LocalAgentsElsewhere, DirectoriesOfUnitsAreLookedInto) {
  const temporary_directory in;
  const auto of = [&in](const std::string& place) {
    return "TENURE_RUNTIME_DIR=" + (in / "run" / place).string();
  };
  std::filesystem::create_directories(in / "run/deep/er");
  std::vector<std::unique_ptr<program>> agents;
  for (const std::string place : {"", "db-1", "shared", "deep/er"}) {
    agents.push_back(std::make_unique<program>(
        std::vector<std::string>{tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                                 in / "db", "--election", "db", "--identity",
                                 "of-" + std::filesystem::path(place).filename().string(),
                                 "--listen", "off", "--probe-listen", "off"},
        in / ("agent" + std::to_string(agents.size())), std::vector<std::string>{of(place)}));
    ASSERT_TRUE(eventually([&] { return agents.back()->said("local_socket=/"); }))
        << agents.back()->err();
  }
  // As a directory in which another user could have put a socket.
  ASSERT_EQ(::chmod((in / "run/shared").c_str(), 0777), 0);
  // It is 4 until the store has answered both.
  finished r;
  EXPECT_TRUE(eventually([&] {
    r = run({tenure_binary(), "status"}, in, {of("")});
    return r.status == 0;
  })) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("db        of- "), HasSubstr("db        of-db-1 ")));
  EXPECT_THAT(r.out, Not(ContainsRegex("db +of-(shared|er)")));
}

TEST(LocalAgentsElsewhere, OffMakesNone) {
  const temporary_directory in;
  const program agent(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "db",
       "--listen", "127.0.0.1:0", "--probe-listen", "off", "--runtime-dir", "off"},
      in / "agent");
  ASSERT_TRUE(eventually([&] { return agent.said("local_socket=off"); })) << agent.err();
  EXPECT_FALSE(std::filesystem::exists(in / "agents"));
}

}  // namespace
}  // namespace tenure::tests
