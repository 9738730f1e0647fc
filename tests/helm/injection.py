"""Pods to which the API server adds Tenure by the policies of helm/tenure-injection, and those that it refuses."""
import copy
import json
import re
import subprocess
import threading

import yaml

import charts
from charts import merged
from scene import PATIENCE, TENURE, WORK, Scene, until
from side_by_side import last

RELEASE = ("injection", "--namespace", "kube-system")


class Policy:
    """The release, which all tests share: it is of the whole cluster."""

    lock = threading.Lock()
    installed = False

    @classmethod
    def install(cls, on):
        with cls.lock:
            if not cls.installed:
                values = {"image": {"repository": TENURE, "tag": "1"}, "settings": {"log_level": "debug"}}
                done = charts.helm("install", *RELEASE, charts.INJECTION, "--values", "-", given=yaml.safe_dump(values),
                                   variables=on.variables())
                if done.returncode != 0:
                    raise AssertionError(done.stderr)
                cls.installed = True


def pod(*changes, annotations=None, labels=None):
    """A pod that can be injected, with these changes of its spec."""
    spec = {"containers": [{"name": "main", "image": WORK + ":1", "command": ["/bin/worker", "--flag"], "args": ["$(A)"],
                            "securityContext": {"runAsUser": 1000}}]}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web", "labels": {"tenure.dev/inject": "true"} if labels is None else labels,
                         "annotations": {"tenure.dev/election": "db", **(annotations or {})}},
            "spec": merged(spec, *changes)}


def main_with(**fields):
    """The containers of a pod whose only one has these fields, or no longer those that are None."""
    [main] = pod()["spec"]["containers"]
    return {"containers": [{key: value for key, value in {**main, **fields}.items() if value is not None}]}


MAIN = pod()["spec"]["containers"][0]
OTHER = {"name": "other", "image": "other"}
GET = {"httpGet": {"path": "/", "port": 80}}

# A part of the reason, the changes of the spec, and the annotations.
REFUSED = (
    ("annotation tenure.dev/election of the pod", {}, {"tenure.dev/election": ""}),
    ("annotation tenure.dev/election of the pod", {}, {"tenure.dev/election": "a b"}),
    ("annotation tenure.dev/container, one of main, other", {"containers": [MAIN, OTHER]}, {}),
    ("there is no container of the name in the annotation tenure.dev/container; these are: main", {},
     {"tenure.dev/container": "web"}),
    ("the main container has no command", main_with(command=None), {}),
    ("runs under tenure guard already", main_with(command=["/tenure-bin/tenure", "guard", "--", "/bin/worker"]), {}),
    ("or set securityContext.runAsUser", {"shareProcessNamespace": True, **main_with(securityContext=None)}, {}),
    ("user 0 is root, which runAsNonRoot forbids", main_with(securityContext={"runAsUser": 0, "runAsNonRoot": True}), {}),
    ("--health-http=", main_with(livenessProbe=GET), {}),
    ("--health-http=", main_with(startupProbe=GET), {}),
    ("is not Ready by its readinessProbe", main_with(readinessProbe=GET), {}),
    ("postStart would run", main_with(lifecycle={"postStart": {"exec": {"command": ["true"]}}}), {}),
    ("leave hostPID out", {"hostPID": True}, {}),
    ("Tenure runs on Linux only", {"nodeSelector": {"kubernetes.io/os": "windows"}}, {}),
    ("set automountServiceAccountToken to true", {"automountServiceAccountToken": False}, {}),
    ("there is a container tenure or tenure-install", {"initContainers": [{**OTHER, "name": "tenure-install"}]}, {}),
    ("there is a container tenure or tenure-install", {"initContainers": [{**OTHER, "name": "tenure"}]}, {}),
    ("there is a volume tenure-bin or tenure-run", {"volumes": [{"name": "tenure-run", "emptyDir": {}}]}, {}),
    ("a volume is mounted at /tenure-bin or /run/tenure",
     {"volumes": [{"name": "v", "emptyDir": {}}], **main_with(volumeMounts=[{"name": "v", "mountPath": "/run/tenure/v"}])}, {}),
    ("all ports from 8081 to 8096", main_with(ports=[{"containerPort": port} for port in range(8081, 8097)]), {}),
    ("is for words such as --ttl=6s", {}, {"tenure.dev/settings": "--ttl 6s"}),
    ("may not have --store", {}, {"tenure.dev/settings": "--ttl=6s --identity=a"}),
    ("may not have --store", {}, {"tenure.dev/settings": "--traffic=gate"}),
)


class Injection(Scene):
    """By the policies of the API server."""

    def setUp(self):
        super().setUp()
        self.overlay = "helm/tenure-injection"
        Policy.install(self.cluster)
        self.cluster.kubectl("label", "namespace", self.space, "tenure.dev/injection=enabled")
        until(self.is_in_force, "the policies are in force", PATIENCE)

    def is_in_force(self):
        """Nobody says when the API server has read policies and labels: before it has, a pod is refused, or stays as it was."""
        status, said = self.dry_run(pod())
        return status == 201 and "initContainers" in said["spec"]

    def dry_run(self, of):
        """Status and answer to the creation of an object that is not kept."""
        return self.cluster.api("POST", self.path("pods") + "?dryRun=All", of)

    def made(self, of):
        status, said = self.dry_run(of)
        self.assertEqual(status, 201, said)
        return self.without_token_names(said)

    @staticmethod
    def without_token_names(one):
        """The volume of the token has a new name in each pod."""
        [name] = [volume["name"] for volume in one["spec"]["volumes"] if volume["name"].startswith("kube-api-access-")]
        return json.loads(json.dumps(one).replace(name, "token"))

    def test_pods_are_as_tenure_inject_makes_them(self):
        volume = {"volumes": [{"name": "v", "emptyDir": {}}]}
        for what, one, words in (
                ("the least", pod(), ()),
                ("root", pod(main_with(securityContext={"runAsUser": 0})), ()),
                ("a user that nobody knows", pod(main_with(securityContext=None)), ()),
                ("processes that are shared", pod({"shareProcessNamespace": True}), ()),
                ("ports that are taken", pod({"initContainers": [{**OTHER, "ports": [{"containerPort": 8082}]}], **main_with(
                    ports=[{"containerPort": 8081}, {"containerPort": 80, "name": "tenure-probe"}])}), ()),
                ("a longer grace period", pod({"terminationGracePeriodSeconds": 60}), ()),
                *((f"{seconds} s of grace", pod({"terminationGracePeriodSeconds": seconds}), ()) for seconds in (0, 1, 3, 4, 5, 20)),
                ("lists that are there", pod({"initContainers": [OTHER], **volume,
                                              **main_with(volumeMounts=[{"name": "v", "mountPath": "/v"}])}), ()),
                ("several containers", pod({"containers": [OTHER, MAIN]}, annotations={"tenure.dev/container": "main"}),
                 ("--container=main",)),
                ("settings", pod(annotations={"tenure.dev/settings": " --ttl=6s\n--health-http=http://127.0.0.1:80/$(A) "}),
                 ("--ttl=6s", "--health-http=http://127.0.0.1:80/$(A)"))):
            with self.subTest(what):
                self.is_as_injected(one, *words)

    def is_as_injected(self, one, *words):
        """The API server makes of this pod what `tenure inject` does."""
        text = self.inject(yaml.safe_dump({**copy.deepcopy(one), "metadata": {"name": "web"}}), "--election=db",
                           f"--image={TENURE}:1", *words)
        theirs, ours = self.made(yaml.safe_load(text))["spec"], self.made(one)["spec"]
        [level] = [entry for entry in ours["initContainers"][1]["env"] if entry["name"] == "TENURE_LOG_LEVEL"]
        self.assertEqual(level["value"], "debug")
        ours["initContainers"][1]["env"].remove(level)
        for spec in (ours, theirs):
            spec["initContainers"][1]["env"].sort(key=lambda entry: entry["name"])
        self.assertEqual(ours, theirs)

    def test_pods_of_known_projects_are_as_tenure_inject_makes_them(self):
        """With their command written down and without the probes of the main container, which a policy refuses."""
        for file in sorted((charts.ROOT / "tests/unit/manifest/known").iterdir()):
            with self.subTest(file.name):
                text = file.read_text()
                flag, _, given = text.partition("\n")[0].removeprefix("# flag: --").partition("=")
                [template] = [found["spec"]["template"] for found in yaml.safe_load_all(text) if found and "spec" in found]
                spec = template["spec"]
                spec.pop("serviceAccountName", None)
                spec.pop("priorityClassName", None)
                spec["volumes"] = spec.get("volumes", []) + [
                    {"name": name, "emptyDir": {}} for name in ("cassandra-data", "data")]
                annotations, words = {}, []
                if flag == "container":
                    annotations, words = {"tenure.dev/container": given}, [f"--container={given}"]
                main = next(found for found in spec["containers"] if flag != "container" or found["name"] == given)
                if flag == "command":
                    main["command"] = given.split()
                for probe in ("livenessProbe", "startupProbe", "readinessProbe"):
                    main.pop(probe, None)
                self.is_as_injected({**pod(annotations=annotations), "spec": spec}, *words)

    def test_what_is_refused_is_what_tenure_inject_refuses(self):
        """But for the probes, which it takes out and says so."""
        for why, changes, annotations in REFUSED:
            if annotations:
                continue
            with self.subTest(why, changes=changes):
                one = {**pod(changes), "metadata": {"name": "web"}}
                done = subprocess.run([self.tenure, "inject", "-", "--election=db"], input=yaml.safe_dump(one),
                                      capture_output=True, text=True)
                is_probe = "--health-http=" in why or "readinessProbe" in why or "all ports" in why
                self.assertEqual(done.returncode, 0 if is_probe else 1, done.stderr)

    def test_what_the_document_shows_is_taken(self):
        [text] = re.findall(r"^```yaml\n(.*?)^```", (charts.ROOT / "docs/inject.md").read_text(), re.M | re.S)
        shown = yaml.safe_load(text)["spec"]["template"]["metadata"]
        made = self.made(pod(labels=shown["labels"], annotations=shown["annotations"]))
        self.assertEqual(made["spec"]["initContainers"][1]["args"], [
            "agent", "--store=kubernetes", "--election=web", "--ttl=6s", "--health-http=http://127.0.0.1:8080/healthz",
            "--guard-dir=/run/tenure"])
        version = yaml.safe_load((charts.INJECTION / "Chart.yaml").read_text())["appVersion"]
        self.assertEqual(made["metadata"]["annotations"]["tenure.dev/injected"], version)

    def test_a_user_of_the_pod_is_that_of_the_agent(self):
        spec = self.made(pod({**main_with(securityContext=None), "securityContext": {"runAsUser": 1001}}))["spec"]
        self.assertEqual([one["securityContext"].get("runAsUser") for one in spec["initContainers"]], [None, None])

    def test_pods_are_admitted_where_restricted_is_enforced(self):
        self.cluster.kubectl("label", "namespace", self.space, "pod-security.kubernetes.io/enforce=restricted")
        until(lambda: self.dry_run(pod())[0] == 403, "a pod that is not restricted is refused", PATIENCE)
        self.made(pod(main_with(securityContext={
            "runAsUser": 1000, "runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"}})))

    def test_the_api_server_has_no_doubts_about_the_expressions(self):
        for name in ("injection.tenure.dev", "workloads.injection.tenure.dev"):
            def status(name=name):
                one = self.cluster.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/" + name)
                return one.get("status", {}) if one["metadata"]["generation"] == one.get("status", {}).get("observedGeneration") \
                    else None
            self.assertEqual(until(status, f"{name} is checked", PATIENCE).get("typeChecking"), {}, name)

    def test_what_has_a_sidecar_or_no_label_is_not_touched(self):
        for what, one in (("of tenure inject", yaml.safe_load(self.inject(yaml.safe_dump(pod()), "--election=db"))),
                          ("of exec", pod(main_with(command=["/tenure-bin/tenure", "exec", "--", "/bin/worker"]))),
                          ("no label", pod(labels={})), ("another value", pod(labels={"tenure.dev/inject": "false"}))):
            with self.subTest(what):
                unlabelled = {**one, "metadata": {"name": "web"}}
                self.assertEqual(self.made(one)["spec"], self.made(unlabelled)["spec"])

    def test_what_cannot_be_done_is_refused(self):
        for why, changes, annotations in REFUSED:
            with self.subTest(why, changes=changes):
                self.refuses(pod(changes, annotations=annotations), why)
        # All reasons at once, and no other ones.
        said = self.refuses(pod({"hostPID": True, **main_with(command=None)}), "leave hostPID out")
        self.assertIn("the main container has no command", said)
        self.assertEqual(said.count(";"), 1, said)
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "1"}
        self.refuses(merged(pod(), {"metadata": {"ownerReferences": [owner]}}), "use tenure exec in the image")
        self.cluster.sent("POST", self.path("serviceaccounts"),
                          {"metadata": {"name": "mute"}, "automountServiceAccountToken": False})
        until(lambda: "set it to true in the pod" in str(self.dry_run(pod({"serviceAccountName": "mute"}))[1]),
              "an account without a token is refused", PATIENCE)
        self.cluster.kubectl("label", "namespace", self.space, "tenure.dev/injection-")
        until(lambda: "no label tenure.dev/injection=enabled" in str(self.dry_run(pod())[1]),
              "a namespace that has not opted in is refused", PATIENCE)

    def refuses(self, one, why):
        """What it says."""
        status, said = self.dry_run(one)
        self.assertEqual(status, 422, said)
        self.assertIn(why, said["message"])
        return said["message"].partition("Tenure cannot be added to this pod: ")[2]

    # Pods that run --------------------------------------------------------------------------------

    def deployment(self, labels, more=None, name="db"):
        """The workload of the tests without a word about Tenure but in its labels and annotations."""
        labels = {"app": name, **labels}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": labels, "annotations": {"tenure.dev/election": "db", "tenure.dev/settings": "--ttl=6s"}},
                "spec": {"serviceAccountName": "db", "volumes": [{"name": "stamps", "hostPath": {"path": str(self.stamps)}}],
                         "containers": [{
                             "name": "main", "image": WORK + ":1",
                             "command": ["/bin/worker", "/stamps", "$(POD_NAME)", "obedient"],
                             "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                             "securityContext": {"runAsUser": 65532},
                             "volumeMounts": [{"name": "stamps", "mountPath": "/stamps"}], **(more or {})}]}}}}

    def idle(self, name):
        """A Deployment that nothing has to be added to."""
        return self.deployment({}, {"command": ["/bin/sleep", "1000"]}, name)

    def apply_objects(self, *objects):
        """What kubectl says of it on standard error."""
        done = self.cluster.kubectl("apply", "-n", self.space, "-f", "-", check=False,
                                    given=yaml.safe_dump_all(objects))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_deployment_with_the_label_fails_over(self):
        self.cluster.kubectl("create", "serviceaccount", "db", "-n", self.space)
        self.cluster.kubectl("create", "rolebinding", "tenure", "-n", self.space, "--clusterrole=tenure-member",
                             f"--serviceaccount={self.space}:db")
        said = self.apply_objects(self.deployment({"tenure.dev/inject": "true"}), self.idle("idle"))
        self.assertEqual(said, "")
        until(lambda: len(self.of("db")) == 2 and len(self.of("idle")) == 2, "all pods are made", PATIENCE)
        active = self.becomes_active()
        [other] = set(self.of("db")) - {active}
        until(lambda: self.is_standby(other) and self.is_listed(other), "the other one stands by", PATIENCE)
        until(lambda: all(map(self.runs, self.of("idle"))), "the others run", PATIENCE)
        for one in self.of("idle").values():
            self.assertNotIn("initContainers", one["spec"])
        self.delete(active)
        self.assertEqual(self.becomes_active([active]), other)
        self.judge()

    def runs(self, name):
        return (self.status_of(name, "main") or {}).get("ready", False)

    def of(self, app):
        return {name: one for name, one in self.pods().items() if one["metadata"]["labels"]["app"] == app}

    def test_who_applies_a_workload_that_is_refused_is_told(self):
        self.cluster.kubectl("create", "serviceaccount", "db", "-n", self.space)
        said = self.apply_objects(self.deployment({"tenure.dev/inject": "true"}, {"livenessProbe": GET}))
        self.assertIn("Tenure cannot be added to its pods, which will be refused: the command does not run on a standby", said)

        def failure():
            status = self.cluster.get(self.path("deployments", "db"))["status"]
            return next((one["message"] for one in status.get("conditions", []) if one["type"] == "ReplicaFailure"), "")
        until(lambda: "Tenure cannot be added to this pod: the command does not run on a standby" in failure(),
              "the Deployment says why it has no pods", PATIENCE)
        self.assertEqual(self.pods(), {})

    @last
    def test_after_the_release_has_ended_pods_with_the_label_are_refused_and_others_run(self):
        self.uninstall()
        Policy.install(self.cluster)
        until(lambda: self.dry_run(pod())[0] == 201, "the next release adds Tenure again", PATIENCE)
        self.uninstall()
        self.cluster.kubectl("create", "serviceaccount", "db", "-n", self.space)
        self.assertEqual(self.apply_objects(self.idle("idle")), "")
        until(lambda: len(self.pods()) == 2 and all(map(self.runs, self.pods())), "pods without the label run", PATIENCE)
        kinds = ("mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingadmissionpolicies,"
                 "validatingadmissionpolicybindings,clusterroles")
        left = self.cluster.kubectl("get", kinds, "-l", "app.kubernetes.io/name=tenure-injection", "-o", "name").split()
        self.assertEqual(left, ["validatingadmissionpolicy.admissionregistration.k8s.io/injection.tenure.dev",
                                "validatingadmissionpolicybinding.admissionregistration.k8s.io/injection.tenure.dev"])
        # docs/inject.md: how to get rid of it.
        self.cluster.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "injection.tenure.dev")
        until(lambda: self.dry_run(pod())[0] == 201, "nothing is refused", PATIENCE)
        self.assertNotIn("initContainers", self.made(pod())["spec"])

    def uninstall(self):
        done = charts.helm("uninstall", *RELEASE, variables=self.cluster.variables())
        self.assertEqual(done.returncode, 0, done.stderr)
        Policy.installed = False
        until(lambda: "no policy has added Tenure to this pod" in str(self.dry_run(pod())[1]), "pods are refused", PATIENCE)
