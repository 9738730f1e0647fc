#!/usr/bin/env python3
"""install_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: releases of helm/tenure on a real Kubernetes."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "k8s"))
import charts  # noqa: E402
import cluster  # noqa: E402
import shown  # noqa: E402
from charts import merged, values_of  # noqa: E402
from injection import Injection  # noqa: E402, F401
from scene import (FRESH_NS, PATIENCE, TENURE, WORK, Scene, main, now_ns, record, until, work_at_once,  # noqa: E402
                   work_on_signal)

# The kinds of which a chart, an agent or a controller may leave objects in a namespace.
KINDS = ("deployments,replicasets,statefulsets,pods,services,endpointslices,serviceaccounts,roles,rolebindings,configmaps,"
         "secrets,poddisruptionbudgets,networkpolicies,leases")


class Release(Scene):
    """A namespace, and a release in it."""

    release = "db"

    def setUp(self):
        super().setUp()
        self.overlay = "helm/tenure"

    def helm(self, *words, given=None, check=True):
        """The ended process."""
        done = charts.helm(*words, "--namespace", self.space, given=given, variables=self.cluster.variables())
        if check and done.returncode != 0:
            raise AssertionError(f"helm {' '.join(map(str, words))}: {done.stderr}")
        return done

    def values(self, mode="guard", way="endpoints", worker="obedient", **more):
        """The workload of the tests, which stamps."""
        # Who does not know its version gets one that says nothing.
        command = ["/bin/worker", "/stamps", "$(POD_NAME)", worker]
        if mode == "exit-code":
            command = work_at_once(worker)
        if mode == "signal":
            command = work_on_signal(worker)
            more = merged({"tenure": {"stop": {"signal": {"commandLine": "/bin/sh -c trap"}}}}, more)
        return merged(values_of(mode, way), {
            "image": {"repository": WORK, "tag": "1"}, "command": command, "args": [],
            "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "volumes": [{"name": "stamps", "hostPath": {"path": str(self.stamps)}}],
            "volumeMounts": [{"name": "stamps", "mountPath": "/stamps"}],
            "tenure": {"image": {"repository": TENURE, "tag": "1"}, "ttl": "15s" if mode == "exit-code" else "6s"}}, more)

    def install(self, values, *words):
        self.knows_its_version = values["tenure"]["stop"]["mode"] not in ("signal", "exit-code")
        return self.helm("install", self.release, charts.CHART, "--values", "-", *words, given=yaml.safe_dump(values)).stdout

    def upgrade(self, values, *words, chart=charts.CHART):
        self.helm("upgrade", self.release, chart, "--values", "-", *words, given=yaml.safe_dump(values))

    def rolled_to(self, tag, replicas=2):
        """All pods have that image of the workload, and one of them is active."""
        self.all_pods_are_of(tag, replicas)
        return self.becomes_active()

    def named(self):
        """Whom the slice of the Service names."""
        return set().union(*(shown.endpoints(one) for one in self.cluster.get(self.path("endpointslices"))["items"]))


class Admitted(Release):
    """What an API server says of each, before anything runs."""

    def test_a_server_takes_each(self):
        def apply(one):
            what, values = one
            text = charts.template(values, "--no-hooks", space=self.space)
            done = self.cluster.kubectl("apply", "--dry-run=server", "-n", self.space, "-f", "-", given=text.stdout, check=False)
            return what, text.stderr + done.stderr
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = [(what, why) for what, why in pool.map(apply, charts.matrix()) if why]
        self.assertEqual(said, [])

    def test_pods_are_admitted_where_restricted_is_enforced(self):
        self.cluster.kubectl("label", "namespace", self.space, "pod-security.kubernetes.io/enforce=restricted")
        for what, values in charts.matrix():
            if what == "everything":
                continue  # it has containers of somebody else's
            objects = [one for one in yaml.safe_load_all(charts.template(values, space=self.space).stdout) if one]
            template = charts.workload(objects)["spec"]["template"]
            test = [one for one in objects if one["kind"] == "Pod"]
            for one in (template, *test):
                with self.subTest(f"{what} {one.get('kind', 'template')}"):
                    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                           "spec": {**one["spec"], "serviceAccountName": "default"}}
                    status, said = self.cluster.api("POST", self.path("pods") + "?dryRun=All", pod)
                    self.assertEqual(status, 201, said)
        pod["spec"]["containers"][0]["securityContext"] = {}
        self.assertEqual(self.cluster.api("POST", self.path("pods") + "?dryRun=All", pod)[0], 403, "nothing is enforced")


class Lifecycle(Release):
    """From the installation to the end."""

    def test_what_the_notes_say_shows_who_leads_and_kills_it(self):
        said = self.install(self.values(), "--wait", f"--timeout={PATIENCE}s")
        active, others = self.active_and_standby()
        commands = [line.strip() for line in said.splitlines() if line.startswith("    kubectl ")]
        self.assertEqual(len(commands), 3, said)
        lease, status, kill = commands
        self.assertIn(active + "_tenure-", self.shell(lease))
        self.assertRegex(self.shell(status), rf"(?m)^db +\S+ +\S+ +{active} ")
        self.shell(kill + " --wait=false")
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_what_readme_says_installs_shows_kills_upgrades_and_uninstalls(self):
        install, lease, kill, upgrade, uninstall = charts.readme_commands()
        # The program of the tests takes the place of the reader's, and stamps.
        values = self.values()
        more = self.cluster.folder / (self.space + ".yaml")
        more.write_text(yaml.safe_dump({"env": values["env"], "volumes": values["volumes"], "volumeMounts": values["volumeMounts"],
                                        "image": {"tag": "1"}, "tenure": {"image": {"tag": "1"}}}))
        for example, ours in (("registry.example/work", WORK), ("registry.example/tenure", TENURE),
                              ("{/bin/work}", "{/bin/worker,/stamps,$(POD_NAME),obedient}")):
            self.assertIn(example, install)
            install = install.replace(example, ours)
        self.as_a_reader(f"{install} --values {more}")
        active, others = self.active_and_standby()
        self.assertIn(active + "_tenure-", self.as_a_reader(lease))
        self.assertIn(" POD", kill)
        self.as_a_reader(kill.replace(" POD", " " + active))
        self.assertIn(self.becomes_active([active]), others)
        self.as_a_reader(upgrade)
        self.rolled_to(":2")
        self.judge(least_terms=3)
        self.as_a_reader(uninstall)
        until(lambda: not self.pods(), "no pod is left", PATIENCE)

    def as_a_reader(self, command):
        """In the directory of the project, with this namespace as the one of the context."""
        settings = self.cluster.folder / (self.space + ".kubeconfig")
        if not settings.exists():
            shutil.copy(self.cluster.variables()["KUBECONFIG"], settings)
            self.shell(f"kubectl config set-context --current --namespace={self.space}", KUBECONFIG=settings)
        return self.shell(command, KUBECONFIG=settings)

    def shell(self, command, **more):
        variables = {**os.environ, **self.cluster.variables(), **more}
        variables["PATH"] = f"{charts.HELM.parent}:{variables['PATH']}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=variables, cwd=charts.ROOT,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, command + "\n" + done.stdout + done.stderr)
        return done.stdout

    def test_helm_test_finds_out_who_holds(self):
        self.install(self.values())
        active, _ = self.active_and_standby()
        said = self.helm("test", self.release, "--logs", f"--timeout={PATIENCE}s").stdout
        self.assertIn("Succeeded", said)
        self.assertRegex(said, rf"; {active}\S* holds it, under version \d+")
        self.judge(least_terms=1)

    def test_helm_test_fails_where_the_store_does_not_answer(self):
        values = merged(self.values(), {"tenure": {"store": {"kind": "etcd", "endpoints": [f"http://{cluster.HOST}:1"]}}})
        self.install(values)
        # Its agent is never ready, so nothing is asked of it.
        self.assertIn("Phase:          Failed", self.fails_its_test(patience=30))

    def test_helm_test_fails_where_nobody_holds(self):
        self.install(merged(self.values(), {"replicas": 0}))
        self.assertRegex(self.fails_its_test(), "condition not met after 60s: .*; nobody holds it")

    def fails_its_test(self, patience=PATIENCE):
        done = self.helm("test", self.release, "--logs", f"--timeout={patience}s", check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_an_upgrade_and_a_rollback_have_one_workload_at_a_time(self):
        newer = self.newer_chart()
        for way in ("endpoints", "gate"):
            with self.subTest(way):
                self.release = "db"
                self.install(self.values(way=way))
                self.active_and_standby()
                after = self.values(way=way, tenure={"image": {"tag": "2"}}, image={"tag": "2"})
                self.upgrade(after, chart=newer)
                self.rolled_to(":2")
                self.assertIn("tenure-99.0.0", self.helm("list").stdout)
                self.helm("rollback", self.release, "1")
                self.rolled_to(":1")
                self.judge(least_terms=3)
                self.uninstall()

    def newer_chart(self):
        """The same with a later version, as a package."""
        place = self.stamps.parent / (self.space + "-chart")
        shutil.copytree(charts.ROOT / "helm/tenure", place / "tenure")
        for chart in (place / "tenure", place / "tenure/charts/tenure-library"):
            said = yaml.safe_load((chart / "Chart.yaml").read_text())
            said["version"] = said["appVersion"] = "99.0.0"
            for one in said.get("dependencies", []):
                one["version"] = "99.0.0"
            (chart / "Chart.yaml").write_text(yaml.safe_dump(said))
        self.helm("package", place / "tenure", "--destination", place)
        return place / "tenure-99.0.0.tgz"

    def test_another_upgrade_leaves_the_traffic_alone(self):
        self.install(self.values())
        active, _ = self.active_and_standby()
        until(lambda: self.named() == {active}, "the active pod is named", PATIENCE)
        with shown.Shown(self.cluster, self.path("endpointslices"), shown.endpoints) as seen:
            self.upgrade(self.values(podDisruptionBudget={"enabled": False}))
            self.helm("rollback", self.release, "1")
            self.stays_active(active, 5)
            self.assertEqual(set(map(frozenset, seen.since(0))), {frozenset({active})})
        self.judge(least_terms=1)

    def test_a_strategy_is_replaced_by_another(self):
        """The API server fills in `rollingUpdate`, which must not be there with `Recreate`."""
        self.install(self.values(strategy={"type": "RollingUpdate"}, replicas=0))
        self.upgrade(self.values(strategy={"type": "Recreate"}, replicas=0))
        self.assertEqual(self.strategy(), {"type": "Recreate"})
        self.helm("rollback", self.release, "1")
        self.assertEqual(self.strategy()["type"], "RollingUpdate")
        self.upgrade(self.values(way="gate", replicas=0))
        self.assertEqual(self.strategy()["rollingUpdate"], {"maxSurge": 0, "maxUnavailable": "100%"})

    def strategy(self):
        return self.cluster.get(self.path("deployments", "db"))["spec"]["strategy"]

    def uninstall(self):
        self.helm("uninstall", self.release, "--wait", f"--timeout={PATIENCE}s")
        until(lambda: not self.pods(), "all pods have ended", PATIENCE)

    # docs/helm.md: versions go on from there.
    LEFT = "lease.coordination.k8s.io/db"

    def test_after_a_scale_to_nothing_only_the_released_lease_is_left(self):
        self.install(self.values(dashboard={"enabled": True}, networkPolicy={"enabled": True}))
        self.active_and_standby()
        self.helm("test", self.release, f"--timeout={PATIENCE}s")
        self.cluster.kubectl("scale", "deployment/db", "--replicas=0", "-n", self.space)
        self.cluster.kubectl("wait", "pod", "--for=delete", "--all", "-n", self.space, f"--timeout={PATIENCE}s")
        self.uninstall()
        until(lambda: self.objects() == {self.LEFT}, f"{self.LEFT} alone is left", PATIENCE)
        self.assertFalse(self.lease()["spec"].get("holderIdentity"))
        self.judge(least_terms=1)

    def test_what_is_left_of_running_pods_is_leases(self):
        """Their agents lose their rights before they end."""
        self.install(self.values())
        self.active_and_standby()
        self.uninstall()
        until(lambda: all(one.startswith("lease.") for one in self.objects()), "only Leases are left", PATIENCE)
        self.assertIn(self.LEFT, self.objects())
        self.cluster.kubectl("delete", "lease", "-n", self.space, "-l", "tenure.dev/election=db")
        self.assertEqual(self.objects(), {self.LEFT})
        # Another release of the name takes part as before, with less rights, too.
        self.install(self.values(tenure={"rbac": {"leases": "named"}}))
        self.becomes_active()
        self.upgrade(self.values(tenure={"rbac": {"leases": "named"}, "log": {"level": "debug"}}))
        self.becomes_active()
        self.uninstall()
        until(lambda: self.objects() == {self.LEFT}, f"{self.LEFT} alone is left", PATIENCE)
        self.judge()

    def objects(self):
        found = set(self.cluster.kubectl("get", KINDS, "-n", self.space, "-o", "name").split())
        return found - {"serviceaccount/default", "configmap/kube-root-ca.crt"}


class Slots(Release):
    """More than one pod is active."""

    def test_an_upgrade_alone_changes_their_number(self):
        one = self.values(way="none")
        two = merged(one, {"tenure": {"slots": 2}})
        said = self.install(one, "--wait", f"--timeout={PATIENCE}s")
        self.assertIn("take part in election db; one of them is active", said)
        self.stamp(1)
        self.upgrade(two, "--wait", f"--timeout={PATIENCE}s")
        self.assertIn("2 of them are active", self.helm("get", "notes", self.release).stdout)
        self.stamp(2)
        self.upgrade(one, "--wait", f"--timeout={PATIENCE}s")
        self.stamp(1)

    def stamp(self, number):
        """Of two pods that can hold, so many are active: their workloads stamp, and `tenure status` says so of them alone."""
        def stamping():
            now = now_ns()
            return {life.identity for life in record.read(self.stamps) if now - life.last <= FRESH_NS}
        until(lambda: len(self.pods()) == 2 and all(map(self.is_listed, self.pods())), "the old pods are gone", PATIENCE)
        pods = until(lambda: (lambda found: found if len(found) == number and found <= set(self.pods()) else None)(stamping()),
                     f"{number} workloads run", PATIENCE)
        said = {pod: self.say(pod, "tenure", "/tenure", "status") for pod in self.pods()}
        self.assertEqual({pod for pod, text in said.items() if re.search(rf"(?m)^db +{pod} +active ", text)}, pods, said)


class Adoption(Release):
    """A release that runs gets Tenure: no pod of before runs beside one that is active."""

    knows_its_version = False
    release = "orders"
    PLAIN = '{{ include "orders.deployment" . }}'

    def chart(self, kind, *line):
        """Of somebody else, with their workload: without Tenure, or with its line."""
        work = yaml.safe_dump(work_at_once(), default_flow_style=True, width=1000).strip()
        place = self.stamps.parent / f"{self.space}-{kind}-{len(line)}"
        if place.exists():
            return place / "orders"
        return charts.of_somebody(place, f"""\
apiVersion: apps/v1
kind: {kind}
metadata: {{name: orders}}
spec:
  replicas: {{{{ .Values.replicas }}}}
  selector: {{matchLabels: {{app: orders}}}}
  template:
    metadata: {{labels: {{app: orders}}}}
    spec:
      securityContext: {{runAsUser: 1000, runAsNonRoot: true}}
      terminationGracePeriodSeconds: 25
      containers:
        - name: orders
          image: {WORK}:1
          command: {work}
          env: [{{name: POD_NAME, valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}}}]
          volumeMounts: [{{name: stamps, mountPath: /stamps}}]
      volumes: [{{name: stamps, hostPath: {{path: {self.stamps}}}}}]
""", *line)

    TENURE = {"image": {"repository": TENURE, "tag": "1"}, "ttl": "6s", "election": "db"}

    def runs_without(self, kind):
        self.helm("install", self.release, self.chart(kind, self.PLAIN), "--values", "-", given="replicas: 1\n")
        return self.becomes_active()

    def adopt(self, kind, check=True, **more):
        values = {"replicas": 2, "tenure": merged(self.TENURE, more)}
        return self.helm("upgrade", self.release, self.chart(kind), "--values", "-", "--wait", f"--timeout={PATIENCE}s",
                         given=yaml.safe_dump(values), check=check)

    def adopted(self, kind):
        self.runs_without(kind)
        command = self.refused(kind)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, **self.cluster.variables()})
        self.assertEqual(done.returncode, 0, command + done.stderr)
        self.adopt(kind)
        self.becomes_active()
        self.adopt(kind, log={"level": "debug"})
        until(lambda: len(record.read(self.stamps)) >= 3, "a pod with the other values is active", PATIENCE)
        self.judge(least_terms=3)

    def refused(self, kind, **more):
        """The command that it has to be repeated after."""
        done = self.adopt(kind, check=False, **more)
        self.assertIn(f"pods of {kind.lower()}/orders do not take part in the election", done.stderr)
        return done.stderr.partition("then repeat this: ")[2].splitlines()[0]

    def test_of_a_deployment(self):
        self.adopted("Deployment")
        # Another election is as none: the holders of both would run.
        self.refused("Deployment", election="db2")

    def test_of_a_stateful_set(self):
        self.adopted("StatefulSet")


class Servers:
    """Stores outside of Kubernetes that the tests of a program share, each with an election of its own."""

    lock = threading.Lock()
    urls = {}

    @classmethod
    def url(cls, name, on):
        with cls.lock:
            if name not in cls.urls:
                cls.urls[name] = getattr(cls, "start_" + name)(on)
            return cls.urls[name]

    @staticmethod
    def start_etcd(on):
        url, peers = f"http://{cluster.HOST}:22379", "http://127.0.0.1:22380"
        on.parts["etcd-of-pods"] = cluster.Part(
            on.folder, "etcd-of-pods", cluster.ETCD, "--data-dir", on.folder / "etcd-of-pods", "--listen-client-urls", url,
            "--advertise-client-urls", url, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
            "--initial-cluster", f"default={peers}").start()
        return url

    @staticmethod
    def start_consul(on):
        on.parts["consul-of-pods"] = cluster.Part(
            on.folder, "consul-of-pods", cluster.SERVERS / "consul-today/consul", "agent", "-dev", "-log-level=warn",
            f"-client={cluster.HOST}", "-bind=127.0.0.1", "-http-port=28500", "-dns-port=-1", "-grpc-port=-1",
            "-grpc-tls-port=-1", "-server-port=28300", "-serf-lan-port=28301", "-serf-wan-port=28302").start()
        return f"http://{cluster.HOST}:28500"


class Installed(Release):
    """Each way to stop a workload with each way of traffic, and with each store: one pod is active, and a fault moves that."""

    # Of 40, which take minutes, each run draws some.
    one_in = 3

    # An agent that is stopped cannot end with a status of its own; docs/hooks.md says what that means.
    FAULTS = {mode: ("deletion", "force", "stopped_agent") if mode != "exit-code" else ("deletion",) for mode in charts.MODES}

    def fails_over(self, mode, way, store, kind, replicas, fault):
        tenure = {"election": "db"}
        if store != "kubernetes":
            tenure = {"election": self.space, "ttl": "15s" if mode == "exit-code" else "10s",
                      "store": {"kind": store, "endpoints": [Servers.url(store, self.cluster)]}}
        more = {"updateStrategy": {"type": "OnDelete"}} if kind == "StatefulSet" else {}
        self.install(self.values(mode, way, kind=kind, replicas=replicas, tenure=tenure, **more))
        self.becomes_active()
        until(lambda: len(self.pods()) == replicas and all(self.takes_part(pod, mode, store) for pod in self.pods()),
              f"{replicas} pods take part", PATIENCE)
        active = self.becomes_active()
        lives = self.lives()
        undo = getattr(self, fault)(active, mode)
        # A pod of a StatefulSet comes back under its name.
        until(lambda: self.lives() > lives, "another workload is started", PATIENCE)
        self.becomes_active([active] if kind == "Deployment" or fault == "stopped_agent" else [])
        until(lambda: self.is_shown(way, self.active()), f"the active pod alone is shown by its {way}", PATIENCE)
        undo()
        self.judge()

    def lives(self):
        return len({(life.identity, life.first) for life in record.read(self.stamps)})

    def takes_part(self, pod, mode, store):
        if mode == "exit-code":
            running = "running" in (self.status_of(pod, "tenure") or {"state": {}})["state"]
        else:
            running = (self.status_of(pod, "main" if mode == "exec" else "tenure") or {}).get("started", False)
        return running and (store != "kubernetes" or self.is_listed(pod))

    def is_shown(self, way, pod):
        if way == "endpoints":
            return self.named() == {pod}
        if way == "label":
            return {pod} == set().union(*map(shown.labelled, self.pods().values()))
        return pod in self.pods() and (way == "none" or shown.is_ready(self.pods()[pod]))

    def deletion(self, pod, _):
        self.delete(pod)
        return lambda: None

    def force(self, pod, _):
        self.delete(pod, "--force", "--grace-period=0")
        return lambda: None

    def stopped_agent(self, pod, mode):
        # Where the agent is a child of the guard, the guard is the first process.
        agent = self.signal(pod, "main" if mode == "exec" else "tenure", signal.SIGSTOP, which=int(mode in ("exec", "signal")))
        return lambda: os.kill(agent, signal.SIGCONT)

    @classmethod
    def add(cls, number, mode, way, store, kind="Deployment"):
        faults = cls.FAULTS[mode]
        how = (mode, way, store, kind, 2 + number % 2, faults[number % len(faults)])
        name = "test_" + "_".join(map(str, how)).replace("-", "_")
        setattr(cls, name, lambda self: self.fails_over(*how))


# Those that take longest first.
for number, (mode, way) in enumerate(itertools.product(reversed(charts.MODES), charts.WAYS)):
    Installed.add(number, mode, way, "kubernetes")
for number, (mode, store) in enumerate(itertools.product(reversed(charts.MODES), ("etcd", "consul"))):
    Installed.add(number, mode, charts.WAYS[number % 4], store)
for number, way in enumerate(charts.WAYS):
    Installed.add(number, "guard", way, "kubernetes", "StatefulSet")


class Named(Release):
    """Rights that are cut to the Leases of the election."""

    def test_guard_with_named_leases(self):
        self.install(self.values(tenure={"rbac": {"leases": "named"}}))
        active = self.becomes_active()
        until(lambda: len(self.pods()) == 2 and all((self.status_of(pod, "tenure") or {}).get("ready") for pod in self.pods()),
              "both agents are ready", PATIENCE)
        self.delete(active)
        following = self.becomes_active([active])
        self.assertNotIn("forbidden", self.logs(following, "tenure"))
        self.assertNotIn("may not", self.logs(following, "tenure"))
        self.assertEqual([one["metadata"]["name"] for one in self.cluster.get(self.path("leases"))["items"]], ["db"])

        def ends():
            return {(one["reason"], one["type"]) for one in self.cluster.get(self.path("events"))["items"]
                    if one.get("action") == "Lose"}
        until(ends, "the end of the term is an Event", PATIENCE)
        self.assertEqual(ends(), {("Shutdown", "Normal")}, "a pod that is deleted ends in order")
        self.judge()


class Stores(Release):
    """Stores of one's own, that ask for all that they can ask for; the secrets come from Secrets."""

    def starts(self, name, *words):
        server = cluster.Part(self.cluster.folder, f"{self.space}-{name}", *words).start()
        self.addCleanup(server.kill)

    def answers(self, *words):
        return subprocess.run(list(map(str, words)), capture_output=True, text=True).returncode == 0

    def secret(self, name, *words):
        self.cluster.kubectl("create", "secret", "generic", name, "-n", self.space, *words)

    def fails_over(self, store):
        self.install(self.values(tenure={"store": store, "ttl": "10s"}))
        active = self.becomes_active()
        until(lambda: len(self.pods()) == 2 and all((self.status_of(pod, "tenure") or {}).get("ready") for pod in self.pods()),
              "both agents are ready", PATIENCE)
        self.assertNotIn("everybody can read", self.logs(active, "tenure"))
        said = self.helm("test", self.release, "--logs", f"--timeout={PATIENCE}s").stdout
        self.assertRegex(said, rf"; {active}\S* holds it, under version \d+")
        self.delete(active)
        following = self.becomes_active([active])
        until(lambda: self.named() == {following}, f"{following} alone is named", PATIENCE)
        self.assertIsNone(self.lease())
        self.judge()

    def test_etcd_with_certificates_and_a_password(self):
        keys, url = self.cluster.keys, f"https://{cluster.HOST}:12379"
        keys.issue("etcd", "/CN=etcd", f"IP:{cluster.HOST}")
        keys.issue("client", "/O=clients")  # etcd takes no common name on this way
        self.starts("etcd", cluster.ETCD, "--data-dir", self.cluster.folder / self.space, "--listen-client-urls", url,
                    "--advertise-client-urls", url, "--listen-peer-urls", "http://127.0.0.1:12380",
                    "--initial-advertise-peer-urls", "http://127.0.0.1:12380",
                    "--initial-cluster", "default=http://127.0.0.1:12380", "--client-cert-auth",
                    "--trusted-ca-file", keys.file("ca.pem"), "--cert-file", keys.file("etcd.pem"),
                    "--key-file", keys.file("etcd.key"))
        control = [cluster.ETCD.with_name("etcdctl"), "--endpoints", url, "--cacert", keys.file("ca.pem"),
                   "--cert", keys.file("client.pem"), "--key", keys.file("client.key")]
        until(lambda: self.answers(*control, "endpoint", "health"), "etcd answers", PATIENCE)
        for words in (("user", "add", "root:sesame"), ("user", "grant-role", "root", "root"), ("user", "add", "tenure:sesame"),
                      ("role", "add", "tenure"), ("role", "grant-permission", "tenure", "readwrite", "db", "db0"),
                      ("user", "grant-role", "tenure", "tenure"), ("auth", "enable")):
            self.assertTrue(self.answers("env", "ETCDCTL_API=3", *control, *words), words)
        self.secret("etcd-tls", f"--from-file=ca.crt={keys.file('ca.pem')}", f"--from-file=tls.crt={keys.file('client.pem')}",
                    f"--from-file=tls.key={keys.file('client.key')}")
        self.secret("etcd", "--from-literal=password=sesame")
        self.fails_over({"kind": "etcd", "endpoints": [url], "user": "tenure", "passwordSecret": {"name": "etcd"},
                         "tls": {"secretName": "etcd-tls", "certificateKey": "tls.crt", "privateKeyKey": "tls.key"}})

    def test_consul_with_a_token(self):
        token = "8ad7ad5d-3f2b-4a4c-9d7e-3e0a5f6b7c8d"
        acl = f'acl {{ enabled = true  default_policy = "deny"  tokens {{ initial_management = "{token}" }} }}'
        program = cluster.SERVERS / "consul-today/consul"
        self.starts("consul", program, "agent", "-dev", f"-client={cluster.HOST}", "-bind=127.0.0.1", "-log-level=warn", "-hcl", acl)
        url = f"http://{cluster.HOST}:8500"
        until(lambda: self.answers(program, "operator", "raft", "list-peers", "-http-addr", url, "-token", token),
              "Consul has a leader", PATIENCE)
        self.secret("consul", f"--from-literal=token={token}")
        self.fails_over({"kind": "consul", "endpoints": [url], "tokenSecret": {"name": "consul"}})


if __name__ == "__main__":
    if why := charts.missing():
        print(why)
        sys.exit(77)
    main(__file__)
