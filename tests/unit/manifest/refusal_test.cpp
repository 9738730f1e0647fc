#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/manifest/scene.hpp"

/// What inject does not do, why, and what to do instead.
namespace tenure::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::expect_golden;

/// A pod with further lines of its specification, and of its main container.
std::string pod(const std::string& spec, const std::string& main = {}) {
  return "kind: Pod\nmetadata: {name: web}\nspec:\n" + spec +
         "  containers:\n    - name: main\n      command: [a]\n" + main;
}

TEST(Refusal, PodsThatCannotBeGuarded) {
  expect_golden(refusal(pod("  hostPID: true\n")));
  expect_golden(refusal(pod("  os: {name: windows}\n")));
  expect_golden(refusal(pod("  nodeSelector: {kubernetes.io/os: windows}\n")));
  expect_golden(refusal(pod("  automountServiceAccountToken: false\n")));
}

/// As kubectl reads YAML: with the words of YAML 1.1, and with merges.
TEST(Refusal, WhatKubernetesTakesForTrue) {
  for (const char* word : {"true", "True", "yes", "Yes", "on", "ON", "y", "!!bool yes"}) {
    expect_golden(refusal(pod("  hostPID: " + std::string(word) + "\n")));
  }
  for (const char* word : {"false", "no", "off", "n", "~"}) {
    injected_text(pod("  hostPID: " + std::string(word) + "\n"));
  }
  expect_golden(refusal(pod("  automountServiceAccountToken: no\n")));
  injected_text(pod("  automountServiceAccountToken: yes\n"));
  expect_golden(refusal(pod("  hostPID: false\n  hostPID: true\n")));
  const std::string shared = "x: &x {containerPort: 8081}\n";
  const std::string merged =
      shared + pod("", "      ports:\n        - <<: *x\n          name: a\n");
  EXPECT_THAT(injected_text(merged), HasSubstr("--probe-listen=0.0.0.0:8082"));
}

TEST(Refusal, NumbersThatKubernetesReadsOtherwise) {
  for (const char* number : {"01000", "0x3e8", "1_000", "1e3", "+1000"}) {
    expect_golden(refusal(pod("  securityContext: {runAsUser: " + std::string(number) + "}\n")));
  }
}

TEST(Refusal, AllReasonsAtOnce) {
  expect_golden(
      refusal(pod("  hostPID: true\n", "      lifecycle: {postStart: {exec: {command: [a]}}}\n")));
}

TEST(Refusal, MainContainerHasToBeKnown) {
  const std::string two = pod("", "    - name: other\n");
  expect_golden(refusal(two));
  injection how = usual();
  how.choices.container = "nobody";
  expect_golden(refusal(two, how));
  expect_golden(refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  x: 1\n"));
}

TEST(Refusal, CommandHasToBeKnown) {
  const std::string without =
      "kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: main\n";
  for (const std::string rest : {"      args: [a]\n", "      command:\n", "      command: []\n"}) {
    expect_golden(refusal(without + rest));
  }
  injection how = usual();
  how.choices.command = {"a"};
  expect_golden(refusal(pod(""), how));
}

TEST(Refusal, PodsThatCannotBeNamed) {
  injection how = usual();
  how.what.election = "db";
  how.what.needs.conditions = true;
  expect_golden(refusal(pod(""), how));
  const std::string gated =
      "kind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    metadata:\n      labels: "
      "{tenure.dev/election: other}\n    spec:\n      containers:\n        - name: main\n          "
      "command: [a]\n";
  expect_golden(refusal(gated, how));
}

TEST(Refusal, UsersThatCannotBe) {
  injection how = usual();
  expect_golden(refusal(pod("  securityContext: {runAsUser: 5}\n")));
  how.choices.user = 0;
  expect_golden(refusal(pod("  securityContext: {runAsNonRoot: true}\n"), how));
  injected_text(pod("  securityContext: {runAsNonRoot: true}\n",
                    "      securityContext: {runAsNonRoot: false}\n"),
                how);
  how.choices.user.reset();
  expect_golden(refusal(pod("  shareProcessNamespace: true\n"), how));
  how.choices.user = 1000;
  injected_text(pod("  shareProcessNamespace: true\n"), how);
}

TEST(Refusal, HookThatRunsOnAStandby) {
  expect_golden(refusal(pod("", "      lifecycle: {postStart: {exec: {command: [a]}}}\n")));
}

TEST(Refusal, NamesThatAreTaken) {
  expect_golden(refusal(pod("  initContainers:\n    - name: tenure\n")));
  expect_golden(refusal(pod("  volumes:\n    - name: tenure-run\n")));
  expect_golden(refusal(pod("", "      volumeMounts: [{name: a, mountPath: /run/tenure/}]\n")));
  injected_text(pod("", "      volumeMounts: [{name: a, mountPath: /run/tenured}]\n"));
  injection how = usual();
  how.what.port_is_given = true;
  expect_golden(refusal(pod("", "      ports: [{containerPort: 8081}]\n"), how));
  std::string by_hand = pod("");
  by_hand.replace(by_hand.find("[a]"), 3, "[/tenure-bin/tenure, guard, --dir=/run/tenure, --, a]");
  expect_golden(refusal(by_hand));
}

TEST(Refusal, WhatLinesCannotBeAddedTo) {
  expect_golden(refusal("---\n{kind: Pod, metadata: {name: web}, spec: {containers: []}}\n"));
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, command: [a]}]}\n"));
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n"
              "    - {name: main, command: [a]}\n"));
  expect_golden(refusal(pod("  initContainers: [{name: a}]\n")));
  expect_golden(refusal(pod("  volumes:\n    []\n")));
  expect_golden(refusal(pod("  volumes: a\n")));
  expect_golden(refusal(pod("  volumes: []\n  volumes: []\n")));
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - command: [a]\n"));
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  ? containers\n  :\n    - name: main\n"
              "      command: [a]\n"));
}

TEST(Refusal, WhatAnAliasRepeats) {
  const std::string repeated = "this is repeated elsewhere by an alias";
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nx: &spec\n  containers:\n    - name: main\n"
              "      command: [a]\nspec: *spec\n"));
  EXPECT_THAT(refusal("kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - &main\n"
                      "      name: main\n      command: [a]\n  x: *main\n"),
              HasSubstr(repeated));
  expect_golden(refusal(pod("", "      args: *a\n").replace(pod("").find("[a]"), 3, "&a [a]")));
  expect_golden(
      refusal("kind: Pod\nmetadata: {name: web}\nx: &x {a: b}\nspec:\n  <<: *x\n  containers:\n"
              "    - name: main\n      command: [a]\n"));
}

TEST(Refusal, FilesWithoutOneWorkload) {
  expect_golden(refusal("kind: Service\n---\nkind: Job\n---\nkind: Job\n"));
  expect_golden(refusal(""));
  expect_golden(refusal(pod("") + "---\nkind: Deployment\nmetadata: {name: db}\n"));
  injection how = usual();
  how.workload = "nobody";
  expect_golden(refusal(pod(""), how));
  expect_golden(refusal("kind: Pod\nspec: {}\n"));
  expect_golden(refusal("kind: Deployment\nmetadata: {name: web}\nspec: {}\n"));
}

TEST(Refusal, WhatIsNotYaml) {
  expect_golden(refusal("kind: Pod\n---\n# b\na: b: c\n"));
  expect_golden(refusal("kind: Pod\nspec:\n\ta: b\n"));
  expect_golden(refusal("{{- if .Values.web }}\nkind: Pod\n{{- end }}\n"));
  expect_golden(refusal("kind: Pod\rspec:\n"));
  expect_golden(refusal(std::string("kind: Pod\n\0", 11)));
}

TEST(Refusal, MarksThatSomebodyHasChanged) {
  std::string out = injected_text(pod(""));
  out.erase(out.find("  # tenure.dev/inject: end"),
            out.find("\n", out.find("# tenure.dev/inject: end")) + 1 -
                out.find("  # tenure.dev/inject: end"));
  expect_golden(refusal(out));
  std::string renamed = injected_text(pod(""));
  renamed.replace(renamed.find("{name: web}"), 11, "{name: api}");
  EXPECT_THAT(refusal(renamed),
              AllOf(HasSubstr("there is a container \"tenure\" already"),
                    HasSubstr("take it out with --uninject"), Not(HasSubstr("safely"))));
}

}  // namespace
}  // namespace tenure::manifest
