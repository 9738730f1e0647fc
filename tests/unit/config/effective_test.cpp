#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Effective, ShowsEveryValueAndWhereItCameFrom) {
  inputs in = with_file("kill_budget: 300ms\n");
  in.environment = {{"TENURE_LOG_LEVEL", "debug"}};
  EXPECT_EQ(effective(good(in)),
            "store: sqlite                       # --store\n"
            "endpoint: /tmp/t.db                 # --endpoint\n"
            "election: db                        # --election\n"
            "slots: 1                            # default\n"
            "identity: host-1                    # default: the host name; outside containers, "
            "with the unit's name or process id\n"
            "observe: false                      # default\n"
            "unlisted: false                     # default\n"
            "priority: 0                         # default\n"
            "prefer_newer: false                 # default\n"
            "preempt: false                      # default\n"
            "peer_listen: off                    # default\n"
            "ttl: 15s                            # default\n"
            "renew: 5s                           # default: ttl / 3\n"
            "grace: 2s                           # default: min(2s, ttl / 7)\n"
            "kill_budget: 300ms                  # tenure.yaml:1:1\n"
            "lock_delay: 800ms                   # default: kill_budget + min(500ms, ttl / 20)\n"
            "drift: 1%                           # default\n"
            "drain: 20s                          # default\n"
            "stop_signal: TERM                   # default\n"
            "on_lost: standby                    # default\n"
            "listen: 127.0.0.1:4040              # default\n"
            "probe_listen: 0.0.0.0:8081          # default\n"
            "log_format: auto                    # default\n"
            "log_level: debug                    # TENURE_LOG_LEVEL\n");
}

TEST(Effective, IsAFileThatLoadsToTheSame) {
  for (const char* source : {
           "{store: sqlite, endpoint: /t.db, election: db}",
           "{store: sqlite, endpoint: ' #: \"\\', election: '5', identity: 'true'}",
           "{store: sqlite, endpoint: '-', election: a/b, identity: 'x:', slots: 9}",
           "{store: etcd, endpoint: ['http://[::1]:2379', 'http://b:2379'], elections: [a, {name: "
           "'1e3', slots: 7}], slots: 3}",
           "{store: sqlite, endpoint: /t.db, elections: [{name: a, slots: 7}]}",
           "{store: sqlite, endpoint: /t.db, election: a, observe: true, ttl: 2s, grace: 250us, "
           "drift: 0.0125%, drain: 1h30m, stop_signal: SIGINT, on_lost: exit, listen: '[::1]:0', "
           "probe_listen: off, log_format: json, log_level: error}",
           "{store: sqlite, endpoint: /t.db, election: a, priority: -1000000, prefer_newer: true, "
           "preempt: true, peer_listen: '[::1]:5050'}",
           "{store: sqlite, endpoint: /t.db, election: a, target_command_line: 'a: b #\"c', "
           "while_standby: run, on_gain: signal, gain_signal: CONT}",
           "{store: sqlite, endpoint: /t.db, election: a, target_executable: '5'}",
           "{store: sqlite, endpoint: /t.db, election: a, target_pid_file: '#'}",
           "{store: etcd, endpoint: 'https://a', election: a, ca_file: ./ca.pem, key_file: ' #', "
           "certificate_file: '1e3', server_name: '::1', user: '5', password_file: '{p}'}",
           "{store: consul, endpoint: [a, 'unix:/c.sock'], election: a, token_file: /t, "
           "namespace: n, session_lock_delay: 1m, session_behavior: delete, "
           "session_without_ttl: true, node_check: serfHealth, service_check: ['service:a', '5']}",
           "{store: kubernetes, endpoint: 'https://a', election: a, token_file: /t, "
           "namespace: '5'}",
       }) {
    inputs in = only_file(source);
    const configuration first = good(in);
    in.file = file{"again.yaml", effective(first)};
    const configuration again = good(in);
    EXPECT_EQ(again.store, first.store);
    EXPECT_EQ(again.endpoints, first.endpoints);
    EXPECT_EQ(again.secure, first.secure);
    EXPECT_EQ(again.consul, first.consul);
    EXPECT_EQ(again.name_space, first.name_space);
    EXPECT_EQ(again.elections, first.elections);
    EXPECT_EQ(again.slots, first.slots);
    EXPECT_EQ(again.identity, first.identity);
    EXPECT_EQ(again.observe, first.observe);
    EXPECT_EQ(again.succeeds.priority, first.succeeds.priority);
    EXPECT_EQ(again.succeeds.prefer_newer, first.succeeds.prefer_newer);
    EXPECT_EQ(again.succeeds.preempt, first.succeeds.preempt);
    EXPECT_EQ(again.timing.drift_ppm, first.timing.drift_ppm);
    EXPECT_EQ(again.timing.drain, first.timing.drain);
    EXPECT_LT(std::chrono::abs(again.timing.renew - first.timing.renew),
              std::chrono::microseconds(1));
    EXPECT_EQ(again.stop_signal, first.stop_signal);
    EXPECT_EQ(again.on_lost, first.on_lost);
    EXPECT_EQ(again.target, first.target);
    EXPECT_EQ(text(again.listen), text(first.listen));
    EXPECT_EQ(text(again.probe_listen), text(first.probe_listen));
    EXPECT_EQ(again.log_format, first.log_format);
    EXPECT_EQ(again.log_level, first.log_level);
  }
}

TEST(Effective, ShowsWhereASecretIsAndNothingOfWhatWasNotGiven) {
  inputs in = only_file(
      "{store: etcd, endpoint: 'https://a', election: a, user: u, password_file: /run/password}");
  const std::string out = effective(good(in));
  EXPECT_THAT(out, HasSubstr("\npassword_file: /run/password        # tenure.yaml:1:"));
  EXPECT_THAT(out, Not(HasSubstr("key_file")));
}

TEST(Effective, HidesTheQueriesOfUrlsAndIsRefusedWithoutThem) {
  const std::string given =
      "{store: sqlite, endpoint: /t.db, election: a, gain_http: 'http://[::1]:8/on?token=sesame', "
      "stop_http: 'http://localhost:8/off?sesame', health_http: 'http://127.0.0.1:8/h?k=sesame'}";
  const inputs in = only_file(given);
  const std::string out = effective(good(in));
  EXPECT_THAT(out, Not(HasSubstr("sesame")));
  EXPECT_THAT(out, HasSubstr("gain_http: \"http://[::1]:8/on?(query not shown)\""));
  EXPECT_THAT(problems_of(only_file(out)).size(), 3U) << "it would be another configuration";
}

TEST(Effective, ListsAllowedHosts) {
  const configuration s = good(
      only_file("{store: sqlite, endpoint: /t.db, election: a, allowed_host: [agent.svc, agent]}"));
  EXPECT_THAT(s.allowed_hosts, testing::ElementsAre("agent.svc", "agent"));
  EXPECT_EQ(good(only_file(effective(s))).allowed_hosts, s.allowed_hosts);
  EXPECT_THAT(good(with_flags({{"--allowed-host", "a"}, {"--allowed-host", "b"}})).allowed_hosts,
              testing::ElementsAre("a", "b"));
  EXPECT_THAT(good(with_environment({{"TENURE_ALLOWED_HOST", "a,b"}})).allowed_hosts,
              testing::ElementsAre("a", "b"));
}

TEST(Effective, NamesOfAFlagAreListedWithThatFlag) {
  const std::string out = effective(good(with_flags({{"--election", "b"}})));
  EXPECT_THAT(out, HasSubstr("elections:                          # --election\n"
                             "  - {name: db, slots: 1}\n"
                             "  - {name: b, slots: 1}\n"));
  EXPECT_THAT(out, Not(HasSubstr("election: ")));
}

}  // namespace
}  // namespace tenure::config::test
