#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

#include "harness.hpp"

namespace tenure::tests {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Cli, AllProblemsOfAllSourcesAreSaidAtOnce) {
  const temporary_directory in;
  std::ofstream(in / "t.yaml") << "store: sqlite\nelection: db\ngrase: 1s\nttl: 15\n";
  const finished r = run({tenure_binary(), "exec", "--config", in / "t.yaml", "--endpoint",
                          in / "db", "--on-lost", "perhaps", "--", "true"},
                         in, {"TENURE_SLOTS=none"});
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(has(r.err, "t.yaml:3:1: unknown setting \"grase\"; did you mean \"grace\"?"))
      << r.err;
  EXPECT_TRUE(has(r.err, "t.yaml:4:6:")) << r.err;
  EXPECT_TRUE(has(r.err, "--on-lost")) << r.err;
  EXPECT_TRUE(has(r.err, "TENURE_SLOTS")) << r.err;
}

TEST(Cli, AnImpossibleBudgetIsRefusedWithItsArithmetic) {
  const temporary_directory in;
  const finished r = run({tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in / "db",
                          "--election", "db", "--ttl", "10s", "--grace", "9s", "--", "true"},
                         in);
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(has(r.err, "ttl 10s - drift 100ms (1 %) - kill_budget 500ms - grace 9s")) << r.err;
}

TEST(Cli, GuardsAndAgentsAreRefusedWhatCannotWork) {
  const temporary_directory in;
  const std::vector<std::string> member{"--store", "sqlite",      "--endpoint",
                                        in / "db", "--guard-dir", in / "run"};
  const auto tenure = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.begin(), tenure_binary());
    words.insert(words.end(), more.begin(), more.end());
    return run(words, in);
  };
  struct refusal {
    finished what;
    std::string says;
  };
  std::vector<std::string> exec = member;
  exec.insert(exec.end(), {"--election", "db", "--", "true"});
  for (const refusal& r : {
           refusal{tenure({"exec"}, exec), "--guard-dir is for tenure agent"},
           refusal{tenure({"agent", "--election", "a", "--election", "b"}, member),
                   "--guard-dir is for a member of one election"},
           refusal{tenure({"agent", "--election", "a", "--observe"}, member), "no --observe"},
           refusal{tenure({"guard", "--", "true"}, {}), "no directory"},
           refusal{tenure({"guard", "--dir", in / "run"}, {}), "no command to run"},
           refusal{tenure({"guard", "--dir", in / "run", "--drain", "20", "--", "true"}, {}),
                   "--drain"},
           refusal{tenure({"guard", "--dir", in / "run", "--stop-signal", "BOO", "--", "true"}, {}),
                   "--stop-signal"},
           refusal{tenure({"guard", "--dir", in / "run", "--agent-uid", "x", "--", "true"}, {}),
                   "--agent-uid"},
       }) {
    EXPECT_EQ(r.what.status, 2) << r.says;
    EXPECT_TRUE(has(r.what.err, r.says)) << r.what.err;
  }
  const finished nowhere = tenure({"guard", "--dir", "/proc/no", "--", "true"}, {});
  EXPECT_EQ(nowhere.status, 125);
  EXPECT_TRUE(has(nowhere.err, "cannot create the directory /proc/no")) << nowhere.err;
}

TEST(Cli, APriorityBelowZeroIsGivenBehindAnEqualsSign) {
  const temporary_directory in;
  EXPECT_EQ(run({tenure_binary(), "explain", "--priority=-5"}, in).status, 0);
  const finished apart = run({tenure_binary(), "explain", "--priority", "-5"}, in);
  EXPECT_EQ(apart.status, 2);
  EXPECT_TRUE(has(apart.err, "one that begins with - is given as --priority=VALUE")) << apart.err;
}

TEST(Cli, ExplainShowsTheSameSumsForPeopleAndPrograms) {
  const temporary_directory in;
  const finished people = run({tenure_binary(), "explain", "--ttl", "15s"}, in);
  EXPECT_EQ(people.status, 0) << people.err;
  EXPECT_TRUE(has(people.out, "12.35s")) << people.out;
  const finished programs =
      run({tenure_binary(), "explain", "--ttl", "15s", "--output", "json"}, in);
  EXPECT_EQ(programs.status, 0) << programs.err;
  EXPECT_TRUE(has(programs.out, "\"stop_at_seconds\": 12.35")) << programs.out;
  EXPECT_TRUE(has(programs.out, "\"store_writes_per_hour\": 720.0")) << programs.out;
}

TEST(Cli, ExplainSaysWhatAStandbyWritesToTheStore) {
  const temporary_directory in;
  struct row {
    std::vector<std::string> flags;
    std::string says;
  };
  for (const row& r :
       {row{{}, "by the holder; each listed member renews its name as well, at least every 10 s\n"},
        row{{"--store", "etcd"}, "renews its name as well, at least every 10 s\n"},
        row{{"--store", "etcd", "--unlisted"}, "by the holder; a standby writes nothing\n"},
        row{{"--store", "kubernetes"}, "renews its name as well, at least every 10 s\n"},
        row{{"--store", "consul"}, "at least every 10 s, and a standby its session\n"},
        row{{"--store", "sqlite"}, "a standby writes nothing to the file of the leases\n"}}) {
    std::vector<std::string> asked{tenure_binary(), "explain", "--ttl", "15s"};
    asked.insert(asked.end(), r.flags.begin(), r.flags.end());
    const finished shown = run(asked, in);
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_TRUE(has(shown.out, r.says)) << shown.out;
  }
}

TEST(Cli, ExplainShowsWhatAHealthCheckAddsIfThereIsOne) {
  const temporary_directory in;
  const std::vector<std::string> asked{tenure_binary(), "explain",       "--ttl",
                                       "15s",           "--health-file", "/run/ok"};
  const finished people = run(asked, in);
  EXPECT_EQ(people.status, 0) << people.err;
  EXPECT_TRUE(has(people.out, "noticed              7s")) << people.out;
  EXPECT_TRUE(has(people.out, "pause               15s")) << people.out;
  std::vector<std::string> as_json = asked;
  as_json.insert(as_json.end(), {"--output", "json"});
  const finished programs = run(as_json, in);
  EXPECT_TRUE(has(programs.out, "\"health_noticed_within_seconds\": 7.0")) << programs.out;
  EXPECT_TRUE(has(programs.out, "\"unhealthy_longest_pause_seconds\": 300.0")) << programs.out;
  EXPECT_FALSE(has(run({tenure_binary(), "explain"}, in).out, "noticed"));
}

/// `tenure explain` for Consul with a ttl of 15s and a lock_delay of 1s.
finished explain_consul(const temporary_directory& in, const std::vector<std::string>& more) {
  std::vector<std::string> words{tenure_binary(), "explain", "--store",      "consul",
                                 "--ttl",         "15s",     "--lock-delay", "1s"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, in);
}

TEST(Cli, ExplainAddsTheLockDelayOfConsulToTheFailoverOfALock) {
  const temporary_directory in;
  const finished without = explain_consul(in, {});
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_TRUE(has(without.out, "fail-over           31s")) << without.out;
  EXPECT_FALSE(has(without.out, "grants a lock")) << without.out;
  const finished with = explain_consul(in, {"--session-lock-delay", "10s"});
  EXPECT_TRUE(has(with.out, "fail-over           41s")) << with.out;
  EXPECT_TRUE(has(with.out, "Consul grants a lock to nobody for 10s")) << with.out;
  EXPECT_EQ(with.err, "");
  const finished json = explain_consul(in, {"--session-lock-delay", "10s", "--output", "json"});
  EXPECT_TRUE(has(json.out, "\"worst_failover_seconds\": 41.0")) << json.out;
}

TEST(Cli, ExplainKnowsThatASemaphoreOfConsulHasNoLockDelay) {
  const temporary_directory in;
  const finished r = explain_consul(in, {"--slots", "3", "--session-lock-delay", "10s"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(has(r.out, "fail-over           31s")) << r.out;
  EXPECT_FALSE(has(r.out, "grants a lock")) << r.out;
  EXPECT_TRUE(has(r.err, "--session-lock-delay: session_lock_delay does nothing for the 3 slots"))
      << r.err;
}

TEST(Cli, ExplainKnowsThatASessionWithoutATtlNeverEndsByItself) {
  const temporary_directory in;
  const finished people = explain_consul(in, {"--session-without-ttl"});
  EXPECT_EQ(people.status, 0) << people.err;
  EXPECT_TRUE(has(people.out, "fail-over         never   ")) << people.out;
  EXPECT_TRUE(has(people.out, "only if an operator destroys it")) << people.out;
  EXPECT_TRUE(has(explain_consul(in, {"--session-without-ttl", "--node-check", "serfHealth"}).out,
                  "only if a check fails, or an operator destroys it"));
  EXPECT_TRUE(has(explain_consul(in, {"--session-without-ttl", "--output", "json"}).out,
                  "\"worst_failover_seconds\": null"));
}

TEST(Cli, ExplainShowsHowKubernetesLearnsWhichPodIsActive) {
  const temporary_directory in;
  const auto told = [&](const std::string& way) {
    return run({tenure_binary(), "explain", "--traffic", way}, in).out;
  };
  EXPECT_TRUE(has(told("endpoints"), "by the only endpoint of a Service's EndpointSlice:"));
  EXPECT_TRUE(has(told("label"), "by its label tenure.dev/role"));
  EXPECT_TRUE(has(told("gate"), "by its condition tenure.dev/active"));
  EXPECT_FALSE(has(told("probe"), "Kubernetes"));
}

/// The unit of systemd does not start what ends with 2 again.
TEST(Cli, PlacesThatCannotWorkAreRefusedByEachVerbBeforeAnythingRuns) {
  const temporary_directory in;
  std::ofstream(in / "open.yaml") << "store: sqlite\nendpoint: /tmp/x.db\nelection: db\n";
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"check", in / "open.yaml"},
        std::vector<std::string>{"agent", "--config", in / "open.yaml"},
        std::vector<std::string>{"doctor", "--config", in / "open.yaml"},
        std::vector<std::string>{"exec", "--config", in / "open.yaml", "--", "true"}}) {
    std::vector<std::string> words{tenure_binary()};
    words.insert(words.end(), verb.begin(), verb.end());
    const finished done = run(words, in);
    EXPECT_EQ(done.status, 2) << verb.front() << done.err;
    EXPECT_TRUE(has(done.err, "every user can write to the directory /tmp")) << done.err;
  }
}

TEST(Cli, CheckShowsWhatAGoodFileMeansAndWhatIsWrongWithABadOne) {
  const temporary_directory in;
  std::ofstream(in / "good.yaml") << "store: sqlite\nendpoint: x.db\nelection: db\n";
  const finished good = run({tenure_binary(), "check", in / "good.yaml"}, in);
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_TRUE(has(good.out, "ttl")) << good.out;
  std::ofstream(in / "bad.yaml") << "store: sqlite\nendpoint: /tmp/x.db\nelection: db\nttll: 3s\n";
  const finished bad = run({tenure_binary(), "check", in / "bad.yaml"}, in);
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(has(bad.err, "bad.yaml:4:1")) << bad.err;
  const finished json = run({tenure_binary(), "check", in / "bad.yaml", "--output", "json"}, in);
  EXPECT_EQ(json.status, 2);
  EXPECT_TRUE(has(json.out, "\"good\": false")) << json.out;
  std::ofstream(in / "bad.yaml") << "store: sqlite\n";
  const finished less = run({tenure_binary(), "check", in / "bad.yaml"}, in);
  EXPECT_FALSE(has(less.err, "--")) << "flags are no part of a file: " << less.err;
  EXPECT_EQ(run({tenure_binary(), "check", in / "none.yaml"}, in).status, 2);
}

TEST(Agent, WarnsOfASecretThatEverybodyCanRead) {
  const temporary_directory in;
  const std::string token = in / "token";
  std::ofstream(token) << "sesame";
  const auto log_with = [&](unsigned mode) {
    std::filesystem::permissions(token, std::filesystem::perms(mode));
    program a({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election",
               "db", "--listen", "off", "--probe-listen", "off", "--control-token-file", token},
              in / ("log " + std::to_string(mode)));
    EXPECT_TRUE(eventually([&] { return a.said("state=active"); })) << a.err();
    return a.err();
  };
  const std::string words = "control_token_file: every user can read the secret in " + token;
  EXPECT_TRUE(has(log_with(0644), words));
  EXPECT_FALSE(has(log_with(0640), words));
}

TEST(Cli, AnUnknownFlagIsNamedTogetherWithTheOtherProblems) {
  const temporary_directory in;
  const finished r = run({tenure_binary(), "exec", "--tttl", "3s", "--store", "sqlite",
                          "--election", "db", "--grace=soon", "--", "true"},
                         in);
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(has(r.err, "--tttl: unknown flag; did you mean \"--ttl\"?")) << r.err;
  EXPECT_TRUE(has(r.err, "--grace")) << r.err;
  EXPECT_TRUE(has(r.err, "endpoint is missing")) << r.err;
}

TEST(Cli, ASecretForAVerbThatTakesNoneIsNotRepeatedEither) {
  const temporary_directory in;
  const std::vector<std::vector<std::string>> mistakes{
      {"check", "t.yaml", "--password", "hunter2"},
      {"check", "--token=hunter2"},
      {"demo", "--token", "a", "hunter2"},
      {"verify", "db", "--password", "hunter2"},
      {"version", "--password", "hunter2"},
      {"exec", "--token", "a", "hunter2", "--", "true"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    std::vector<std::string> command{tenure_binary()};
    command.insert(command.end(), mistake.begin(), mistake.end());
    const finished r = run(command, in);
    EXPECT_EQ(r.status, 2) << r.err;
    EXPECT_FALSE(has(r.out + r.err, "hunter2")) << r.err;
    EXPECT_TRUE(has(r.err, "--password") || has(r.err, "--token")) << r.err;
  }
}

TEST(Cli, ASecretGivenByMistakeIsNotRepeated) {
  const temporary_directory in;
  std::ofstream(in / "t.yaml") << "store: etcd\nelection: db\npassword: hunter2\n";
  const std::vector<std::string> words{tenure_binary(), "exec", "--config", in / "t.yaml"};
  const std::vector<std::vector<std::string>> mistakes{
      {},
      {"--password", "hunter2"},
      {"--password=hunter2"},
      {"--password", "-xhunter2"},
      {"--token", "hunter2"},
      {"--user", "root:hunter2"},
      {"--endpoint", "http://root:hunter2@127.0.0.1:2379"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    std::vector<std::string> command = words;
    command.insert(command.end(), mistake.begin(), mistake.end());
    command.insert(command.end(), {"--", "true"});
    const finished r = run(command, in, {"TENURE_PASSWORD=hunter2"});
    EXPECT_EQ(r.status, 2);
    EXPECT_FALSE(has(r.out + r.err, "hunter2")) << r.err;
    EXPECT_TRUE(has(r.err, "t.yaml:3:1: a password")) << r.err;
    EXPECT_TRUE(has(r.err, "TENURE_PASSWORD: a password")) << r.err;
    EXPECT_TRUE(mistake.empty() || has(r.err, mistake[0].substr(0, mistake[0].find('=')) + ": "))
        << r.err;
  }
}

TEST(Cli, ATargetIsExplainedAndIsForAgentsWithoutAnotherGuard) {
  const temporary_directory in;
  const std::vector<std::string> target{"--store",    "sqlite", "--endpoint",          in / "db",
                                        "--election", "db",     "--target-executable", "app"};
  const auto told = [&](const std::string& verb, const std::vector<std::string>& more) {
    std::vector<std::string> words{tenure_binary(), verb};
    words.insert(words.end(), target.begin(), target.end());
    words.insert(words.end(), more.begin(), more.end());
    return run(words, in);
  };
  EXPECT_TRUE(has(told("explain", {}).out, "The workload is found by its executable, app;"));
  const finished agent = told("agent", {"--guard-dir", in / "run"});
  EXPECT_EQ(agent.status, 2);
  EXPECT_TRUE(has(agent.err, "the guard in --guard-dir starts the workload itself")) << agent.err;
  const finished exec = told("exec", {"--", "true"});
  EXPECT_EQ(exec.status, 2);
  EXPECT_TRUE(has(exec.err, "the command after -- is the workload")) << exec.err;
}

TEST(Cli, TheAgentUnderstandsTheCommandLineOfTheLeaderElectorSidecar) {
  const temporary_directory in;
  program a(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election=db",
       "--id=pod-1", "--http=127.0.0.1:0", "--ttl=10s", "--probe-listen", "off"},
      in / "agent");
  ASSERT_TRUE(eventually([&] { return a.said("election=db identity=pod-1 state=active"); }))
      << a.err();
  EXPECT_TRUE(a.said("identity=pod-1")) << a.err();
  EXPECT_TRUE(a.said("api=127.0.0.1:")) << a.err();
  const finished elsewhere = run({tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                                  in / "db", "--election=db", "--election-namespace=blue"},
                                 in);
  EXPECT_EQ(elsewhere.status, 2);
  EXPECT_TRUE(has(elsewhere.err, "namespace")) << "a file has none: " << elsewhere.err;
  const finished twice = run({tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                              in / "db", "--election", "db", "--id", "a", "--identity", "b"},
                             in);
  EXPECT_EQ(twice.status, 2);
  EXPECT_TRUE(has(twice.err, "identity is given twice")) << twice.err;
}

TEST(Cli, AMissingCommandIsExplained) {
  const temporary_directory in;
  const finished r = run({tenure_binary(), "exec", "--store", "sqlite"}, in);
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(has(r.err, "behind --")) << r.err;
}

TEST(Cli, AStoreThatCannotWorkIsRefusedWithTheReason) {
  const temporary_directory in;
  const finished r =
      run({tenure_binary(), "exec", "--store", "sqlite", "--endpoint", in / "no-such-folder/x.db",
           "--election", "db", "--listen", "off", "--probe-listen", "off", "--", "true"},
          in);
  EXPECT_EQ(r.status, 1) << r.err;
  EXPECT_TRUE(has(r.err, "no-such-folder")) << r.err;
}

TEST(Cli, APortThatWasAskedForAndIsTakenIsAnError) {
  const temporary_directory in;
  member a(in, {});
  ASSERT_TRUE(eventually([&] { return a.process().said("msg=listening"); }));
  const std::string log = a.process().err();
  const auto at = log.find("api=127.0.0.1:") + 4;
  const std::string taken = log.substr(at, log.find(' ', at) - at);
  const finished r = run({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db",
                          "--election", "db", "--listen", taken, "--probe-listen", "off"},
                         in);
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(has(r.err, taken)) << r.err;
  EXPECT_TRUE(has(r.err, "--listen")) << r.err;
}

TEST(Agent, SaysAtItsStartThatItsTokenCannotBeRead) {
  const temporary_directory in;
  program a(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "db",
       "--listen", "off", "--probe-listen", "off", "--control-token-file", in / "absent"},
      in / "agent");
  EXPECT_TRUE(eventually([&] { return a.said("orders over TCP are refused"); })) << a.err();
  EXPECT_TRUE(eventually([&] { return a.said("absent: No such file or directory"); })) << a.err();
}

TEST(Agent, SaysOnceThatItsStoreCannotBeReached) {
  const temporary_directory in;
  const std::string nowhere = "http://127.0.0.1:1";
  program a({tenure_binary(), "agent", "--store", "etcd", "--endpoint", nowhere, "--election", "db",
             "--listen", "off", "--probe-listen", "off"},
            in / "agent");
  EXPECT_TRUE(eventually([&] { return a.said("etcd does not answer"); })) << a.err();
  a.send(SIGTERM);
  EXPECT_EQ(a.wait(), 0);
  const std::string log = a.err();
  EXPECT_EQ(log.find("Connection refused"), log.rfind("Connection refused")) << log;
  EXPECT_TRUE(has(log, nowhere)) << log;
}

TEST(Cli, ACommandThatCannotBeExecutedIsNamedBeforeTheLeaseIsTaken) {
  const temporary_directory in;
  std::ofstream(in / "plain") << "text\n";
  const auto tenure = [&](const std::string& verb, const std::string& command) {
    std::vector<std::string> words{tenure_binary(), verb};
    if (verb == "guard") {
      words.insert(words.end(), {"--dir", in / "run"});
    } else {
      words.insert(words.end(), {"--store", "sqlite", "--endpoint", in / "db", "--election", "db",
                                 "--listen", "off", "--probe-listen", "off"});
    }
    words.insert(words.end(), {"--", command});
    return run(words, in, {"PATH=/usr/bin:/bin"});
  };
  for (const std::string verb : {"exec", "guard"}) {
    for (const std::string missing : {"./nope", "no-such-program", "/etc/passwd/x"}) {
      const finished r = tenure(verb, missing);
      EXPECT_EQ(r.status, 127) << r.err;
      EXPECT_TRUE(has(r.err, "tenure " + verb + ": the command \"" + missing + "\"")) << r.err;
      EXPECT_FALSE(has(r.err, "level=")) << r.err;
    }
    for (const std::string& unfit : {(in / "plain").string(), std::string("/etc")}) {
      const finished r = tenure(verb, unfit);
      EXPECT_EQ(r.status, 126) << r.err;
      EXPECT_TRUE(has(r.err, unfit)) << r.err;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(in / "db")) << "the store was touched";
}

TEST(Agent, SaysOnceThatOtherMachinesReachItsProbePort) {
  const temporary_directory in;
  const auto log_with = [&in](const std::string& address) {
    program a({tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election",
               "db", "--identity", "a", "--listen", "off", "--probe-listen", address},
              in / ("log of " + address));
    EXPECT_TRUE(eventually([&] { return a.said("state=active"); })) << a.err();
    return a.err();
  };
  const std::string words = "other machines can reach the probe port";
  const std::string open = log_with("0.0.0.0:0");
  EXPECT_NE(open.find(words), std::string::npos) << open;
  EXPECT_EQ(open.find(words), open.rfind(words)) << open;
  EXPECT_TRUE(has(open, "--probe-listen 127.0.0.1:8081")) << open;
  EXPECT_FALSE(has(log_with("127.0.0.1:0"), words));
  EXPECT_FALSE(has(log_with("off"), words));
}

TEST(Agent, WarnsWhereItListensIfADefaultPortIsTaken) {
  const temporary_directory in;
  const auto agent = [&in](const std::string& name) {
    auto out = std::make_unique<program>(
        std::vector<std::string>{tenure_binary(), "agent", "--store", "sqlite", "--endpoint",
                                 in / "db", "--election", "db", "--identity", name},
        in / name);
    EXPECT_TRUE(eventually([&] { return out->said("msg=listening"); })) << out->err();
    return out;
  };
  const auto first = agent("a");  // it, or somebody else on this machine, has the ports
  const std::string log = agent("b")->err();
  const auto word_after = [&log](const std::string& before) {
    const std::size_t from = log.find(before) + before.size();
    return log.substr(from, log.find_first_of(" ;", from) - from);
  };
  EXPECT_EQ(
      word_after("level=warn msg=\"the default address 127.0.0.1:4040 is in use; listening at "),
      word_after("msg=listening api="))
      << log;
  EXPECT_EQ(
      word_after("level=warn msg=\"the default address 0.0.0.0:8081 is in use; listening at "),
      word_after(" probe="))
      << log;
  EXPECT_TRUE(has(log, "choose one with --listen\"")) << log;
  EXPECT_TRUE(has(log, "choose one with --probe-listen\"")) << log;
}

/// Root owns the files in /proc/PID of such a process.
TEST(Agent, HasMemoryThatItsOwnUserCannotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const temporary_directory in;
  ASSERT_EQ(::chown(in.path().c_str(), 65534, 65534), 0);
  program agent({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tenure_binary(),
                 "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "db",
                 "--listen", "off", "--probe-listen", "off"},
                in / "log");
  ASSERT_TRUE(eventually([&] { return agent.said("store reached"); })) << agent.err();
  struct stat about{};
  ASSERT_EQ(::stat(("/proc/" + std::to_string(agent.pid()) + "/mem").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0U);
  agent.send(SIGTERM);
  EXPECT_EQ(agent.wait(), 0) << agent.err();
}

TEST(Agent, HoldsSeveralElectionsWithOneSession) {
  const temporary_directory in;
  program a(
      {tenure_binary(), "agent", "--store", "sqlite", "--endpoint", in / "db", "--election", "one",
       "--election", "two", "--identity", "a", "--listen", "off", "--probe-listen", "off"},
      in / "agent");
  EXPECT_TRUE(eventually([&] {
    const std::string log = a.err();
    return has(log, "election=one identity=a state=active") &&
           has(log, "election=two identity=a state=active");
  })) << a.err();
  a.send(SIGTERM);
  EXPECT_EQ(a.wait(), 0) << a.err();
}

}  // namespace
}  // namespace tenure::tests
