#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness.hpp"

/// `tenure inject`, from the command line to the text that it prints.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string manifest = R"(kind: Pod
metadata: {name: web}
spec:
  securityContext: {runAsUser: 1000}
  containers:
    - name: main
      image: busybox
      command: [sleep, "1000"]   # for ever
)";

class Inject : public testing::Test {
 protected:
  void SetUp() override { write(manifest); }

  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  [[nodiscard]] std::string path() const { return in_ / "web.yaml"; }

  finished inject(std::vector<std::string> words,
                  const std::vector<std::string>& environment = {}) const {
    words.insert(words.begin(), {tenure_binary(), "inject"});
    return run(words, in_, environment);
  }

  /// $1 is the program, $2 the manifest.
  [[nodiscard]] finished shell(const std::string& commands) const {
    return run({"sh", "-c", commands, "sh", tenure_binary(), path()}, in_);
  }

 private:
  temporary_directory in_;
};

TEST_F(Inject, ManifestIsPrintedWithTheSidecarOfThisVersion) {
  const finished done = inject({path(), "--election", "db"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("warning: --image: is not given, so the manifest names tenure:"));
  EXPECT_THAT(done.err, HasSubstr("which no registry has; name the image that you have pushed"));
  EXPECT_EQ(inject({path(), "--election", "db", "--image", "here/tenure:2"}).err, "");
  EXPECT_THAT(inject({path(), "--election", "db", "--store", "sqlite"}).err,
              HasSubstr("inject: --store: is sqlite, a file, which pods do not share"));
  EXPECT_THAT(inject({path(), "--election", "Web_X"}).err,
              HasSubstr("cannot be the name of a Lease"));
  const std::string version = run({tenure_binary(), "version"}, temporary_directory()).out;
  const std::string number = version.substr(7, version.find(' ', 7) - 7);
  EXPECT_THAT(
      done.out,
      AllOf(
          HasSubstr("image: tenure:" + number + "\n"),
          HasSubstr("args: [agent, --store=kubernetes, --election=db, --guard-dir=/run/tenure]\n"),
          HasSubstr("      command: [/tenure-bin/tenure, guard, --dir=/run/tenure, --, sleep, "
                    "\"1000\"]   # for ever\n"),
          Not(HasSubstr("kind: Role"))));
}

TEST_F(Inject, PipesGiveBackWhatWasThereByteForByte) {
  const finished done = shell(
      "set -e; cat $2 | $1 inject - --election db --rbac >$2.first; "
      "$1 inject - --election db --rbac <$2.first | cmp - $2.first; "
      "$1 inject --uninject - <$2.first | cmp - $2; $1 inject --uninject $2 | cmp - $2");
  EXPECT_EQ(done.status, 0) << done.out << done.err;
}

TEST_F(Inject, SettingsAreArgumentsOfTheAgentAndNoVariableHereCounts) {
  const finished done = inject(
      {path(), "--election=db", "--store", "etcd", "--endpoint", "http://etcd:2379", "--ttl", "6s",
       "--events", "--probe-listen", "0.0.0.0:9000", "--image", "here/tenure:2", "--rbac"},
      {"TENURE_TTL=5", "TENURE_ENDPOINT=http://127.0.0.1:1"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("args: [agent, --election=db, --store=etcd, "
                              "--endpoint=http://etcd:2379, --ttl=6s, --events=true, "
                              "--probe-listen=0.0.0.0:9000, --guard-dir=/run/tenure]\n"),
                    HasSubstr("containerPort: 9000"), HasSubstr("image: here/tenure:2\n"),
                    HasSubstr("resources: [events]"), Not(HasSubstr("resources: [leases]"))));
  EXPECT_THAT(done.err, HasSubstr("tenure inject: warning: "));
}

TEST_F(Inject, LimitsAreTheRequestsToo) {
  write(manifest);
  EXPECT_THAT(inject({path(), "--election=db", "--limits=cpu=100m"}).out,
              HasSubstr("requests: {memory: 32Mi, cpu: 100m}\n"
                        "        limits: {memory: 32Mi, cpu: 100m}\n"));
  EXPECT_THAT(
      inject({path(), "--election=db", "--limits=cpu=1.5,memory=64Mi", "--requests=cpu=20m"}).out,
      HasSubstr("requests: {memory: 64Mi, cpu: 20m}\n"
                "        limits: {memory: 64Mi, cpu: 1.5}\n"));
}

TEST_F(Inject, FilesOfTheAgentNeedAVolume) {
  write(manifest + "  volumes:\n    - {name: tls, secret: {secretName: tls}}\n");
  const std::vector<std::string> words{path(),
                                       "--election=db",
                                       "--store=etcd",
                                       "--endpoint=https://etcd:2379",
                                       "--ca-file=/etc/tls/ca.crt",
                                       "--image=here/tenure:2"};
  const finished without = inject(words);
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("warning: --ca-file: names a file that is in no volume of the "
                                     "agent; give it the volume: --mount VOLUME:PATH\n"));
  std::vector<std::string> mounted = words;
  mounted.insert(mounted.end(), {"--mount", "tls:/etc/tls"});
  const finished with = inject(mounted);
  EXPECT_EQ(with.err, "");
  EXPECT_THAT(with.out, HasSubstr("- {name: tls, mountPath: /etc/tls, readOnly: true}\n"));
}

struct wrong_words {
  std::vector<std::string> words;
  std::string says;
};

TEST_F(Inject, MisuseIsRefusedBeforeTheManifestIsRead) {
  for (const wrong_words& one : {
           wrong_words{{}, "election is missing"},
           wrong_words{{"--election", "db", "--ttl", "5"}, "say which unit: \"5s\""},
           wrong_words{{"--election", "a b"}, "is not allowed in a name"},
           wrong_words{{"--election", "db", "--config", "x"}, "--config names a file"},
           wrong_words{{"--election", "db", "--identity", "x"}, "--identity: is not the same for"},
           wrong_words{{"--election", "db", "--guard-dir", "/x"}, "guard_dir"},
           wrong_words{{"--election", "db", "--probe-listen", "off"},
                       "--probe-listen: is not where"},
           wrong_words{{"--election", "db", "--probe-listen", "127.0.0.1:8081"}, "--probe-listen"},
           wrong_words{{"--election", "db", "--store=sqlite", "--endpoint=/a"}, "do not share"},
           wrong_words{{"--election", "db", "--run-as", "nobody"},
                       "--run-as is \"nobody\"; give the "},
           wrong_words{{"--election", "db", "--mount", "tls"}, "--mount is \"tls\"; give a volume"},
           wrong_words{{"--election", "db", "--command", "'"}, "--command "},
           wrong_words{{"--election", "db", "--limits", "cpu"}, "--limits is \"cpu\"; give quant"},
           wrong_words{{"--election", "db", "--requests", "cpu=1,=2"},
                       "--requests is \"cpu=1,=2\""},
           wrong_words{{"--election", "db", "--rbac", "--namespace", "x"}, "--rbac: adds a Role"},
           wrong_words{{"--election", "db", "--rbac", "--store=etcd", "--endpoint=http://e:1"},
                       "the agent needs no rights"},
           wrong_words{{"--uninject", "--election", "db"}, "--election has no meaning with"},
           wrong_words{{"--uninject", "--rbac"}, "--rbac has no meaning with --uninject"},
           wrong_words{{"--uninject", "x"}, "unexpected \"x\""},
       }) {
    std::vector<std::string> words{"/nowhere"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    const finished done = inject(words);
    EXPECT_EQ(done.status, 2) << testing::PrintToString(one.words) << done.err;
    EXPECT_THAT(done.err, AllOf(HasSubstr("tenure inject: "), HasSubstr(one.says)));
    EXPECT_THAT(done.out, IsEmpty());
  }
  EXPECT_THAT(inject({}).err,
              HasSubstr("FILE is missing: the manifest; - for standard input\nfor example: "));
}

TEST_F(Inject, RefusedManifestPrintsNothingButReasonsWithTheirPositions) {
  write(manifest + "      lifecycle: {postStart: {exec: {command: [a]}}}\n  hostPID: true\n");
  const finished done = inject({path(), "--election", "db"});
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.out, IsEmpty());
  EXPECT_THAT(done.err,
              AllOf(HasSubstr("tenure inject: " + path() + ":10:12: with hostPID"),
                    HasSubstr("tenure inject: " + path() + ":9:18: postStart would run")));
  const finished missing = inject({path() + "x", "--election", "db"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "tenure inject: " + path() +
                             "x: the file cannot be read: No such file or directory (ENOENT)\n");
  EXPECT_EQ(inject({"/", "--election", "db"}).status, 1);
}

TEST_F(Inject, FullDiskIsAFailure) {
  const finished done = shell("$1 inject $2 --election db >/dev/full");
  EXPECT_EQ(done.status, 1);
  EXPECT_THAT(done.err, HasSubstr("cannot write to standard output: No space left on device"));
}

}  // namespace
}  // namespace tenure::tests
