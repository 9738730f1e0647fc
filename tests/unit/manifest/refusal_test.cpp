#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/manifest/scene.hpp"

/// What inject does not do, why, and what to do instead.
namespace tenure::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A pod with further lines of its specification, and of its main container.
std::string pod(const std::string& spec, const std::string& main = {}) {
  return "kind: Pod\nmetadata: {name: web}\nspec:\n" + spec +
         "  containers:\n    - name: main\n      command: [a]\n" + main;
}

TEST(Refusal, PodsThatCannotBeGuarded) {
  EXPECT_THAT(refusal(pod("  hostPID: true\n")),
              AllOf(HasSubstr("web.yaml:4:12: with hostPID, "), HasSubstr("leave hostPID out")));
  EXPECT_THAT(refusal(pod("  os: {name: windows}\n")), HasSubstr("for Windows"));
  EXPECT_THAT(refusal(pod("  nodeSelector: {kubernetes.io/os: windows}\n")),
              HasSubstr("for Windows"));
  EXPECT_THAT(refusal(pod("  automountServiceAccountToken: false\n")),
              HasSubstr("web.yaml:4:33: without the token of its ServiceAccount"));
}

/// As kubectl reads YAML: with the words of YAML 1.1, and with merges.
TEST(Refusal, WhatKubernetesTakesForTrue) {
  for (const char* word : {"true", "True", "yes", "Yes", "on", "ON", "y", "!!bool yes"}) {
    EXPECT_THAT(refusal(pod("  hostPID: " + std::string(word) + "\n")), HasSubstr("with hostPID"));
  }
  for (const char* word : {"false", "no", "off", "n", "~"}) {
    injected_text(pod("  hostPID: " + std::string(word) + "\n"));
  }
  EXPECT_THAT(refusal(pod("  automountServiceAccountToken: no\n")),
              HasSubstr("without the token of its ServiceAccount"));
  injected_text(pod("  automountServiceAccountToken: yes\n"));
  EXPECT_THAT(refusal(pod("  hostPID: false\n  hostPID: true\n")),
              HasSubstr("web.yaml:5:3: hostPID is given twice; remove one"));
  const std::string shared = "x: &x {containerPort: 8081}\n";
  const std::string merged =
      shared + pod("", "      ports:\n        - <<: *x\n          name: a\n");
  EXPECT_THAT(injected_text(merged), HasSubstr("--probe-listen=0.0.0.0:8082"));
}

TEST(Refusal, NumbersThatKubernetesReadsOtherwise) {
  for (const char* number : {"01000", "0x3e8", "1_000", "1e3", "+1000"}) {
    EXPECT_THAT(refusal(pod("  securityContext: {runAsUser: " + std::string(number) + "}\n")),
                HasSubstr("runAsUser is not a plain decimal number"));
  }
}

TEST(Refusal, AllReasonsAtOnce) {
  EXPECT_THAT(
      refusal(pod("  hostPID: true\n", "      lifecycle: {postStart: {exec: {command: [a]}}}\n")),
      AllOf(HasSubstr("hostPID"), HasSubstr("postStart")));
}

TEST(Refusal, MainContainerHasToBeKnown) {
  const std::string two = pod("", "    - name: other\n");
  EXPECT_THAT(refusal(two),
              HasSubstr("there are several containers; say which one is to be active: "
                        "--container one of main, other\n"));
  injection how = usual();
  how.choices.container = "nobody";
  EXPECT_THAT(refusal(two, how),
              HasSubstr("there is no container \"nobody\"; these are: main, other\n"));
  EXPECT_THAT(refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  x: 1\n"),
              HasSubstr("web.yaml:4:3: the pod has no list of containers"));
}

TEST(Refusal, CommandHasToBeKnown) {
  const std::string without =
      "kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: main\n";
  for (const std::string rest : {"      args: [a]\n", "      command:\n", "      command: []\n"}) {
    EXPECT_THAT(refusal(without + rest),
                HasSubstr("the main container has no command, and the entry point of its image is "
                          "not known here; write it into the manifest"));
  }
  injection how = usual();
  how.choices.command = {"a"};
  EXPECT_THAT(refusal(pod(""), how), HasSubstr("the manifest has a command already"));
}

TEST(Refusal, PodsThatCannotBeNamed) {
  injection how = usual();
  how.what.election = "db";
  how.what.needs.conditions = true;
  EXPECT_THAT(refusal(pod(""), how), HasSubstr("--traffic needs a label on the pods"));
  const std::string gated =
      "kind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    metadata:\n      labels: "
      "{tenure.dev/election: other}\n    spec:\n      containers:\n        - name: main\n          "
      "command: [a]\n";
  EXPECT_THAT(refusal(gated, how),
              AllOf(HasSubstr("the pods have the label tenure.dev/election: \"other\", and the "
                              "election is \"db\""),
                    HasSubstr("with --traffic gate a standby is not Ready, and a roll-out waits "
                              "for it for ever")));
}

TEST(Refusal, UsersThatCannotBe) {
  injection how = usual();
  EXPECT_THAT(refusal(pod("  securityContext: {runAsUser: 5}\n")),
              HasSubstr("runs as user 5, and --run-as is 1000"));
  how.choices.user = 0;
  EXPECT_THAT(refusal(pod("  securityContext: {runAsNonRoot: true}\n"), how),
              HasSubstr("user 0 is root, which runAsNonRoot forbids"));
  injected_text(pod("  securityContext: {runAsNonRoot: true}\n",
                    "      securityContext: {runAsNonRoot: false}\n"),
                how);
  how.choices.user.reset();
  EXPECT_THAT(refusal(pod("  shareProcessNamespace: true\n"), how),
              AllOf(HasSubstr("only an agent of its user can kill it"),
                    HasSubstr("--run-as UID (0 for root)")));
  how.choices.user = 1000;
  injected_text(pod("  shareProcessNamespace: true\n"), how);
}

TEST(Refusal, HookThatRunsOnAStandby) {
  EXPECT_THAT(refusal(pod("", "      lifecycle: {postStart: {exec: {command: [a]}}}\n")),
              HasSubstr("postStart would run when the container starts"));
}

TEST(Refusal, NamesThatAreTaken) {
  EXPECT_THAT(
      refusal(pod("  initContainers:\n    - name: tenure\n")),
      HasSubstr("web.yaml:5:7: there is a container \"tenure\" already, without our marks"));
  EXPECT_THAT(refusal(pod("  volumes:\n    - name: tenure-run\n")),
              HasSubstr("there is a volume \"tenure-run\" already"));
  EXPECT_THAT(refusal(pod("", "      volumeMounts: [{name: a, mountPath: /run/tenure/}]\n")),
              HasSubstr("a volume is mounted at \"/run/tenure/\", which Tenure uses"));
  injected_text(pod("", "      volumeMounts: [{name: a, mountPath: /run/tenured}]\n"));
  injection how = usual();
  how.what.port_is_given = true;
  EXPECT_THAT(refusal(pod("", "      ports: [{containerPort: 8081}]\n"), how),
              HasSubstr("give the agent another one with --probe-listen, or leave that out"));
  std::string by_hand = pod("");
  by_hand.replace(by_hand.find("[a]"), 3, "[/tenure-bin/tenure, guard, --dir=/run/tenure, --, a]");
  EXPECT_THAT(refusal(by_hand), HasSubstr("the command runs under Tenure already"));
}

TEST(Refusal, WhatLinesCannotBeAddedTo) {
  EXPECT_THAT(refusal("---\n{kind: Pod, metadata: {name: web}, spec: {containers: []}}\n"),
              HasSubstr("web.yaml:2:1: this is written in brackets or braces, as JSON; write it in "
                        "lines, e.g. by `kubectl patch --local -f FILE -p {} -o yaml`\n"));
  EXPECT_THAT(
      refusal("kind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, command: [a]}]}\n"),
      HasSubstr("web.yaml:3:7: this is written in brackets or braces"));
  EXPECT_THAT(refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n"
                      "    - {name: main, command: [a]}\n"),
              HasSubstr("web.yaml:5:7: this is written in brackets or braces"));
  EXPECT_THAT(
      refusal(pod("  initContainers: [{name: a}]\n")),
      HasSubstr("initContainers is written in brackets; write each item in lines of its own"));
  EXPECT_THAT(refusal(pod("  volumes:\n    []\n")),
              HasSubstr("volumes is empty, and not in a line of its own"));
  EXPECT_THAT(refusal(pod("  volumes: a\n")), HasSubstr("volumes is not a list"));
  EXPECT_THAT(refusal(pod("  volumes: []\n  volumes: []\n")),
              HasSubstr("web.yaml:5:3: volumes is given twice; remove one"));
  EXPECT_THAT(
      refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - command: [a]\n"),
      HasSubstr("no line can be put in front of this one"));
  EXPECT_THAT(
      refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  ? containers\n  :\n    - name: main\n"
              "      command: [a]\n"),
      HasSubstr("no line can be put in front of this one"));
}

TEST(Refusal, WhatAnAliasRepeats) {
  const std::string repeated = "this is repeated elsewhere by an alias";
  EXPECT_THAT(
      refusal("kind: Pod\nmetadata: {name: web}\nx: &spec\n  containers:\n    - name: main\n"
              "      command: [a]\nspec: *spec\n"),
      HasSubstr("web.yaml:3:4: " + repeated));
  EXPECT_THAT(refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - &main\n"
                      "      name: main\n      command: [a]\n  x: *main\n"),
              HasSubstr(repeated));
  EXPECT_THAT(refusal(pod("", "      args: *a\n").replace(pod("").find("[a]"), 3, "&a [a]")),
              HasSubstr("command is repeated elsewhere by an alias"));
  EXPECT_THAT(
      refusal("kind: Pod\nmetadata: {name: web}\nx: &x {a: b}\nspec:\n  <<: *x\n  containers:\n"
              "    - name: main\n      command: [a]\n"),
      HasSubstr("this takes members of another mapping (\"<<\"); write them out"));
}

TEST(Refusal, FilesWithoutOneWorkload) {
  EXPECT_THAT(
      refusal("kind: Service\n---\nkind: Job\n---\nkind: Job\n"),
      HasSubstr("there is no workload in this file, only Service, Job; give a Deployment, "));
  EXPECT_THAT(refusal(""), HasSubstr("there is no workload in this file; give a Deployment, "));
  EXPECT_THAT(refusal(pod("") + "---\nkind: Deployment\nmetadata: {name: db}\n"),
              HasSubstr("several workloads in this file: Pod/web, Deployment/db; say which one: "
                        "--workload Pod/web\n"));
  injection how = usual();
  how.workload = "nobody";
  EXPECT_THAT(refusal(pod(""), how),
              HasSubstr("no workload \"nobody\" in this file; these are: Pod/web"));
  EXPECT_THAT(refusal("kind: Pod\nspec: {}\n"),
              HasSubstr("Pod has no name that Kubernetes could accept"));
  EXPECT_THAT(refusal("kind: Deployment\nmetadata: {name: web}\nspec: {}\n"),
              HasSubstr("web.yaml:1:1: Deployment has no mapping \"template\""));
}

TEST(Refusal, WhatIsNotYaml) {
  EXPECT_THAT(refusal("kind: Pod\n---\n# b\na: b: c\n"), HasSubstr("web.yaml:4:5: "));
  EXPECT_THAT(refusal("kind: Pod\nspec:\n\ta: b\n"),
              HasSubstr("indent with spaces, not with tabs"));
  EXPECT_THAT(refusal("{{- if .Values.web }}\nkind: Pod\n{{- end }}\n"),
              HasSubstr("if this is a template, render it first"));
  EXPECT_THAT(refusal("kind: Pod\rspec:\n"), HasSubstr("ends with a carriage return alone"));
  EXPECT_THAT(refusal(std::string("kind: Pod\n\0", 11)), HasSubstr("a zero byte"));
}

TEST(Refusal, MarksThatSomebodyHasChanged) {
  std::string out = injected_text(pod(""));
  out.erase(out.find("  # tenure.dev/inject: end"),
            out.find("\n", out.find("# tenure.dev/inject: end")) + 1 -
                out.find("  # tenure.dev/inject: end"));
  EXPECT_THAT(refusal(out), HasSubstr("begins what none ends"));
  std::string renamed = injected_text(pod(""));
  renamed.replace(renamed.find("{name: web}"), 11, "{name: api}");
  EXPECT_THAT(refusal(renamed),
              AllOf(HasSubstr("there is a container \"tenure\" already"),
                    HasSubstr("take it out with --uninject"), Not(HasSubstr("safely"))));
}

}  // namespace
}  // namespace tenure::manifest
