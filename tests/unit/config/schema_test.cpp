#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "config/schema.hpp"
#include "support.hpp"

namespace tenure::config::test {
namespace {

struct sample {
  bool accepted;
  const char* members;  ///< of a JSON object, which is YAML as well
};

/// What both the schema and the loader can judge. `store`, `endpoint` and `election` are added
/// where they are not given.
constexpr auto samples = std::to_array<sample>({
    {true, R"()"},
    {true, R"("ttl": "15s")"},
    {true, R"("ttl": "1m30s")"},
    {true, R"("ttl": "1.5s")"},
    {true, R"("ttl": "1500ms", "grace": "0s")"},
    {true, R"("grace": "250us")"},
    {false, R"("ttl": "")"},
    {false, R"("ttl": 15)"},
    {false, R"("ttl": "15")"},
    {false, R"("ttl": "15 s")"},
    {false, R"("ttl": "s")"},
    {false, R"("ttl": "-5s")"},
    {false, R"("ttl": ".5s")"},
    {false, R"("ttl": "5.s")"},
    {false, R"("ttl": "30s1m")"},
    {false, R"("ttl": "1d")"},
    {true, R"("ttl": "24h")"},
    {true, R"("ttl": "024.0h")"},
    {true, R"("ttl": "1440m")"},
    {true, R"("ttl": "23h59m")"},
    {false, R"("ttl": "900h")"},
    {false, R"("ttl": "25h")"},
    {false, R"("ttl": "24.5h")"},
    {false, R"("ttl": "1441m")"},
    {false, R"("ttl": "86401s")"},
    {false, R"("ttl": "1h86400001ms")"},
    {false, R"("drain": "25h")"},
    {true, R"("health_file": "/run/ok", "health_interval": "1h")"},
    {false, R"("health_file": "/run/ok", "health_interval": "5h")"},
    {false, R"("health_file": "/run/ok", "health_interval": "61m")"},
    {true, R"("store": "consul", "endpoint": "http://a:8500", "session_lock_delay": "60s")"},
    {false, R"("store": "consul", "endpoint": "http://a:8500", "session_lock_delay": "90s")"},
    {false, R"("store": "consul", "endpoint": "http://a:8500", "session_lock_delay": "60.5s")"},
    {false, R"("ttl": "1000000000000us")"},
    {false, R"("ttl": null)"},
    {false, R"("ttl": true)"},
    {false, R"("ttl": {"seconds": 15})"},
    {false, R"("ttl": ["15s"])"},
    {false, R"("tll": "15s")"},
    {false, R"("kill-budget": "1s")"},
    {false, R"("TTL": "15s")"},
    {true, R"("drift": "0.5%")"},
    {true, R"("drift": "0%")"},
    {true, R"("drift": "0.0001%")"},
    {false, R"("drift": "0.00001%")"},
    {false, R"("drift": "1")"},
    {false, R"("drift": 1)"},
    {false, R"("drift": "21%")"},
    {false, R"("drift": "1 %")"},
    {true, R"("slots": 1)"},
    {true, R"("slots": 1000)"},
    {false, R"("slots": 0)"},
    {false, R"("slots": 1001)"},
    {false, R"("slots": -1)"},
    {false, R"("slots": 1.5)"},
    {false, R"("slots": "1")"},
    {true, R"("priority": -1000000, "prefer_newer": true)"},
    {true, R"("priority": 1000000)"},
    {false, R"("priority": -1000001)"},
    {false, R"("priority": 1000001)"},
    {false, R"("priority": 0.5)"},
    {false, R"("priority": "1")"},
    {false, R"("prefer_newer": "true")"},
    {true, R"("preempt": true)"},
    {true, R"("peer_listen": "10.1.2.3:4041")"},
    {true, R"("peer_listen": "[fd00::1]:4041")"},
    {false, R"("peer_listen": "10.1.2.3")"},
    {false, R"("peer_listen": 4041)"},
    {true, R"("preempt": true, "slots": 1)"},
    {true, R"("preempt": false, "slots": 2)"},
    {false, R"("preempt": true, "slots": 2)"},
    {true, R"("preempt": true, "elections": ["a", {"name": "b"}, {"name": "c", "slots": 1}])"},
    {false, R"("preempt": true, "elections": ["a", {"name": "b", "slots": 2}])"},
    {true, R"("preempt": true, "slots": 2, "elections": [{"name": "a", "slots": 1}])"},
    {false, R"("preempt": true, "slots": 2, "elections": ["a", {"name": "b", "slots": 1}])"},
    {true, R"("observe": true)"},
    {true, R"("observe": false)"},
    {false, R"("observe": "true")"},
    {false, R"("observe": 1)"},
    {false, R"("observe": "yes")"},
    {true, R"("on_lost": "exit")"},
    {false, R"("on_lost": "Exit")"},
    {false, R"("on_lost": ["exit"])"},
    {true, R"("stop_signal": "INT")"},
    {true, R"("stop_signal": "SIGINT")"},
    {false, R"("stop_signal": "int")"},
    {false, R"("stop_signal": "KILL")"},
    {false, R"("stop_signal": "SIGSIGINT")"},
    {false, R"("stop_signal": 15)"},
    {true, R"("target_executable": "/usr/bin/my app")"},
    {true, R"("target_executable": "app", "while_standby": "stop", "on_gain": "nothing")"},
    {false, R"("target_executable": "bin/app")"},
    {false, R"("target_executable": "/usr/bin/")"},
    {false, R"("target_executable": "/")"},
    {false, R"("target_executable": "")"},
    {false, R"("target_executable": 5)"},
    {true, R"("target_command_line": "python3 -m orders --all=\u00e9")"},
    {false, R"("target_command_line": "app ")"},
    {false, R"("target_command_line": " ")"},
    {false, R"("target_command_line": "a\nb")"},
    {false, R"("target_command_line": ["python3", "-m"])"},
    {true, R"("target_pid_file": "/run/app.pid", "elections": ["db"])"},
    {false, R"("target_pid_file": "/run/app.pid", "elections": ["a", "b"])"},
    {false, R"("target_pid_file": "/run/app.pid", "observe": true)"},
    {true, R"("target_pid_file": "/run/app.pid", "observe": false)"},
    {false, R"("target_pid_file": "/run/app.pid", "target_executable": "app")"},
    {false, R"("while_standby": "stop")"},
    {false, R"("gain_signal": "USR1", "on_gain": "signal", "while_standby": "run")"},
    {true, R"("target_executable": "a", "while_standby": "run")"},
    {true, R"("target_executable": "a", "while_standby": "run", "on_gain": "signal",
              "gain_signal": "SIGCONT")"},
    {false, R"("target_executable": "a", "while_standby": "run", "on_gain": "signal",
               "gain_signal": "TERM")"},
    {false, R"("target_executable": "a", "while_standby": "run", "on_gain": "signal")"},
    {false, R"("target_executable": "a", "on_gain": "signal", "gain_signal": "USR1")"},
    {false, R"("target_executable": "a", "gain_signal": "USR1")"},
    {false, R"("target_executable": "a", "while_standby": "run", "gain_signal": "USR1")"},
    {true, R"("traffic": "label", "slots": 1, "events": true)"},
    {true, R"("traffic": "endpoints", "traffic_slice": ["v4", "v6"], "pod_address": "10.0.0.1")"},
    {true, R"("traffic": "probe", "slots": 2)"},
    {false, R"("traffic": "labels")"},
    {false, R"("traffic": "label", "observe": true)"},
    {false, R"("traffic": "gate", "elections": ["a", "b"])"},
    {false, R"("traffic": "gate", "slots": 2)"},
    {false, R"("traffic": "label", "traffic_slice": "v4")"},
    {false, R"("traffic_slice": "v4")"},
    {false, R"("events": "true")"},
    {true, R"("log_format": "json", "log_level": "debug")"},
    {false, R"("log_level": "trace")"},
    {true, R"("listen": "off")"},
    {true, R"("listen": false)"},
    {true, R"("listen": "127.0.0.1:0")"},
    {true, R"("listen": "localhost:65535")"},
    {true, R"("listen": "255.249.199.99:1")"},
    {true, R"("listen": "[::1]:4041")"},
    {false, R"("listen": true)"},
    {false, R"("listen": "on")"},
    {false, R"("listen": ":4040")"},
    {false, R"("listen": "4040")"},
    {false, R"("listen": 4040)"},
    {false, R"("listen": "127.0.0.1")"},
    {false, R"("listen": "127.0.0.1:65536")"},
    {false, R"("listen": "127.0.0.1:04040")"},
    {false, R"("listen": "127.0.0:4040")"},
    {false, R"("listen": "127.0.0.256:4040")"},
    {false, R"("listen": "127.0.0.01:4040")"},
    {false, R"("listen": "::1:4040")"},
    {false, R"("listen": "example.org:80")"},
    {false, R"("listen": "unix:/run/tenure.sock")"},
    {false, R"("probe_listen": "http://127.0.0.1:1")"},
    {true, R"("identity": "node-1.example:7")"},
    {true, R"("identity": "5")"},
    {false, R"("identity": 5)"},
    {false, R"("identity": "")"},
    {false, R"("identity": "a b")"},
    {false, R"("identity": "a\tb")"},
    {false, R"("identity": "caf\u00e9")"},
    {true, R"("election": "service/db/leader")"},
    {true, R"("election": "5")"},
    {false, R"("election": "")"},
    {false, R"("election": "/db")"},
    {false, R"("election": "db/")"},
    {false, R"("election": "a//b")"},
    {false, R"("election": "a/.lock")"},
    {false, R"("election": "my db")"},
    {false, R"("election": 5)"},
    {false, R"("election": ["db"])"},
    {true, R"("elections": ["a", {"name": "b"}, {"name": "c", "slots": 2}])"},
    {false, R"("elections": [])"},
    {false, R"("elections": "a")"},
    {false, R"("elections": ["a", "a"])"},
    {false, R"("elections": ["a", ["b"]])"},
    {false, R"("elections": [{"slots": 2}])"},
    {false, R"("elections": [{"name": "a", "slot": 2}])"},
    {false, R"("elections": [{"name": "a", "slots": "2"}])"},
    {false, R"("elections": [null])"},
    {false, R"("election": "a", "elections": ["b"])"},
    {true, R"("health_http": "http://127.0.0.1:8080/healthz?full=1")"},
    {true, R"("gain_http": "http://127.0.0.1:8080/active", "gain_command": ["a", "b c"])"},
    {false, R"("gain_http": "http://example.org/")"},
    {true, R"("stop_http": "http://localhost/stop", "stop_command": "a b")"},
    {false, R"("stop_command": "")"},
    {true, R"("stop_exit_code": 255, "kill_budget": "3s")"},
    {false, R"("stop_exit_code": 0, "kill_budget": "3s")"},
    {false, R"("stop_exit_code": 256, "kill_budget": "3s")"},
    {true, R"("gain_file": "/run/active.json")"},
    {true, R"("health_http": "http://localhost")"},
    {true, R"("health_http": "HTTP://[::1]:80?x")"},
    {true, R"("health_http": "http://[0:0:0:0:0:0:0:1]")"},
    {false, R"("health_http": "")"},
    {false, R"("health_http": 80)"},
    {false, R"("health_http": "localhost:8080")"},
    {false, R"("health_http": "https://localhost/")"},
    {false, R"("health_http": "http://u:p@localhost/")"},
    {false, R"("health_http": "http://example.org/")"},
    {false, R"("health_http": "http://127.0.0.256/")"},
    {false, R"("health_http": "http://localhost:0/")"},
    {false, R"("health_http": "http://localhost:65536")"},
    {false, R"("health_http": "http://localhost/#x")"},
    {false, R"("health_http": "http://localhost/ x")"},
    {false, R"("health_http": "http://localhost/?a@b")"},
    {true, R"("health_command": "pg_isready -q")"},
    {true, R"("health_command": " sh -c 'exit 0' \"\" ")"},
    {true, R"("health_command": ["sh", "-c", "it's", ""])"},
    {false, R"("health_command": "")"},
    {false, R"("health_command": "  ")"},
    {false, R"("health_command": "sh -c 'x")"},
    {false, R"("health_command": "'' x")"},
    {false, R"("health_command": "a\nb")"},
    {false, R"("health_command": [])"},
    {false, R"("health_command": [""])"},
    {false, R"("health_command": ["a", 5])"},
    {false, R"("health_command": ["a", ["b"]])"},
    {false, R"("health_command": ["a\tb"])"},
    {false, R"("health_command": 5)"},
    {true, R"("health_file": "/run/ok", "health_file_age": "1m")"},
    {false, R"("health_file": "")"},
    {false, R"("health_file": "/run/ok", "health_file_age": 60)"},
    {true, R"("health_file": "/run/ok", "health_while": "always", "health_failures": 100)"},
    {false, R"("health_file": "/run/ok", "health_while": "never")"},
    {false, R"("health_file": "/run/ok", "health_failures": 0)"},
    {false, R"("health_file": "/run/ok", "health_successes": 101)"},
    {false, R"("health_interval": "1s")"},
    {false, R"("health_command": "true", "health_file_age": "1m")"},
    {true, R"("store": "sqlite", "endpoint": "/t.db")"},
    {true, R"("store": "sqlite", "endpoint": ["relative path.db"])"},
    {false, R"("store": "sqlite", "endpoint": "http://127.0.0.1:2379")"},
    {false, R"("store": "sqlite", "endpoint": ["/a.db", "/b.db"])"},
    {true, R"("store": "etcd", "endpoint": ["http://a:2379", "http://b:2379"])"},
    {false, R"("store": "etcd", "endpoint": ["http://a:2379", "http://a:2379"])"},
    {false, R"("store": "etcd", "endpoint": [])"},
    {false, R"("store": "etcd", "endpoint": "")"},
    {false, R"("store": "etcd", "endpoint": "a\u0000b")"},
    {false, R"("store": "etcd", "endpoint": 5)"},
    {true, R"("store": "etcd", "endpoint": "https://[::1]:65535/prefix")"},
    {true, R"("store": "etcd", "endpoint": "HTTP://etcd-0.etcd")"},
    {false, R"("store": "etcd", "endpoint": "127.0.0.1:2379")"},
    {false, R"("store": "etcd", "endpoint": ["http://a:2379", "b:2379"])"},
    {false, R"("store": "etcd", "endpoint": "ftp://a")"},
    {false, R"("store": "etcd", "endpoint": "http://")"},
    {false, R"("store": "etcd", "endpoint": "http://:2379")"},
    {false, R"("store": "etcd", "endpoint": "http://a:0")"},
    {false, R"("store": "etcd", "endpoint": "http://a:0/x")"},
    {false, R"("store": "etcd", "endpoint": "http://a:65536")"},
    {false, R"("store": "etcd", "endpoint": "http://::1")"},
    {false, R"("store": "etcd", "endpoint": "http://[::1")"},
    {false, R"("store": "etcd", "endpoint": "http://u:p@a")"},
    {false, R"("store": "etcd", "endpoint": "http://a/x@y")"},
    {false, R"("store": "etcd", "endpoint": "http://a?x")"},
    {false, R"("store": "etcd", "endpoint": "http://a/#x")"},
    {false, R"("store": "etcd", "endpoint": "http://a b")"},
    {true, R"("store": "etcd", "endpoint": "https://a", "ca_file": "/ca.pem")"},
    {true, R"("store": "etcd", "endpoint": ["http://b", "https://a"], "server_name": "etcd.x")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "ca_file": "/ca.pem")"},
    {false, R"("store": "etcd", "endpoint": ["http://a", "http://b"], "server_name": "x")"},
    {true, R"("store": "etcd", "endpoint": "https://a", "key_file": "k", "certificate_file": "k")"},
    {true, R"("store": "etcd", "endpoint": "http://a", "user": "u", "password_file": "/p")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "ca_file": "")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "ca_file": 5)"},
    {false, R"("store": "etcd", "endpoint": "https://a", "ca_file": ["/ca.pem"])"},
    {false, R"("store": "etcd", "endpoint": "https://a", "ca_file": "-----BEGIN X")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "ca_file": "a\nb")"},
    {true, R"("store": "etcd", "endpoint": "https://a", "server_name": "fe80::1")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "server_name": "https://a")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "server_name": "")"},
    {false, R"("store": "etcd", "endpoint": "https://a", "server_name": 5)"},
    {true, R"("allowed_host": "agent.svc")"},
    {true, R"("allowed_host": ["agent.svc", "A_1-b"])"},
    {false, R"("allowed_host": [])"},
    {false, R"("allowed_host": "")"},
    {false, R"("allowed_host": 5)"},
    {false, R"("allowed_host": "agent.svc:8081")"},
    {false, R"("allowed_host": "http://agent.svc")"},
    {false, R"("allowed_host": ["a", "a"])"},
    {false, R"("store": "etcd", "endpoint": "http://a", "user": "u:p", "password_file": "/p")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "user": "u v", "password_file": "/p")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "user": 5, "password_file": "/p")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "user": "u", "password": "p")"},
    {false, R"("store": "sqlite", "ca_file": "/ca.pem")"},
    {false, R"("store": "sqlite", "user": "u", "password_file": "/p")"},
    {false, R"("store": "etdc")"},
    {false, R"("store": 5)"},
    {true, R"("store": "consul", "endpoint": "http://a")"},
    {true, R"("store": "consul", "endpoint": ["127.0.0.1:8500", "unix:/run/consul.sock"])"},
    {false, R"("store": "consul", "endpoint": "unix:consul.sock")"},
    {false, R"("store": "consul", "endpoint": "http://a?x")"},
    {false, R"("store": "etcd", "endpoint": "127.0.0.1:2379")"},
    {true, R"("store": "consul", "endpoint": "a", "token_file": "/t", "datacenter": "dc2")"},
    {false, R"("store": "consul", "endpoint": "a", "user": "u", "password_file": "/p")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "token_file": "/t")"},
    {false, R"("store": "sqlite", "session_lock_delay": "1s")"},
    {true, R"("store": "consul", "endpoint": "a", "node_check": "serfHealth")"},
    {true, R"("store": "consul", "endpoint": "a", "service_check": ["service:a", "service:b"])"},
    {false, R"("store": "consul", "endpoint": "a", "node_check": "serf Health")"},
    {true, R"("store": "consul", "endpoint": "a", "session_behavior": "delete")"},
    {false, R"("store": "consul", "endpoint": "a", "session_behavior": "remove")"},
    {true, R"("store": "consul", "endpoint": "a", "session_without_ttl": true)"},
    {true, R"("store": "kubernetes", "endpoint": "https://a")"},
    {true, R"("store": "kubernetes", "endpoint": "https://a", "election": "my-app.b.example")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "election": "Web_X")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "election": "a/b")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "election": "a.")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "election": "db.slot-1")"},
    {true, R"("store": "kubernetes", "endpoint": "https://a", "election": "slot-1.db-member-2")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "election":
               "a123456789a123456789a123456789a123456789a123456789a123456789a123")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "elections": ["a", "B"])"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "elections": [{"name": "B"}])"},
    {true, R"("store": "consul", "endpoint": "http://a:8500", "election": "Web_X/a")"},
    {true,
     R"("store": "kubernetes", "endpoint": "https://a", "token_file": "/t", "namespace": "b")"},
    {false, R"("store": "kubernetes", "endpoint": "127.0.0.1:6443")"},
    {true,
     R"("store": "kubernetes", "endpoint": "https://a", "kubeconfig": "/k", "kube_context": "a@b")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "kubeconfig": "/k")"},
    {false, R"("store": "consul", "endpoint": "a", "kubeconfig": "/k", "kube_context": "a")"},
    {false, R"("store": "sqlite", "kube_context": "a")"},
    {false, R"("store": "kubernetes", "endpoint": "unix:/run/a.sock")"},
    {false,
     R"("store": "kubernetes", "endpoint": "https://a", "user": "u", "password_file": "/p")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "datacenter": "dc2")"},
    {false, R"("store": "kubernetes", "endpoint": "https://a", "session_lock_delay": "1s")"},
    {false, R"("store": "etcd", "endpoint": "http://a", "namespace": "b")"},
    {false, R"("store": "zookeeper")"},
    {false, R"("store": "tarantool")"},
});

std::string document(const sample& s) {
  std::string members = s.members;
  const auto add = [&members](const char* key, const char* text) {
    if (members.contains("\"" + std::string(key) + "\":")) return;
    if (!members.empty()) members += ", ";
    members += "\"" + std::string(key) + "\": \"" + text + "\"";
  };
  add("store", "sqlite");
  add("endpoint", "/t.db");
  if (!members.contains("\"elections\"")) add("election", "db");
  return "{" + members + "}";
}

TEST(Schema, TheLoaderJudgesTheSamplesAsExpected) {
  for (const sample& s : samples) {
    inputs in = only_file(document(s));
    in.in_pod = pod{.endpoint = "https://10.96.0.1",
                    .folder = "/sa",
                    .name_space = "team",
                    .host_name = "db-0"};
    const result r = load(in);
    EXPECT_EQ(r.has_value(), s.accepted) << in.file->value().text << "\n"
                                         << (r ? "accepted" : render(r.error().front()));
  }
}

TEST(Schema, TheSchemaJudgesTheSamplesAsTheLoaderDoes) {
  constexpr std::string_view python = TENURE_PYTHON;
  const std::string path = testing::TempDir() + "tenure-schema-" + std::to_string(::getpid());
  std::ofstream out(path);
  out << R"({"schema": )" << json_schema() << R"(, "documents": [)";
  for (std::size_t i = 0; i < samples.size(); ++i)
    out << (i > 0 ? ",\n" : "") << document(samples[i]);
  out << "]}" << std::flush;
  ASSERT_TRUE(out);

  const std::string command = std::string(python) + " " + TENURE_SCHEMA_VERDICTS + " " + path;
  FILE* const answers = ::popen(command.c_str(), "r");
  ASSERT_NE(answers, nullptr);
  std::vector<std::string> verdicts;
  std::array<char, 32> line{};
  while (std::fgets(line.data(), line.size(), answers) != nullptr) {
    verdicts.emplace_back(line.data());
  }
  const int status = ::pclose(answers);
  std::filesystem::remove(path);
  constexpr int not_installed = 3;
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_installed) {
    GTEST_SKIP() << "needs a JSON Schema validator: apt-get install python3-jsonschema";
  }
  ASSERT_EQ(status, 0) << command;
  ASSERT_EQ(verdicts.size(), samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(verdicts[i], samples[i].accepted ? "accept\n" : "reject\n") << document(samples[i]);
  }
}

TEST(Schema, KnowsEverySettingAndNothingElse) {
  const std::string schema = json_schema();
  for (const field& f : fields()) {
    EXPECT_THAT(schema, testing::HasSubstr("\"" + std::string(f.key) +
                                           "\": {\n      "
                                           "\"description\": \"" +
                                           std::string(f.doc)));
  }
}

}  // namespace
}  // namespace tenure::config::test
