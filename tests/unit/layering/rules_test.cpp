// Each rule can fail: a source that breaks it is found, one that looks like it is not.
#include "unit/layering/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::layering {
namespace {

/// The findings as "rule path:line", one a line.
std::string found(std::vector<source> sources) {
  std::string all;
  for (const finding& f : check(sources)) {
    all += (all.empty() ? "" : "\n") + f.rule + " " + f.path + ":" + std::to_string(f.line);
  }
  return all;
}

std::string found_in(std::string path, std::string text) {
  return found({{std::move(path), std::move(text)}});
}

struct sample {
  const char* name;
  const char* path;
  const char* text;
};

class Breaks : public ::testing::TestWithParam<sample> {};

TEST_P(Breaks, ARule) {
  EXPECT_NE(found_in(GetParam().path, GetParam().text), "") << GetParam().text;
}

const std::string name_of(const auto& one) {
  return one.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Rooms, Breaks,
    ::testing::Values(sample{"CoreKnowsNobody", "core/a.cpp", "#include \"base/boot_time.hpp\"\n"},
                      sample{"BaseKnowsCoreOnly", "base/a.cpp", "#include \"http/a.hpp\"\n"},
                      sample{"HttpKnowsNoStore", "http/a.cpp", "#include \"stores/store.hpp\"\n"},
                      sample{"StoresKnowNoApi", "stores/etcd/a.cpp", "#include \"api/a.hpp\"\n"},
                      sample{"ApiKnowsNoStore", "api/a.cpp", "#include \"stores/store.hpp\"\n"},
                      sample{"KubeKnowsNoStore", "kube/a.cpp", "#include \"stores/store.hpp\"\n"},
                      sample{"ConfigKnowsNoHttp", "config/a.cpp", "#include \"http/a.hpp\"\n"},
                      sample{"GuardKnowsNoHttp", "guard/a.cpp", "#include \"http/a.hpp\"\n"},
                      sample{"RuntimeKnowsNoCli", "runtime/a.cpp", "#include \"cli/a.hpp\"\n"},
                      sample{"NewRoom", "attic/a.cpp", "int a;\n"},
                      sample{"NoRoomInTheInclude", "core/a.cpp", "#include \"election.hpp\"\n"}),
    name_of<::testing::TestParamInfo<sample>>);

INSTANTIATE_TEST_SUITE_P(
    PureCore, Breaks,
    ::testing::Values(sample{"Thread", "core/a.cpp", "#include <thread>\n"},
                      sample{"Mutex", "core/a.cpp", "#include <mutex>\n"},
                      sample{"Random", "core/a.cpp", "#include <random>\n"},
                      sample{"Iostream", "core/a.cpp", "#include <iostream>\n"},
                      sample{"Fstream", "core/a.cpp", "#include <fstream>\n"},
                      sample{"Unistd", "core/a.cpp", "#include <unistd.h>\n"},
                      sample{"Boost", "core/a.cpp", "#include <boost/asio.hpp>\n"},
                      sample{"Now", "core/a.cpp", "auto t = std::chrono::steady_clock::now();\n"}),
    name_of<::testing::TestParamInfo<sample>>);

INSTANTIATE_TEST_SUITE_P(
    Bans, Breaks,
    ::testing::Values(
        sample{"SystemClock", "api/a.cpp", "auto t = std::chrono::system_clock::now();\n"},
        sample{"SteadyClock", "runtime/a.cpp", "auto t = steady_clock::now();\n"},
        sample{"ClockGettime", "workload/a.cpp", "::clock_gettime(CLOCK_BOOTTIME, &t);\n"},
        sample{"Monotonic", "workload/a.cpp", "timerfd_create(CLOCK_MONOTONIC, 0);\n"},
        sample{"MonotonicInBase", "base/a.cpp", "::clock_gettime(CLOCK_MONOTONIC, &t);\n"},
        sample{"Realtime", "http/a.cpp", "f(CLOCK_REALTIME);\n"},
        sample{"SleepFor", "stores/a.cpp", "std::this_thread::sleep_for(1s);\n"},
        sample{"IoContext", "stores/a.cpp", "boost::asio::io_context io;\n"},
        sample{"Usleep", "stores/a.cpp", "usleep(1);\n"},
        sample{"Sleep", "stores/a.cpp", "::sleep (1);\n"},
        sample{"Detach", "http/a.cpp", "worker.detach();\n"},
        sample{"Kill", "workload/a.cpp", "::kill(1, SIGKILL);\n"},
        sample{"KillWithoutQualifier", "runtime/a.cpp", "kill(pid, SIGTERM);\n"},
        sample{"KillOfStd", "api/a.cpp", "if (std::kill (pid, 0) != 0) return;\n"},
        sample{"KillAsAValue", "cli/a.cpp", "const auto end = &::kill;\n"},
        sample{"KillGroup", "guard/a.cpp", "::killpg(group, SIGKILL);\n"},
        sample{"Sigqueue", "runtime/a.cpp", "sigqueue(pid, SIGUSR1, {});\n"},
        sample{"PidfdSignal", "runtime/a.cpp", "syscall(SYS_pidfd_send_signal, fd);\n"},
        sample{"System", "cli/a.cpp", "std::system(line);\n"},
        sample{"Popen", "cli/a.cpp", "popen(line, mode);\n"},
        sample{"Rand", "http/a.cpp", "int a = rand();\n"},
        sample{"Assert", "base/a.cpp", "assert(a);\n"},
        sample{"Strerror", "base/a.cpp", "strerror(errno);\n"},
        sample{"ContextStop", "runtime/a.cpp", "io_.stop();\n"},
        sample{"ContextPointerStop", "runtime/a.cpp", "context->stop();\n"}),
    name_of<::testing::TestParamInfo<sample>>);

INSTANTIATE_TEST_SUITE_P(Shape, Breaks,
                         ::testing::Values(sample{"NoPragmaOnce", "base/a.hpp", "int a();\n"},
                                           sample{"UsingNamespace", "base/a.hpp",
                                                  "#pragma once\nusing namespace std;\n"},
                                           sample{"Todo", "base/a.cpp", "// TODO: more\n"},
                                           sample{"Fixme", "base/a.cpp", "/* FIXME */\n"},
                                           sample{"Xxx", "base/a.cpp", "// XXX\n"},
                                           sample{"Format", "base/a.cpp", "#include <format>\n"},
                                           sample{"Print", "base/a.cpp", "#include <print>\n"},
                                           sample{"NotAscii", "base/a.cpp", "// caf\xc3\xa9\n"},
                                           sample{"Tab", "base/a.cpp", "\tint a;\n"}),
                         name_of<::testing::TestParamInfo<sample>>);

INSTANTIATE_TEST_SUITE_P(
    Heavy, Breaks,
    ::testing::Values(
        sample{"SqliteOutsideStores", "api/a.cpp", "#include <sqlite3.h>\n"},
        sample{"SqliteInAHeader", "stores/a.hpp", "#pragma once\n#include <sqlite3.h>\n"},
        sample{"YamlOutsideConfig", "cli/a.cpp", "#include <yaml-cpp/yaml.h>\n"},
        sample{"BeastOutsideHttp", "api/a.cpp", "#include <boost/beast/http.hpp>\n"},
        sample{"JsonOutsideACodec", "stores/etcd/etcd_store.cpp", "#include <nlohmann/json.hpp>\n"},
        sample{"JsonInAHeader", "stores/etcd/etcd_codec.hpp",
               "#pragma once\n#include <nlohmann/json.hpp>\n"}),
    name_of<::testing::TestParamInfo<sample>>);

INSTANTIATE_TEST_SUITE_P(
    Asio, Breaks,
    ::testing::Values(
        sample{"TimerInAStore", "stores/etcd/a.cpp", "#include <boost/asio/steady_timer.hpp>\n"},
        sample{"ExecutorInApi", "api/a.cpp", "#include <boost/asio/any_io_executor.hpp>\n"},
        sample{"SocketInTheGuard", "guard/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n"},
        sample{"PostInHealth", "health/a.cpp", "#include <boost/asio/post.hpp>\n"},
        sample{"AllOfIt", "workload/a.cpp", "#include <boost/asio.hpp>\n"},
        sample{"ContextInAStore", "stores/sqlite/a.cpp", "#include <boost/asio/io_context.hpp>\n"},
        sample{"SignalsInAStore", "stores/a.cpp", "#include <boost/asio/signal_set.hpp>\n"},
        sample{"TlsInRuntime", "runtime/a.cpp", "#include <boost/asio/ssl/context.hpp>\n"},
        sample{"ItsSourceTwice", "http/a.cpp", "#include <boost/asio/impl/src.hpp>\n"}),
    name_of<::testing::TestParamInfo<sample>>);

class Keeps : public ::testing::TestWithParam<sample> {};

TEST_P(Keeps, EveryRule) {
  EXPECT_EQ(found_in(GetParam().path, GetParam().text), "") << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Keeps,
    ::testing::Values(
        sample{"OwnRoom", "core/a.cpp", "#include \"core/clock.hpp\"\n#include <vector>\n"},
        sample{"ArrowDown", "stores/a.cpp", "#include \"http/a.hpp\"\n#include \"core/a.hpp\"\n"},
        sample{"CliKnowsMost", "cli/a.cpp", "#include \"config/a.hpp\"\n#include \"core/a.hpp\"\n"},
        sample{"OutsideCoreAnyHeader", "base/a.cpp", "#include <thread>\n"},
        sample{"FileWithoutARoom", "main.cpp", "#include \"cli/run.hpp\"\n"},
        sample{"CallInAComment", "http/a.cpp", "// never rand() here\n"},
        sample{"CallInALiteral", "http/a.cpp", "f(\"system(x) // TODO\");\n"},
        sample{"PartOfAWord", "http/a.cpp", "operand(); static_assert(true); TODOS();\n"},
        sample{"NotACall", "http/a.cpp", "int system = 0; bool sleep;\n"},
        sample{"MemberOfTheSameName", "http/a.cpp", "log.system(a); p->sleep(b);\n"},
        sample{"NameOfOurOwn", "http/a.cpp", "os::system(a); tests::rand();\n"},
        sample{"BoottimeAnywhere", "workload/a.cpp", "timerfd_create(CLOCK_BOOTTIME, 0);\n"},
        sample{"ClockInOs", "base/a.cpp", "::clock_gettime(CLOCK_REALTIME, &t);\n"},
        sample{"TheOneReading", "base/clock_reading.cpp",
               "::clock_gettime(CLOCK_MONOTONIC, &t);\n"},
        sample{"KillInTheGuard", "guard/a.cpp", "::kill(-group, SIGKILL);\n"},
        sample{"KillInTheDemo", "cli/demo/a.cpp", "kill(pid, SIGSTOP);\n"},
        sample{"KillOfAMember", "runtime/a.cpp", "check.kill(); other->kill(now, deep);\n"},
        sample{"MemberThatKills", "workload/a.cpp", "void process::kill() {\n}\n"},
        sample{"RaiseForOurselves", "cli/a.cpp", "std::raise(signo);\n"},
        sample{"DescriptorOfTheGuard", "guard/a.cpp",
               "#include <boost/asio/posix/stream_descriptor.hpp>\n"},
        sample{"SocketInHttp", "http/a.cpp", "#include <boost/asio/ip/tcp.hpp>\n"},
        sample{"LoopOfACommand", "cli/a.cpp", "#include <boost/asio/io_context.hpp>\n"},
        sample{"StopOfAnythingElse", "runtime/a.cpp", "guard.stop(); stop(); io.stopped();\n"},
        sample{"UsingNamespaceInASource", "base/a.cpp", "using namespace std::chrono_literals;\n"},
        sample{"Header", "base/a.hpp", "#pragma once\nint a();\n"},
        sample{"DigitsGrouped", "base/a.cpp", "int a = 1'000; int b = 2'000;\n"},
        sample{"JsonInACodec", "stores/etcd/etcd_codec.cpp", "#include <nlohmann/json.hpp>\n"},
        sample{"BeastInNet", "http/a.cpp", "#include <boost/beast/core.hpp>\n"},
        sample{"OpenSslInTls", "http/tls_a.cpp", "#include <openssl/ssl.h>\n"},
        sample{"DetachedLookUp", "http/client/host_addresses.cpp", "thread.detach();\n"}),
    name_of<::testing::TestParamInfo<sample>>);

TEST(Rules, FindingNamesThePlaceAndTheReason) {
  const std::vector<finding> all =
      check(std::vector<source>{{"http/a.cpp", "int a;\n\nrand();\n"}});
  ASSERT_EQ(all.size(), 1U);
  std::ostringstream words;
  words << all[0];
  EXPECT_EQ(words.str(),
            "agent/http/a.cpp:3: banned: rand: randomness is an argument, drawn from the kernel");
}

TEST(Rules, HeavyDependencyBelongsToOneSource) {
  const source one{"stores/sqlite/database.cpp", "#include <sqlite3.h>\n"};
  const source two{"stores/sqlite/sqlite_store.cpp", "#include <sqlite3.h>\n"};
  EXPECT_EQ(found({one}), "");
  EXPECT_EQ(found({one, two}),
            "heavy dependency stores/sqlite/database.cpp:1\n"
            "heavy dependency stores/sqlite/sqlite_store.cpp:1");
}

TEST(Rules, FileHasAnEnd) {
  std::string longest;
  for (std::size_t i = 0; i < most_lines; ++i) longest += "int a;\n";
  EXPECT_EQ(found_in("base/a.cpp", longest), "");
  EXPECT_EQ(found_in("base/a.cpp", longest + "int b;\n"), "shape base/a.cpp:601");
}

}  // namespace
}  // namespace tenure::layering
