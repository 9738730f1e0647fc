#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/manifest/scene.hpp"

/// What becomes of the probes of the main container, which the kubelet asks on a standby, too.
namespace tenure::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string pod(const std::string& main) {
  return "kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: main\n      command: "
         "[a]\n" +
         main;
}

std::string deployment(const std::string& spec, const std::string& main) {
  return "kind: Deployment\nmetadata: {name: web}\nspec:\n" + spec +
         "  template:\n    spec:\n      containers:\n        - name: main\n          command: "
         "[a]\n" +
         main;
}

/// True if the main container has this line still, and not in a mark.
bool keeps(const std::string& injected, const std::string& line) {
  return injected.contains("\n" + line);
}

TEST(Probes, ThatNobodyElseCanAskAreTakenOutWithAWord) {
  for (const std::string probe :
       {"{exec: {}}", "{tcpSocket: {port: 80}}", "{grpc: {port: 80}}",
        "{httpGet: {port: 80, scheme: HTTPS}}", "{httpGet: {port: 80, host: other}}",
        "{httpGet: {port: web}}", "{httpGet: {port: 80, httpHeaders: [{name: a, value: b}]}}"}) {
    for (const std::string name : {"livenessProbe", "startupProbe"}) {
      const std::string line = "      " + name + ": " + probe + "\n";
      const std::string text = pod(line);
      const std::string out = injected_text(text);
      EXPECT_FALSE(keeps(out, line)) << out;
      EXPECT_THAT(out, Not(HasSubstr("--health-")));
      EXPECT_EQ(plain_text(out), text);
      EXPECT_EQ(injected_text(out), out);
      EXPECT_THAT(notes_of(text),
                  AllOf(HasSubstr("web.yaml:7:" + std::to_string(9 + name.size()) + ": " + name +
                                  " of the main container would fail on a standby"),
                        HasSubstr("--health-http http://127.0.0.1:PORT/PATH")));
    }
  }
  injection how = usual();
  how.what.settings.emplace_back("--health-file=/a");
  EXPECT_THAT(notes_of(pod("      livenessProbe: {tcpSocket: {port: 80}}\n"), how),
              HasSubstr("the settings --health-* are yours"));
}

/// A program of the main container is asked where it was, but not on a standby.
TEST(Probes, ThatAreProgramsAreWrapped) {
  const std::string text =
      pod("      livenessProbe: {exec: {command: [\"ready\", -x]}, initialDelaySeconds: 5}\n"
          "      startupProbe: {tcpSocket: {port: 80}, periodSeconds: 2, failureThreshold: 30}\n"
          "      readinessProbe:\n        exec:\n          command:\n          - ready\n");
  const std::string out = injected_text(text);
  EXPECT_THAT(out,
              AllOf(HasSubstr("livenessProbe: {exec: {command: [\"/tenure-bin/tenure\", \"guard\", "
                              "\"--probe\", \"--delay=65s\", \"--\", \"ready\", -x]}"),
                    HasSubstr("# tenure.dev/inject: was       startupProbe:"),
                    HasSubstr("          command:\n          - ready\n")));
  EXPECT_EQ(plain_text(out), text);
  EXPECT_EQ(injected_text(out), out);
  EXPECT_EQ(notes_of(text), "");

  std::string of_deployment = deployment(
      "",
      "          readinessProbe:\n            exec:\n              command:\n              - a\n");
  const std::string waited_for = injected_text(of_deployment);
  EXPECT_THAT(waited_for,
              HasSubstr("              - guard\n              - --probe\n              - "
                        "--\n              # tenure.dev/inject: end Deployment/web\n"
                        "              - a\n"));
  EXPECT_EQ(plain_text(waited_for), of_deployment);
  EXPECT_THAT(notes_of(of_deployment), HasSubstr("it is asked on the active pod only"));
}

TEST(Probes, ThatAreProgramsAreTakenOutWhereTheGuardIsNotTheFirstProcess) {
  const std::string shared =
      pod("      livenessProbe: {exec: {command: [a]}}\n") + "  shareProcessNamespace: true\n";
  EXPECT_THAT(injected_text(shared), Not(HasSubstr("--probe,")));
  EXPECT_THAT(notes_of(shared), HasSubstr("livenessProbe of the main container would fail"));
}

TEST(Probes, OfWhichOneCanBeAskedByTheAgentAreNotBothLost) {
  const std::string text =
      pod("      livenessProbe: {httpGet: {port: 80}}\n      startupProbe: {tcpSocket: {port: 80}, "
          "periodSeconds: 2, failureThreshold: 30}\n");
  EXPECT_THAT(injected_text(text), AllOf(HasSubstr("--health-http=http://127.0.0.1:80/"),
                                         HasSubstr("--health-delay=60s")));
  EXPECT_THAT(notes_of(text), AllOf(HasSubstr("livenessProbe of the main container would fail on a "
                                              "standby: the agent asks instead"),
                                    HasSubstr("startupProbe of the main container would fail")));
}

TEST(Probes, AtTheAddressOfTheirPodAreAskedByTheAgent) {
  for (const std::string host : {"127.0.0.1", "localhost", "\"\""}) {
    EXPECT_THAT(
        injected_text(pod("      livenessProbe: {httpGet: {port: 80, host: " + host + "}}\n")),
        HasSubstr("--health-http=http://127.0.0.1:80/"));
  }
}

TEST(Probes, OfAnotherContainerStay) {
  injection how = usual();
  how.choices.container = "main";
  const std::string line = "      livenessProbe: {tcpSocket: {port: 80}}\n";
  EXPECT_TRUE(keeps(injected_text(pod("    - name: other\n" + line), how), line));
}

/// Only the active pod would be Ready, and the next one is not active before it ends.
TEST(Probes, OfReadinessAreTakenOutWhereARollOutWouldWaitForThem) {
  const std::string probe = "          readinessProbe: {tcpSocket: {port: 80}}\n";
  const auto is_kept = [&probe](const std::string& text) {
    const std::string out = injected_text(text);
    EXPECT_EQ(plain_text(out), text);
    const bool kept = keeps(out, probe);
    EXPECT_EQ(notes_of(text).contains("a roll-out would wait for it for ever"), !kept);
    return kept;
  };
  EXPECT_FALSE(is_kept(deployment("", probe)));
  EXPECT_THAT(notes_of(deployment("", probe)),
              AllOf(HasSubstr("web.yaml:9:27: a standby"), HasSubstr("leads to standbys, too"),
                    HasSubstr("--traffic endpoints or label"), HasSubstr("{type: Recreate}")));
  EXPECT_TRUE(is_kept(deployment("  strategy: {type: Recreate}\n", probe)));
  EXPECT_TRUE(is_kept(
      deployment("  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 100%}}\n", probe)));
  for (const std::string half :
       {"maxSurge: 0", "maxUnavailable: 100%", "maxSurge: 1, maxUnavailable: 100%",
        "maxSurge: 0, maxUnavailable: 50%"}) {
    EXPECT_FALSE(is_kept(deployment("  strategy: {rollingUpdate: {" + half + "}}\n", probe)))
        << half;
  }
  EXPECT_TRUE(injected_text(pod("      readinessProbe: {tcpSocket: {port: 80}}\n"))
                  .contains("\n      readinessProbe:"));
  std::string set = deployment("  updateStrategy: {type: OnDelete}\n", probe);
  set.replace(set.find("Deployment"), 10, "StatefulSet");
  EXPECT_FALSE(is_kept(set));
  EXPECT_THAT(notes_of(set), Not(HasSubstr("{type: Recreate}")));
  set.replace(set.find("  template"), 0, "  podManagementPolicy: Parallel\n");
  EXPECT_TRUE(is_kept(set));
}

}  // namespace
}  // namespace tenure::manifest
