#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "unit/manifest/scene.hpp"

/// Manifests as people write them.
namespace tenure::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using tests::expect_golden;

struct manifest_text {
  std::string name;
  std::string text;
  std::string workload{};
  std::string container{};
};

void PrintTo(const manifest_text& one, std::ostream* to) {
  *to << one.name;
}

const std::string minimal = R"(apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
    - name: main
      image: busybox
      command: [sleep, "1000"]
)";

std::string with_dos_lines(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

std::vector<manifest_text> manifests() {
  return {
      {"Minimal", minimal},
      {"NoEndOfTheLastLine", minimal.substr(0, minimal.size() - 1)},
      {"LinesOfDos", with_dos_lines(minimal)},
      {"ByteOrderMark", "\xef\xbb\xbf" + minimal},
      {"MarkerInFront", "---\n" + minimal},
      {"CommentsAndMarkers", "# a licence\n\n---  # first\n# about it\n" + minimal + "...\n---\n"},
      {"Directive", "%YAML 1.2\n---\n" + minimal},
      {"CommentsAndQuotes", R"(# The web server.
"apiVersion": apps/v1
'kind': "Deployment"
metadata:
    name: 'web'   # its name

    labels: {app: web}   # ümlaut
    annotations:
        note: |
            # not a comment
              - name: x
            last
spec:
    replicas: 2
    template:
        metadata:
            labels: {app: web}
        spec:
            # What runs.
            # Two lines of it.
            "containers":
                # The first.
                -   name: main      # ünd
                    image: "busybox:1.36"
                    # For ever.
                    'command':
                        # Not the shell.
                        - "sleep"
                        - '1000'
                    resources:

                        requests: {cpu: 10m}   
            terminationGracePeriodSeconds: 60
)"},
      {"ListsThatAreNotIndented", R"(apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: web
spec:
  template:
    spec:
      initContainers:
      # before all
      - image: busybox
        name: prepare
        command: [mkdir, /x]
      containers:
      - command:
        - sh
        - -c
        - |
          # a comment of the shell
          exec sleep 1000
        name: main
        image: busybox
        volumeMounts:
        - mountPath: /stamps
          name: stamps
      volumes:
      - hostPath:
          path: /stamps
        name: stamps
)"},
      {"ListsInBrackets", R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  template:
    spec:
      volumes: [{name: a, emptyDir: {}}]
      containers:
        - name: main
          volumeMounts: [ {name: a, mountPath: /a},
                          {name: a, mountPath: /b} ]
          command: [
            sleep,   # a while
            "1000"
          ]
)"},
      {"EmptyLists", R"(kind: Pod
metadata: {name: web}
spec:
  initContainers: []   # none
  containers:
  - name: main
    volumeMounts:
    command:
      [ "sleep", "1" ]
  volumes: null)"},
      {"EmptyListsOfDos", with_dos_lines(R"(kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: main
    command: ["sleep", "1"]
    volumeMounts: ~
  initContainers:
  volumes: [ ])")},
      {"AnchorsElsewhere",
       R"(kind: Pod
metadata:
  name: web
  labels: &labels {app: &name web}
  annotations: *labels
spec:
  securityContext: &secure
    runAsUser: 1000
  containers:
    - name: main
      command: &sleep [sleep, "1"]
      securityContext: *secure
      env: &env
        - &one
          name: A
          value: *name
    - name: other
      env: *env
  volumes: &none
    # a comment
    - name: x
      emptyDir: {}
)",
       {},
       "main"},
      {"SeveralContainers",
       R"(kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: other
      image: a
      command: [other]
    -
      name: main
      command: [main]
    - # a comment
      name: third
)",
       {},
       "main"},
      {"CommandFirst", R"(kind: Pod
metadata: {name: web}
spec:
  containers:
    - command: ["a"]
      name: main
)"},
      {"SeveralDocuments",
       "kind: ConfigMap\nmetadata: {name: web}\ndata: {a: '---'}\n--- \n" + minimal +
           "---\nkind: Deployment\nmetadata: {name: other}\nspec: {}\n",
       "Pod/web"},
      {"PodTemplate", R"(kind: PodTemplate
metadata: {name: web}
template:
  metadata: {}
  spec:
    containers: 
    - name: main
      command: 
      - a
)"},
      {"List", R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: web}
# the pods
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    namespace: team
  spec:
    template:
      spec:
        serviceAccountName: web
        containers:
        - name: main
          command: [a]
- kind: Deployment
  metadata: {name: other}
)",
       "web"},
      {"ListOfItsOwnKind", R"(kind: DeploymentList
items:
  -
    kind: Deployment
    metadata:
      generateName: web-
    spec:
      template:
        spec:
          containers:
          - name: main
            command: [a]
)"},
      {"LongTextsAndTags", R"(kind: Pod
metadata:
  name: web
  annotations:
    long: "one
      # not a comment
      two"
    folded: >-
      a

      # not a comment either
    binary: !!binary aGk=
    plain: one
      two
spec:
  containers:
    - name: main
      command: !!seq
      - "a
        b"
      - -x
)"},
  };
}

injection how_of(const manifest_text& one) {
  injection out = usual();
  out.workload = one.workload;
  out.choices.container = one.container;
  return out;
}

class RoundTrip : public testing::TestWithParam<manifest_text> {};

TEST_P(RoundTrip, UninjectGivesBackWhatWasThereByteForByte) {
  for (const bool adds_rights : {false, true}) {
    injection how = how_of(GetParam());
    how.what.adds_rights = adds_rights;
    const std::string out = injected_text(GetParam().text, how);
    EXPECT_NE(out, GetParam().text);
    EXPECT_EQ(plain_text(out), GetParam().text) << out;
    EXPECT_EQ(plain_text(out, "web"),
              GetParam().name == "ListOfItsOwnKind" ? out : GetParam().text);
    EXPECT_EQ(plain_text(out, "Deployment/nobody"), out);
  }
}

TEST_P(RoundTrip, ASecondTimeChangesNothing) {
  injection how = how_of(GetParam());
  how.what.adds_rights = true;
  const std::string out = injected_text(GetParam().text, how);
  EXPECT_EQ(injected_text(out, how), out);
}

TEST_P(RoundTrip, OtherSettingsReplaceTheFirst) {
  injection first = how_of(GetParam());
  first.what.adds_rights = true;
  injection second = how_of(GetParam());
  second.what.image = "tenure:2";
  second.what.settings.emplace_back("--ttl=6s");
  EXPECT_EQ(injected_text(injected_text(GetParam().text, first), second),
            injected_text(GetParam().text, second));
}

TEST_P(RoundTrip, NoLineIsChangedButThatOfACommandInBrackets) {
  const std::string out = injected_text(GetParam().text, how_of(GetParam()));
  std::size_t at = 0;
  std::size_t changed = 0;
  for (std::size_t begin = 0; begin < GetParam().text.size();) {
    const std::string line(GetParam().text, begin, GetParam().text.find('\n', begin) + 1 - begin);
    begin += line.size();
    const std::size_t found = out.find(line, at);
    if (found == std::string::npos) {
      ++changed;
    } else {
      at = found + line.size();
    }
  }
  EXPECT_LE(changed, 3U) << out;
}

TEST_P(RoundTrip, LinesEndAsThoseThatWereThere) {
  const std::string& text = GetParam().text;
  const std::string out = injected_text(text, how_of(GetParam()));
  const bool is_dos = text.contains('\r');
  EXPECT_EQ(std::ranges::count(out, '\r'), is_dos ? std::ranges::count(out, '\n') : 0);
  EXPECT_EQ(out.ends_with('\n'), text.ends_with('\n'));
}

INSTANTIATE_TEST_SUITE_P(Manifests, RoundTrip, testing::ValuesIn(manifests()),
                         [](const auto& one) { return one.param.name; });

TEST(Inject, CommentsStayAboveWhatTheyAreAbout) {
  const std::string out = injected_text(R"(kind: Pod
metadata: {name: web}
spec:
  # What runs.
  containers:
    - name: main
      # For ever.
      command:
        # Not the shell.
        - sleep
)");
  EXPECT_THAT(out,
              AllOf(HasSubstr("inject: end Pod/web\n  # What runs.\n  containers:\n"),
                    HasSubstr("inject: end Pod/web\n      # For ever.\n      command:\n"),
                    HasSubstr("inject: end Pod/web\n        # Not the shell.\n        - sleep")));
}

TEST(Inject, CommandInBracketsKeepsItsWayOfQuoting) {
  EXPECT_THAT(injected_text(minimal),
              HasSubstr("command: [/tenure-bin/tenure, guard, --dir=/run/tenure, --, sleep, "
                        "\"1000\"]\n"));
  std::string quoted = minimal;
  quoted.replace(quoted.find("[sleep"), 6, "[\"sleep\"");
  EXPECT_THAT(injected_text(quoted),
              HasSubstr("command: [\"/tenure-bin/tenure\", \"guard\", \"--dir=/run/tenure\", "
                        "\"--\", \"sleep\", \"1000\"]\n"));
}

TEST(Inject, WhatAPersonChangesAfterwardsStays) {
  std::string out = injected_text(minimal);
  out.replace(out.find("\"1000\""), 6, "\"2000\"");
  std::string wanted = minimal;
  wanted.replace(wanted.find("\"1000\""), 6, "\"2000\"");
  EXPECT_EQ(plain_text(out), wanted);
  EXPECT_EQ(injected_text(out), out);
}

TEST(Inject, DrainFitsIntoTheGracePeriodOfThePod) {
  const auto with_grace = [](const std::string& seconds) {
    return injected_text(minimal + "  terminationGracePeriodSeconds: " + seconds + "\n");
  };
  EXPECT_THAT(with_grace("30"), Not(HasSubstr("--drain")));
  EXPECT_THAT(with_grace("600"), HasSubstr("--dir=/run/tenure, --drain=590s, --, sleep"));
  EXPECT_THAT(with_grace("10"), HasSubstr("--drain=7s"));
  EXPECT_THAT(with_grace("5"), HasSubstr("--drain=3s"));
  EXPECT_THAT(with_grace("3"), HasSubstr("--drain=1500ms"));
  EXPECT_THAT(with_grace("1"), HasSubstr("--drain=500ms"));
  EXPECT_THAT(with_grace("0"), Not(HasSubstr("--drain")));
}

TEST(Inject, SidecarRunsAsTheUserOfTheMainContainer) {
  injection unknown = usual();
  unknown.choices.user.reset();
  // The pod's user is that of the sidecar, too.
  const std::string of_pod = minimal + "  securityContext: {runAsUser: 1000}\n";
  EXPECT_THAT(injected_text(of_pod, unknown), Not(HasSubstr("  runAsUser:")));
  const std::string of_container = of_pod + "    \n";
  std::string both = of_pod;
  both.insert(both.find("      image"), "      securityContext: {runAsUser: 0}\n");
  EXPECT_THAT(injected_text(both, unknown),
              AllOf(HasSubstr("  runAsUser: 0\n"), Not(HasSubstr("runAsNonRoot"))));
  EXPECT_THAT(injected_text(minimal), HasSubstr("  runAsUser: 1000\n        runAsNonRoot: true\n"));
}

/// Nobody knows the user, so both meet where the install step has made a place for them.
TEST(Inject, SidecarRunsAsTheUserOfItsOwnImageWhereTheOtherIsNotKnown) {
  injection unknown = usual();
  unknown.choices.user.reset();
  const std::string out = injected_text(minimal, unknown);
  EXPECT_THAT(out, AllOf(HasSubstr("args: [install, /tenure-bin, --guard-dir=/run/tenure/guard]\n"),
                         HasSubstr("        - {name: tenure-bin, mountPath: /tenure-bin}\n"
                                   "        - {name: tenure-run, mountPath: /run/tenure}\n"),
                         HasSubstr("--election=db, --guard-dir=/run/tenure/guard]\n"),
                         HasSubstr("guard, --dir=/run/tenure/guard, --agent-uid=65532, --, sleep"),
                         HasSubstr("      securityContext:\n        runAsNonRoot: true\n"),
                         Not(HasSubstr("  runAsUser:"))));
  EXPECT_EQ(plain_text(out), minimal);
  EXPECT_EQ(injected_text(out, unknown), out);
}

TEST(Inject, SettingsAreArgumentsThatKubernetesAndYamlLeaveAlone) {
  injection how = usual();
  how.what.settings = {"--election=db", "--health-http=http://127.0.0.1:80/a?b={c}",
                       "--x=$(HOME) \"\\", "--ttl=6s"};
  EXPECT_THAT(injected_text(minimal, how),
              HasSubstr("args: [agent, --election=db, "
                        "\"--health-http=http://127.0.0.1:80/a?b={c}\", \"--x=$$(HOME) \\\"\\\\\", "
                        "--ttl=6s, --guard-dir=/run/tenure]\n"));
}

TEST(Inject, VolumesOfThePodAreMountedForTheAgent) {
  injection how = usual();
  how.what.mounts = {{"tls", "/etc/tls"}};
  EXPECT_THAT(
      injected_text(minimal + "  volumes:\n    - {name: tls, secret: {secretName: a}}\n", how),
      HasSubstr("        - {name: tls, mountPath: /etc/tls, readOnly: true}\n"));
  expect_golden(refusal(minimal, how));
}

TEST(Inject, RightsAreThoseThatTheAgentNeeds) {
  injection how = usual();
  how.what.adds_rights = true;
  how.what.needs = {.leases = false, .events = true, .slices = {"db"}};
  const std::string out =
      injected_text("kind: Pod\nmetadata:\n  name: web\n  namespace: team\n" +
                        minimal.substr(minimal.find("spec:")) + "  serviceAccountName: web\n",
                    how);
  EXPECT_THAT(out, StartsWith(R"(# tenure.dev/inject: begin Pod/web
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: web-tenure
  namespace: team
rules:
  - apiGroups: [discovery.k8s.io]
    resources: [endpointslices]
    resourceNames: [db]
    verbs: [get, patch]
  - apiGroups: [discovery.k8s.io]
    resources: [endpointslices]
    verbs: [list]
  - apiGroups: [events.k8s.io]
    resources: [events]
    verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: web-tenure
  namespace: team
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: web-tenure
subjects:
  - kind: ServiceAccount
    name: web
---
# tenure.dev/inject: end Pod/web
kind: Pod
)"));
}

TEST(Inject, RightsInAListAreItemsOfIt) {
  injection how = usual();
  how.what.adds_rights = true;
  EXPECT_THAT(injected_text("kind: List\nitems:\n  - kind: Pod\n    metadata: {name: web}\n"
                            "    spec:\n      containers:\n        - name: main\n"
                            "          command: [a]\n",
                            how),
              StartsWith("kind: List\nitems:\n  # tenure.dev/inject: begin Pod/web\n"
                         "  - apiVersion: rbac.authorization.k8s.io/v1\n    kind: Role\n"
                         "    metadata:\n      name: web-tenure\n"));
}

TEST(Inject, EachWorkloadOfAFileCanHaveItsOwn) {
  std::string other = minimal;
  other.replace(other.find("name: web"), 9, "name: api");
  const std::string both = minimal + "---\n" + other;
  injection web = usual();
  web.workload = "web";
  web.what.adds_rights = true;
  injection api = web;
  api.workload = "Pod/api";
  api.what.settings = {"--election=api"};
  const std::string out = injected_text(injected_text(both, web), api);
  EXPECT_THAT(out, AllOf(HasSubstr("--election=db"), HasSubstr("--election=api")));
  EXPECT_EQ(injected_text(out, web), out);
  EXPECT_EQ(injected_text(out, api), out);
  EXPECT_EQ(plain_text(out), both);
  EXPECT_EQ(plain_text(out, "api"), injected_text(both, web));
  EXPECT_EQ(plain_text(out, "web"), injected_text(both, api));
}

TEST(Inject, NotesSayWhatIsWorthKnowing) {
  injection how = usual();
  how.what.adds_rights = true;
  const std::string deployment =
      "kind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n"
      "    spec:\n      containers:\n      - name: main\n        command: [a]\n";
  const auto done = inject({"web.yaml", deployment}, how);
  ASSERT_TRUE(done);
  EXPECT_THAT(
      lines(done->notes),
      AllOf(HasSubstr("there is one pod, so nobody stands by; set replicas to 2"),
            HasSubstr("web.yaml:6:7: the rights go to ServiceAccount \"default\"; every pod of "
                      "the namespace that names no ServiceAccount gets them, too")));
}

TEST(Inject, GracePeriodThatIsTooShortIsWorthKnowing) {
  const auto with_grace = [](const std::string& seconds) {
    return notes_of(minimal + "  terminationGracePeriodSeconds: " + seconds + "\n");
  };
  EXPECT_THAT(with_grace("0"), AllOf(HasSubstr("web.yaml:10:34: with terminationGracePeriodSeconds "
                                               "0 the kubelet kills all containers at once"),
                                     HasSubstr("no lease is released")));
  EXPECT_THAT(with_grace("3"), HasSubstr("killed after half of that (--drain=1500ms)"));
  EXPECT_EQ(with_grace("4"), "");
}

TEST(Inject, ContainersHaveTheResourcesThatAreGiven) {
  injection how = usual();
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t out = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++out;
    }
    return out;
  };
  const std::string usually = injected_text(minimal);
  EXPECT_EQ(count(usually, "    requests: {cpu: 10m, memory: 16Mi}\n"), 2U) << usually;
  EXPECT_EQ(count(usually, "    limits: {memory: 32Mi}\n"), 2U) << usually;
  how.what.limits = {{"cpu", "100m"}, {"memory", "32Mi"}};
  how.what.requests = how.what.limits;
  EXPECT_EQ(count(injected_text(minimal, how), ": {cpu: 100m, memory: 32Mi}\n"), 4U);
}

TEST(Inject, PodThatIsNoLongerGuaranteedIsWorthKnowing) {
  const std::string guaranteed =
      minimal + "      resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1}}\n";
  EXPECT_THAT(notes_of(guaranteed), HasSubstr("becomes Burstable"));
  injection how = usual();
  how.what.limits = how.what.requests;
  EXPECT_EQ(notes_of(guaranteed, how), "");
  for (const std::string_view burstable :
       {"{limits: {cpu: 1}}", "{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}",
        "{requests: {cpu: 1, memory: 1Gi}}"}) {
    EXPECT_EQ(notes_of(minimal + "      resources: " + std::string(burstable) + "\n"), "");
  }
}

TEST(Inject, CommandOfTheImageIsWrittenDown) {
  injection how = usual();
  how.choices.command = {"/bin/server", "--name=a b", "yes"};
  const std::string guarded =
      "command:\n        - /tenure-bin/tenure\n        - guard\n        - --dir=/run/tenure\n"
      "        - --\n        - /bin/server\n        - \"--name=a b\"\n        - \"yes\"\n";
  const std::string head = "kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n";
  for (const std::string main :
       {"    - name: main\n      args: [\"1\"]\n",
        "    - name: main\n      image: a\n      command: []\n",
        "    - image: a\n      name: main\n      command:\n      ports: []\n"}) {
    std::string text = head;
    text += main;
    const std::string out = injected_text(text, how);
    EXPECT_THAT(out, HasSubstr(guarded)) << main;
    EXPECT_EQ(plain_text(out), text);
    EXPECT_EQ(injected_text(out, how), out);
  }
}

/// A Deployment whose template has these lines of metadata.
std::string labelled(const std::string& metadata, const std::string& spec = {}) {
  return "kind: Deployment\nmetadata: {name: web}\nspec:\n" + spec + "  template:\n" + metadata +
         "    spec:\n      containers:\n        - name: main\n          command: [a]\n";
}

TEST(Inject, PodsGetTheLabelByWhichTheyAreNamed) {
  injection how = usual();
  how.what.election = "db";
  how.what.needs.labels = true;
  how.what.adds_rights = true;
  for (const std::string metadata :
       {"    metadata:\n      labels:\n        app: web\n",
        "    metadata:\n      labels: {app: web}\n", "    metadata: {labels: {app: web}}\n"}) {
    const std::string text = labelled(metadata);
    const std::string out = injected_text(text, how);
    EXPECT_THAT(out, HasSubstr("tenure.dev/election: db")) << metadata;
    EXPECT_THAT(out, HasSubstr("resources: [pods]\n    verbs: [get, list, patch]\n"));
    EXPECT_EQ(plain_text(out), text);
    EXPECT_EQ(injected_text(out, how), out);
  }
  const std::string there =
      labelled("    metadata:\n      labels: {app: web, tenure.dev/election: db}\n");
  EXPECT_EQ(plain_text(injected_text(there, how)), there);
}

TEST(Inject, PodsGetTheGateThatTheActiveOnePasses) {
  injection how = usual();
  how.what.election = "db";
  how.what.needs.conditions = true;
  const std::string metadata = "    metadata:\n      labels: {app: web}\n";
  const std::string out = injected_text(labelled(metadata, "  strategy: {type: Recreate}\n"), how);
  EXPECT_THAT(out, AllOf(HasSubstr("readinessGates:\n        - conditionType: tenure.dev/active\n"),
                         HasSubstr("tenure.dev/election: db, app: web}")));
}

TEST(Inject, AgentAsksWhatTheKubeletWouldHaveAsked) {
  const std::string head =
      "kind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n"
      "  - name: main\n    image: a\n";
  const std::string tail = "    command: [a]\n    ports: [{name: web, containerPort: 80}]\n";
  const std::string probe =
      "    # Is it alive?\n    livenessProbe:\n      httpGet:\n"
      "        path: /livez?a=b\n        port: web\n\n"
      "      periodSeconds: 5\n      failureThreshold: 2\n\n";
  const std::string startup =
      "    startupProbe: {httpGet: {port: 80}, periodSeconds: 1,\n"
      "      failureThreshold: 30}\n";
  for (const std::string& text : {head + probe + startup + tail, head + tail + startup + probe}) {
    const std::string out = injected_text(text);
    EXPECT_THAT(out, AllOf(HasSubstr("\"--health-http=http://127.0.0.1:80/livez?a=b\", "
                                     "--health-interval=5s, --health-timeout=1s, "
                                     "--health-failures=2, --health-delay=30s"),
                           HasSubstr("    # tenure.dev/inject: was     livenessProbe:\n"
                                     "    # tenure.dev/inject: was       httpGet:\n")))
        << out;
    EXPECT_EQ(plain_text(out), text);
    EXPECT_EQ(injected_text(out), out);
    EXPECT_THAT(notes_of(text),
                HasSubstr("livenessProbe and startupProbe of the main container would fail on a "
                          "standby: the agent asks instead"));
  }
  injection own = usual();
  own.what.settings.emplace_back("--health-file=/a");
  EXPECT_THAT(injected_text(head + probe + tail, own), Not(HasSubstr("--health-http")));
  EXPECT_THAT(injected_text(head + startup + tail),
              HasSubstr("--health-http=http://127.0.0.1:80/, --health-interval=1s, "));
}

TEST(Inject, PortThatAContainerHasGivesWay) {
  const std::string taken =
      minimal + "      ports: [{containerPort: 8081}, {containerPort: 8082}]\n";
  EXPECT_THAT(injected_text(taken),
              AllOf(HasSubstr("--probe-listen=0.0.0.0:8083"), HasSubstr("containerPort: 8083}")));
  EXPECT_THAT(notes_of(taken), HasSubstr("so the agent answers probes on 8083"));
  EXPECT_THAT(injected_text(minimal), Not(HasSubstr("--probe-listen")));
}

TEST(Inject, RightsGoToTheAccountUnderItsOldNameToo) {
  injection how = usual();
  how.what.adds_rights = true;
  for (const std::string key : {"serviceAccountName", "serviceAccount"}) {
    const auto done = inject({"web.yaml", minimal + "  " + key + ": robot\n"}, how);
    ASSERT_TRUE(done);
    EXPECT_THAT(lines(done->notes), testing::Not(HasSubstr("ServiceAccount \"default\"")));
    EXPECT_THAT(done->text, HasSubstr("name: robot"));
  }
}

TEST(Inject, PortsOfTheNodeAreWorthKnowing) {
  const auto done = inject({"web.yaml", minimal + "  hostNetwork: true\n"}, usual());
  ASSERT_TRUE(done);
  EXPECT_THAT(lines(done->notes),
              HasSubstr("web.yaml:10:16: with hostNetwork, the agent listens on "
                        "the node's port 8081"));
}

}  // namespace
}  // namespace tenure::manifest
