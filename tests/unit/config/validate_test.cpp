#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using tests::expect_golden;
using namespace std::chrono_literals;

TEST(Settings, DefaultsAreThoseOfTheCoreAndTheDesign) {
  const configuration s = good(minimal());
  EXPECT_EQ(s.asked.ttl, core::default_ttl);
  EXPECT_EQ(s.asked.drift_ppm, core::default_drift_ppm);
  EXPECT_EQ(s.timing.drain, core::default_drain);
  EXPECT_EQ(s.timing.renew, 5s);
  EXPECT_EQ(s.timing.grace, 2s);
  EXPECT_EQ(s.timing.kill_budget, 500ms);
  EXPECT_EQ(s.timing.lock_delay, 1s);
  EXPECT_THAT(s.elections, ElementsAre(election{"db", 1}));
  EXPECT_EQ(s.identity, "host-1");
  EXPECT_FALSE(s.observe);
  EXPECT_EQ(s.succeeds.priority, 0);
  EXPECT_FALSE(s.succeeds.prefer_newer);
  EXPECT_FALSE(s.succeeds.preempt);
  EXPECT_EQ(text(s.listen), "127.0.0.1:4040");
  EXPECT_FALSE(s.listen.is_chosen);
  EXPECT_EQ(text(s.probe_listen), "0.0.0.0:8081");
  EXPECT_EQ(s.on_lost, core::after_loss::standby);
  EXPECT_EQ(signal_name(s.stop_signal), "TERM");
  EXPECT_EQ(s.log_format, log_format::automatic);
  EXPECT_EQ(s.log_level, log_level::info);
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Settings, AShortTtlAloneIsAGoodConfiguration) {
  const configuration s = good(with_flags({{"--ttl", "2s"}}));
  EXPECT_EQ(s.timing.kill_budget, 100ms);
  EXPECT_FALSE(s.asked.renew.has_value());
}

TEST(Settings, WhatMustBeGivenIsAskedForAllAtOnce) {
  inputs in = minimal();
  in.flags.clear();
  in.host_name.clear();
  expect_golden(problems_of(in));
  in.flags = {{"--store", "sqlite"}, {"--election", "db"}, {"--identity", "me"}};
  expect_golden(problems_of(in));
}

TEST(Settings, WhatIsMissingInAFileThatIsCheckedAloneIsNamedAsTheFileHasIt) {
  inputs in = only_file("ttl: 15s\n");
  in.host_name.clear();
  in.file_alone = true;
  expect_golden(problems_of(in));
  in = only_file("store: etcd\nelection: db\n");
  in.file_alone = true;
  expect_golden(problems_of(in));
  in.file->value().text = "store: sqlite\nelection: db\n";
  expect_golden(problems_of(in));
}

TEST(Settings, ABadValueIsNotAlsoCalledMissing) {
  inputs in = minimal();
  in.flags = {{"--store", "x"}, {"--endpoint", ""}, {"--election", "/"}, {"--identity", " "}};
  expect_golden(problems_of(in));
}

TEST(Settings, AStoreThatThisBuildLacksIsNamedWithThoseItHas) {
  const inputs in = only_file("{store: zookeeper, endpoint: 'a', election: db}\n");
  expect_golden(problems_of(in));
}

TEST(Settings, SqliteIsOneFile) {
  expect_golden(problems_of(with_flags({{"--endpoint", "/tmp/u.db"}})));
  inputs in = minimal();
  in.flags[1].second = "http://127.0.0.1:2379";
  expect_golden(problems_of(in));
}

TEST(Settings, EndpointsAreDistinctAndLimited) {
  inputs in = minimal();
  in.flags = {{"--store", "etcd"}, {"--election", "db"}};
  for (std::size_t i = 0; i < max_endpoints; ++i) {
    in.flags.emplace_back("--endpoint", "http://e" + std::to_string(i) + ":2379");
  }
  EXPECT_EQ(good(in).endpoints.size(), max_endpoints);
  in.flags.emplace_back("--endpoint", "http://e0:2379");
  expect_golden(problems_of(in));
}

TEST(Settings, ElectionsAreDistinctAndNotInsideEachOther) {
  expect_golden(problems_of(with_flags({{"--election", "db"}})));
  expect_golden(problems_of(with_flags({{"--election", "db/a/b"}, {"--election", "db-c"}})));
  inputs in = with_file("election: a\nelections: [b]\n");
  in.flags.pop_back();
  expect_golden(problems_of(in));
}

TEST(Settings, ElectionsAreLimited) {
  std::string text = "elections:\n";
  for (std::size_t i = 0; i < max_elections; ++i) text += "  - e" + std::to_string(i) + "\n";
  inputs in = with_file(text);
  in.flags.pop_back();
  EXPECT_EQ(good(in).elections.size(), max_elections);
  in.file->value().text += "  - more\n";
  expect_golden(problems_of(in));
}

TEST(Settings, OnlyTheHolderOfAnElectionWithOneSlotMakesWay) {
  expect_golden(problems_of(with_flags({{"--preempt", "true"}, {"--slots", "2"}})));
  inputs in = with_file("elections: [a, {name: b, slots: 3}]\npreempt: true\n");
  in.flags.pop_back();
  expect_golden(problems_of(in));
  in.file->value().text = "elections: [{name: a, slots: 1}]\nslots: 2\npreempt: true\n";
  EXPECT_TRUE(good(in).succeeds.preempt) << "no election has as many";
  EXPECT_FALSE(good(with_flags({{"--preempt", "false"}, {"--slots", "2"}})).succeeds.preempt);
}

TEST(Settings, AnObserverIgnoresTheOrderOfSuccession) {
  const configuration s =
      good(with_flags({{"--observe", "true"}, {"--priority", "5"}, {"--preempt", "true"}}));
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Settings, APriorityThatComesToNothingIsWarnedOf) {
  const auto warnings = [](const char* priority, const char* unlisted) {
    return good(with_flags({{"--priority", priority}, {"--unlisted", unlisted}})).warnings;
  };
  ASSERT_EQ(warnings("5", "true").size(), 1U);
  EXPECT_EQ(render(warnings("5", "true").front()),
            "--priority: priority is 5, and unlisted is true: a member that is not listed comes "
            "behind all that are; remove one of them");
  EXPECT_THAT(warnings("5", "false"), IsEmpty());
  EXPECT_THAT(warnings("-5", "true"), IsEmpty());
}

TEST(Settings, AnImpossibleBudgetPointsToTheLineToChange) {
  struct row {
    const char* text;
    const char* where;
  };
  for (const row& r : {
           row{"ttl: 10s\ngrace: 8s\n",
               "tenure.yaml:2:1: the time budget does not add up: ttl 10s"},
           row{"grace: 8s\nttl: 10s\n", "tenure.yaml:1:1: "},
           row{"ttl: 10s\nrenew: 9s\n", "tenure.yaml:2:1: "},
           row{"ttl: 10s\nkill_budget: 8s\n", "tenure.yaml:2:1: "},
           row{"kill_budget: 14s\n", "tenure.yaml:1:1: "},
           row{"renew: 5s\nttl: 500ms\n", "tenure.yaml:2:1: ttl is 500ms; it must be from 1s"},
           row{"ttl: 25h\n", "tenure.yaml:1:1: ttl is 25h; it must be from 1s"},
           row{"drift: 21%\n", "tenure.yaml:1:1: drift is 21 %"},
           row{"drain: 25h\n", "tenure.yaml:1:1: drain is "},
       }) {
    EXPECT_THAT(problems_of(with_file(r.text)), ElementsAre(StartsWith(r.where))) << r.text;
  }
  inputs in = with_file("ttl: 10s\n");
  in.environment = {{"TENURE_GRACE", "8s"}};
  expect_golden(problems_of(in));
}

TEST(Settings, AllImpossibleTimesComeAtOnce) {
  expect_golden(problems_of(with_file("renew: 1ms\nkill_budget: 0s\ngrace: 1h\n")));
}

TEST(Settings, NoBudgetIsReckonedWithAValueMissing) {
  expect_golden(problems_of(with_file("ttl: soon\ngrace: 8s\nkill_budget: 14s\n")));
}

TEST(Settings, TheApiBeyondLoopbackIsAcceptedWithAWarning) {
  const configuration s = good(with_flags({{"--listen", "0.0.0.0:4040"}}));
  EXPECT_TRUE(s.listen.is_chosen);
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_EQ(render(s.warnings.front()),
            "--listen: the API listens on 0.0.0.0:4040, where other machines may reach it; listen "
            "on 127.0.0.1 unless they must");
  EXPECT_THAT(good(with_flags({{"--listen", "[::1]:4040"}})).warnings, IsEmpty());
  EXPECT_THAT(good(with_flags({{"--listen", "off"}})).warnings, IsEmpty());
}

TEST(Settings, AControlTokenThatCrossesTheNetworkIsWarnedOf) {
  const auto warned = [](const char* listen) {
    std::string out;
    for (const problem& one :
         good(with_flags({{"--listen", listen}, {"--control-token-file", "/t"}})).warnings) {
      out += render(one) + "\n";
    }
    return out;
  };
  EXPECT_THAT(warned("0.0.0.0:4040"), HasSubstr("--control-token-file: the API has no TLS"));
  EXPECT_EQ(warned("127.0.0.1:4040"), "");
}

TEST(Settings, TwoListenersCannotHaveOnePort) {
  expect_golden(problems_of(with_flags({{"--listen", "127.0.0.1:8081"}})));
  expect_golden(problems_of(with_flags({{"--probe-listen", "127.0.0.1:4040"}})));
  for (const char* other : {"127.0.0.2:4040", "off", "127.0.0.1:0"}) {
    EXPECT_THAT(problems_of(with_flags({{"--probe-listen", other}})), IsEmpty()) << other;
  }
  EXPECT_THAT(
      problems_of(with_flags({{"--probe-listen", "127.0.0.1:0"}, {"--listen", "127.0.0.1:0"}})),
      IsEmpty());
}

TEST(Settings, MembersAreToldAtAnAddressThatOthersReach) {
  EXPECT_FALSE(good(with_flags({})).peer_listen.at);
  for (const char* any : {"0.0.0.0:4041", "[::]:4041"}) {
    expect_golden(problems_of(with_flags({{"--peer-listen", any}})));
    inputs in_a_pod = with_flags({{"--peer-listen", any}});
    in_a_pod.environment.emplace_back("TENURE_POD_ADDRESS", "10.1.2.3,fd00::3");
    EXPECT_EQ(text(good(in_a_pod).peer_listen), "10.1.2.3:4041");
  }
  const configuration s = good(with_flags({{"--peer-listen", "10.1.2.3:4041"}}));
  EXPECT_EQ(text(s.peer_listen), "10.1.2.3:4041");
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_EQ(render(s.warnings.front()),
            "--peer-listen: store sqlite makes no use of peer_listen; leave it out");
}

/// Of `a/b/c` not only `a/b` is a parent.
TEST(Settings, ElectionsInsideEachOtherAreFoundAtEachDepth) {
  for (const char* names : {"[a, a/b]", "[a, a/b/c]", "[a/b, a/b/c/d]", "[x, a/b/c, a]"}) {
    expect_golden(problems_of(
        only_file("store: etcd\nendpoint: http://a\nelections: " + std::string(names) + "\n")));
  }
  EXPECT_THAT(
      problems_of(only_file("store: etcd\nendpoint: http://a\nelections: [a, ab/c, b/a]\n")),
      IsEmpty());
}

TEST(Settings, ACharacterThatIsNotAllowedIsShownAsAWhole) {
  expect_golden(problems_of(with_flags({{"--election",
                                         "gr\xc3\xb6\xc3\x9f"
                                         "e"}})));
}

}  // namespace
}  // namespace tenure::config::test
