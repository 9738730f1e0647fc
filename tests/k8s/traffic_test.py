#!/usr/bin/env python3
"""traffic_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: traffic to the active pod, in each way, with pods
of k8s/ on a real Kubernetes. Every state that the API server shows is judged."""
import concurrent.futures
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import time
import urllib.request

import cluster
import shown
from scene import EXIT_CODE, FRESH_NS, LONG_TTL, PATIENCE, SIGNAL, TTL, Scene, main, now_ns, pods_with, record, until
from side_by_side import alone

# A holder looks this often whether what it has written is still there.
LOOK = 30


class Traffic(Scene):
    """What holds for each way in which the agent writes."""

    # The same tests for each way: each run draws half of them for each.
    one_in = 2

    overlay_name = ""
    kind = "pods"

    @staticmethod
    def names(one):
        """Whom an object names as the active pod."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        self.shown = shown.Shown(self.cluster, self.path(self.kind), type(self).names)
        self.enterContext(self.shown)

    def start(self, replicas=2, **how):
        self.how = {"settings": TTL, "replicas": replicas, **how}
        self.apply(self.overlay_name, **self.how)
        self.active_and_standby(replicas)
        # A machine that stands still for longer than the TTL moves the lease to another pod meanwhile.
        until(lambda: self.shown.now() == {self.active()}, "the active pod alone is named", PATIENCE)
        active, others = self.active_and_standby(replicas)
        self.is_named(active)
        return active, others

    def is_named(self, pod):
        until(lambda: self.shown.now() == {pod}, f"{pod} alone is named", PATIENCE)

    def is_never_named(self, pod, since):
        self.assertFalse([names for names in self.shown.since(since) if pod in names])

    def judge(self, least_terms=2):
        found = super().judge(least_terms)
        self.assertLessEqual(len(self.shown.most()), 1, "two pods were named at once")
        return found

    def follows(self, active, others):
        """Another pod is active, and it alone is named."""
        following = self.becomes_active([active])
        self.assertIn(following, others)
        self.is_named(following)
        return following

    # A gain --------------------------------------------------------------------------------------

    def test_the_active_pod_alone_is_named_and_the_name_follows_the_lease(self):
        active, others = self.start()
        self.delete(active)
        self.follows(active, others)
        self.judge()

    def test_a_pod_that_is_deleted_by_force_is_not_named_any_more(self):
        active, others = self.start()
        self.delete(active, "--force", "--grace-period=0")
        self.follows(active, others)
        self.judge()

    def test_the_next_holder_takes_the_name_from_a_pod_whose_agent_is_stopped(self):
        active, others = self.start()
        agent = self.signal(active, "tenure", signal.SIGSTOP)
        following = self.follows(active, others)
        now = time.monotonic()
        os.kill(agent, signal.SIGCONT)
        until(lambda: self.is_standby(active) and self.is_listed(active), "it stands by", PATIENCE)
        self.is_named(following)
        self.is_never_named(active, now)
        self.judge()

    @alone
    def test_the_next_holder_takes_the_name_from_a_pod_of_a_dead_node(self):
        active, others = self.start()
        # Neither its kubelet nor anything of the pod does anything any more, but the API server does not know.
        everything = self.all_processes(active)
        kubelet = self.cluster.parts["kubelet"]
        kubelet.freeze()
        self.addCleanup(kubelet.thaw)
        self.kill(everything)
        self.follows(active, others)
        self.after_a_dead_node(active)
        kubelet.thaw()
        self.judge()

    def after_a_dead_node(self, pod):
        pass

    def all_processes(self, pod):
        """The agent, the guard and its workload."""
        return [one for container in ("tenure", "main")
                for one in until(lambda: self.processes(pod, container), f"{container} runs", PATIENCE)]

    @staticmethod
    def kill(processes):
        for one in processes:
            # The first one of a container takes the others along.
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    # A crash -------------------------------------------------------------------------------------

    def test_a_killed_agent_costs_its_pod_neither_the_lease_nor_the_name(self):
        active, _ = self.start(settings=LONG_TTL)
        killed_at = time.monotonic()
        self.signal(active, "tenure", signal.SIGKILL)
        # Longer than the lease that it had.
        self.stays_active(active, 20)
        self.assertEqual(self.restarts(active, "tenure"), 1)
        self.assertEqual(set(map(frozenset, self.shown.since(killed_at))), {frozenset({active})})
        self.judge(least_terms=1)

    def test_what_a_crashed_pod_says_of_itself_is_put_right(self):
        active, others = self.start()
        # Without its guard the workload is dead, and no agent can go on with it.
        self.kill(self.all_processes(active))
        following = self.becomes_active([active] if self.active() != active else [])
        self.is_named(following)
        until(lambda: self.restarts(active, "tenure") == 1 and self.restarts(active, "main") == 1,
              "its containers run again", PATIENCE)
        self.is_named(self.becomes_active())
        self.judge(least_terms=1)

    # What others do ------------------------------------------------------------------------------

    def test_another_apply_of_the_manifest_changes_nothing(self):
        active, _ = self.start()
        now = time.monotonic()
        self.cluster.kubectl("apply", "-k", str(self.kustomize(self.overlay_name, **self.how)))
        self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k",
                             str(self.kustomize(self.overlay_name, **self.how)))
        self.stays_active(active, 5)
        self.assertEqual(set(map(frozenset, self.shown.since(now))), {frozenset({active})})
        self.judge(least_terms=1)

    def take_away(self, pod):
        """As an operator does it."""
        raise NotImplementedError

    def test_what_an_operator_takes_away_comes_back(self):
        active, _ = self.start()
        now = time.monotonic()
        self.take_away(active)
        until(lambda: frozenset() in self.shown.since(now), "it is taken away")
        until(lambda: self.shown.now() == {active}, "it is back", LOOK + PATIENCE)
        self.assertIn("somebody else had changed", self.logs(active, "tenure"))
        self.judge(least_terms=1)

    def test_a_right_that_is_missing_is_named_and_used_once_it_is_there(self):
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "tenure-traffic"},
                "rules": []}
        self.apply(self.overlay_name, settings=TTL, patches=[role])
        active = self.becomes_active()
        until(lambda: "add to its Role" in self.logs(active, "tenure") and
              "so no traffic comes to it" in self.logs(active, "tenure"), "the log names it", PATIENCE)
        self.assertEqual(self.shown.now(), set())
        self.assertEqual(self.metric(active, "tenure_traffic_shown"), 0)
        self.assertGreater(self.metric(active, "tenure_traffic_failures_total"), 0)
        self.cluster.kubectl("apply", "-k", str(self.kustomize(self.overlay_name, settings=TTL)))
        self.is_named(active)
        until(lambda: self.metric(active, "tenure_traffic_shown") == 1, "the metric shows it")
        self.judge(least_terms=1)

    def metric(self, pod, name):
        """As the page of its agent has it."""
        address = self.pods()[pod]["status"]["podIP"]
        with urllib.request.urlopen(f"http://{address}:8081/metrics", timeout=10) as page:
            for line in page.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[1])
        self.fail(f"{name} is not on the page")

    # Roll-outs -----------------------------------------------------------------------------------

    def rolls(self, replicas, **how):
        """A roll-out to the new image, and its end: every pod is new, and one of them is active and named."""
        self.how = {**self.how, **how}
        self.cluster.kubectl("apply", "-k", str(self.kustomize(self.overlay_name, **self.how)))
        self.ended(replicas, ":2")

    def ended(self, replicas, tag):
        self.waits_for_the_roll_out()
        self.all_pods_are_of(tag, replicas)
        self.is_named(self.becomes_active())

    def waits_for_the_roll_out(self):
        self.cluster.kubectl("rollout", "status", "deployment/db", "-n", self.space, f"--timeout={PATIENCE}s")

    def rolls_out_and_back(self, replicas):
        self.start(replicas)
        self.rolls(replicas, work="2")
        self.cluster.kubectl("rollout", "undo", "deployment/db", "-n", self.space)
        self.ended(replicas, ":1")
        self.judge(least_terms=3)

    def test_two_replicas_roll_out_and_back(self):
        self.rolls_out_and_back(2)

    def test_three_replicas_roll_out_and_back(self):
        self.rolls_out_and_back(3)


class TrafficLabel(Traffic):
    overlay_name = "guard-label"
    names = staticmethod(shown.labelled)

    def take_away(self, pod):
        self.cluster.kubectl("label", "pod", pod, "-n", self.space, "tenure.dev/role-")

    def test_the_service_leads_to_the_active_pod(self):
        active, others = self.start()
        listed = self.cluster.kubectl("get", "pods", "-n", self.space, "-L", "tenure.dev/role", "--no-headers")
        self.assertEqual({line.split()[0]: line.split()[-1] for line in listed.splitlines()},
                         {active: "active", others[0]: "standby"})

        def served():
            found = self.cluster.get(self.path("endpointslices"))["items"]
            return set().union(*(shown.endpoints(one) for one in found))
        until(lambda: served() == {active}, "the Service leads to it", PATIENCE)
        self.delete(active)
        following = self.follows(active, others)
        until(lambda: served() == {following}, "the Service leads to it", PATIENCE)
        self.judge()


class TrafficGate(Traffic):
    test_two_replicas_roll_out_and_back = None  # those of TrafficRollOuts have two
    overlay_name = "guard-gate"
    names = staticmethod(shown.has_condition)

    def take_away(self, pod):
        no = {"status": {"conditions": [{"type": "tenure.dev/active", "status": "False"}]}}
        path = self.path("pods", pod) + "/status"
        status, said = self.cluster.api("PATCH", path, no, "application/strategic-merge-patch+json")
        self.assertEqual(status, 200, said)

    def is_named(self, pod):
        super().is_named(pod)
        if self.cluster.parts["kubelet"].process.poll() is None and not self.is_frozen:
            until(lambda: shown.is_ready(self.pods()[pod]), f"{pod} is Ready", PATIENCE)

    is_frozen = False

    @alone
    def test_the_next_holder_takes_the_name_from_a_pod_of_a_dead_node(self):
        self.is_frozen = True
        super().test_the_next_holder_takes_the_name_from_a_pod_of_a_dead_node()

    def after_a_dead_node(self, pod):
        self.assertFalse(shown.is_ready(self.pods()[pod]), "a Service would still lead to it")

    def waits_for_the_roll_out(self):
        """Only one pod is ever Ready, so `kubectl rollout status` waits for ever: docs/traffic.md."""


class TrafficEndpoints(Traffic):
    test_two_replicas_roll_out_and_back = None  # those of TrafficRollOuts have two
    overlay_name = "guard-endpoints"
    kind = "endpointslices"
    names = staticmethod(shown.endpoints)

    def take_away(self, pod):
        self.cluster.kubectl("patch", "endpointslice", "db", "-n", self.space, "--type=merge", "-p", '{"endpoints": []}')

    def test_the_slice_has_all_that_a_service_needs(self):
        active, _ = self.start()
        piece = self.cluster.get(self.path("endpointslices", "db"))
        pod = self.pods()[active]
        [one] = piece["endpoints"]
        self.assertEqual(one["addresses"], [pod["status"]["podIP"]])
        self.assertEqual(one["nodeName"], pod["spec"]["nodeName"])
        self.assertEqual(one["targetRef"]["uid"], pod["metadata"]["uid"])
        self.assertEqual(piece["metadata"]["annotations"]["tenure.dev/holder"], active)
        self.assertEqual(piece["ports"][0]["port"], 5432)
        described = self.cluster.kubectl("describe", "service", "db", "-n", self.space)
        self.assertIn(pod["status"]["podIP"] + ":5432", described)
        self.judge(least_terms=1)

    def test_what_an_earlier_selector_has_left_is_said_with_the_command_against_it(self):
        active, others = self.start()
        self.selects('{"app":"db","tenure.dev/select":null}')
        until(lambda: self.shown.now() == {active, *others}, "Kubernetes leads to all pods", PATIENCE)
        # What it has found stays.
        self.selects("null")
        status, said = self.doctor(active)
        self.assertEqual(status, 1, said)
        self.assertIn("(endpointslice-controller.k8s.io) leads clients of Service db to ", said)
        until(lambda: "and not to the active pod alone: kubectl patch" in self.logs(active, "tenure"), "the log says it",
              LOOK + PATIENCE)
        [line] = [one for one in self.logs(active, "tenure").splitlines() if "(endpointslice-controller.k8s.io)" in one]
        command = line.partition("alone: ")[2].partition('" election=')[0].replace('\\"', '"')
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True,
                              env={**os.environ, **self.cluster.variables()})
        self.assertEqual(done.returncode, 0, command + done.stderr)
        self.is_named(active)
        status, said = self.doctor(active)
        self.assertIn("no EndpointSlice of others leads clients elsewhere", said)
        self.assertEqual(status, 0, said)
        Scene.judge(self, least_terms=1)

    def selects(self, what):
        self.cluster.kubectl("patch", "service", "db", "-n", self.space, "--type=merge", "-p",
                             '{"spec":{"selector":' + what + "}}")

    def test_a_scale_to_nothing_empties_the_slice(self):
        self.start()
        self.cluster.kubectl("scale", "deployment/db", "--replicas=0", "-n", self.space)
        until(lambda: not self.pods() and not self.shown.now(), "nobody is left, and nobody is named", PATIENCE)
        self.judge(least_terms=1)


class TrafficProbe(Scene):
    """Overlay `guard-probe`: nothing is written, the kubelet asks."""

    def start(self, replicas=2):
        self.how = {"settings": TTL, "replicas": replicas}
        self.apply("guard-probe", **self.how)
        active, others = self.active_and_standby(replicas)
        self.is_ready(active)
        return active, others

    def is_ready(self, active):
        until(lambda: set().union(*map(shown.is_ready, self.pods().values())) == {active},
              f"{active} alone is Ready", PATIENCE)

    def test_the_active_pod_alone_is_ready(self):
        active, others = self.start()
        self.delete(active)
        following = self.becomes_active([active])
        self.assertIn(following, others)
        self.is_ready(following)
        self.judge()

    def rolls_out_and_back(self, replicas):
        self.start(replicas)
        self.cluster.kubectl("apply", "-k", str(self.kustomize("guard-probe", work="2", **self.how)))
        self.ended(replicas, ":2")
        self.cluster.kubectl("rollout", "undo", "deployment/db", "-n", self.space)
        self.ended(replicas, ":1")
        self.judge(least_terms=3)

    def ended(self, replicas, tag):
        self.all_pods_are_of(tag, replicas)
        self.is_ready(self.becomes_active())

    def test_two_replicas_roll_out_and_back(self):
        self.rolls_out_and_back(2)

    def test_three_replicas_roll_out_and_back(self):
        self.rolls_out_and_back(3)


class TrafficOverlays(Scene):
    """The other overlays in which an agent writes: the active pod is named, and the name follows the lease."""

    def moves(self, overlay, names, container="tenure", spec=None, ttl="6s", kind="pods", is_listed=True, **how):
        patches = [] if spec is None else pods_with(spec)
        self.knows_its_version = spec is None
        with shown.Shown(self.cluster, self.path(kind), names) as seen:
            self.apply(overlay, settings={**TTL, "ttl": ttl}, patches=patches, **how)
            active = self.becomes_active()
            until(lambda: seen.now() == {active}, f"{active} alone is named", PATIENCE)
            until(lambda: len(self.pods()) == 2 and all(self.can_take_over(one, container, is_listed)
                                                        for one in self.pods()), "both can hold", PATIENCE)
            began = self.begun()
            self.delete(active)
            # In a StatefulSet it may be a pod of the same name.
            until(lambda: (self.begun() or began) != began, "another workload runs", PATIENCE)
            until(lambda: seen.now() == {self.active()}, "its pod alone is named", PATIENCE)
            self.assertLessEqual(len(seen.most()), 1, "two pods were named at once")
        self.judge()

    def begun(self):
        """When the workload that stamps now began; None if none does."""
        life = record.holder(self.stamps, now_ns(), FRESH_NS)
        return life.first if life else None

    def can_take_over(self, pod, container, is_listed):
        started = (self.status_of(pod, container) or {}).get("started") or container == "none"
        return started and (not is_listed or self.is_listed(pod))

    def test_exec_endpoints(self):
        self.moves("exec-endpoints", shown.endpoints, container="main", kind="endpointslices")

    def test_guard_plain_endpoints(self):
        self.moves("guard-plain-endpoints", shown.endpoints, kind="endpointslices")

    def test_signal_label(self):
        self.moves("signal-label", shown.labelled, spec=SIGNAL)

    def test_exit_code_label(self):
        self.moves("exit-code-label", shown.labelled, container="none", spec=EXIT_CODE, ttl="15s")

    def test_guard_endpoints_etcd(self):
        etcd = cluster.Part(self.cluster.folder, "etcd-of-leases", cluster.ETCD, "--data-dir",
                            self.cluster.folder / "etcd-of-leases", "--listen-client-urls", f"http://{cluster.HOST}:2399",
                            "--advertise-client-urls", f"http://{cluster.HOST}:2399", "--listen-peer-urls",
                            "http://127.0.0.1:2398").start()
        self.addCleanup(etcd.kill)
        self.moves("guard-endpoints-etcd", shown.endpoints, kind="endpointslices", is_listed=False,
                   variables=[f"TENURE_ENDPOINT=http://{cluster.HOST}:2399", "TENURE_STORE=etcd"])
        self.assertIsNone(self.lease())

    def test_statefulset_endpoints(self):
        self.moves("statefulset-endpoints", shown.endpoints, kind="endpointslices")

    def test_a_statefulset_rolls_out(self):
        overlay, how = "statefulset-endpoints", {"settings": TTL}
        with shown.Shown(self.cluster, self.path("endpointslices"), shown.endpoints) as seen:
            self.apply(overlay, **how)
            until(lambda: seen.now() == {self.active()} - {None} != set(), "the active pod is named", PATIENCE)
            until(lambda: len(self.pods()) == 2 and all(map(self.is_listed, self.pods())), "both can hold", PATIENCE)
            self.cluster.kubectl("apply", "-k", str(self.kustomize(overlay, work="2", **how)))
            self.cluster.kubectl("rollout", "status", "statefulset/db", "-n", self.space, f"--timeout={PATIENCE}s")
            until(lambda: seen.now() == {self.active()}, "the active pod is named", PATIENCE)
            self.assertLessEqual(len(seen.most()), 1, "two pods were named at once")
        self.judge()


class TrafficSwitches(Scene):
    """From one way to another, in place: clients are not led to a pod that is gone. Counted from outside, by connections to
    the address of the Service."""

    one_in = 6
    CONNECTIONS = 1000

    # Something listens while the workload runs.
    WORK = ["/bin/sh", "-c", "/bin/busybox httpd -p 5432 -h /stamps; exec /bin/worker /stamps $POD_NAME obedient"]

    def setUp(self):
        super().setUp()
        self.cluster.serves()

    def takes(self, way):
        """The manifest of a way is applied, and all pods are those of it."""
        before = set(self.pods())
        self.apply(f"guard-{way}", settings=TTL, worker=self.WORK)
        self.rolled_out(before)

    def rolled_out(self, before):
        until(lambda: len(self.pods()) == 2 and not before & set(self.pods()), "all pods are new", PATIENCE)
        self.active_and_standby()

    def is_reached(self, _=None):
        """One connection to the Service is taken, and answered: so few wait for an answer at a time."""
        try:
            with socket.create_connection((self.address, 5432), timeout=0.5) as line:
                line.sendall(b"GET /nothing HTTP/1.0\r\n\r\n")
                return line.recv(4096).startswith(b"HTTP/1.")
        except OSError:
            return False

    def lost(self):
        """Of so many connections, those which nobody takes."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return self.CONNECTIONS - sum(pool.map(self.is_reached, range(self.CONNECTIONS)))

    def leads_to_the_active_pod(self):
        """What the proxy has of the API server is a moment old, so the first connections may be lost."""
        self.address = self.cluster.get(self.path("services", "db"))["spec"]["clusterIP"]
        counts = []

        def none_is_lost():
            counts.append(self.lost())
            return counts[-1] == 0
        try:
            until(none_is_lost, f"none of {self.CONNECTIONS} connections is lost", 30)
        finally:
            print(f"{self._testMethodName}: lost of {self.CONNECTIONS}: {counts[:8]}", flush=True)

    def switches(self, before, after):
        self.takes(before)
        self.leads_to_the_active_pod()
        self.takes(after)
        if before == "endpoints":
            # As docs/traffic.md says: `kubectl apply` takes nothing away.
            self.cluster.kubectl("delete", "endpointslice", "db", "-n", self.space)
        self.leads_to_the_active_pod()
        self.judge()


def each_switch():
    """A test of TrafficSwitches for each two ways."""
    for before, after in itertools.permutations(("label", "endpoints", "gate", "probe"), 2):
        def test(self, how=(before, after)):
            self.switches(*how)
        setattr(TrafficSwitches, f"test_from_{before}_to_{after}", test)


each_switch()


class TrafficRollOuts(Scene):
    """What each strategy of a roll-out does: the tables of docs/traffic.md."""

    one_in = 2

    STRATEGIES = {
        "default": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "surge": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "one less": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "both": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
        "all": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "100%"}},
        "Recreate": {"type": "Recreate"},
    }
    # What leaves no pod that has to be Ready before the active one ends.
    ENDS_ALL = {"all", "Recreate"}
    # Seconds without progress after which Kubernetes itself says that a roll-out does not get on.
    DEADLINE = 12

    def strategy(self, name):
        # `kubectl apply` would otherwise merge it with the one of the component.
        replace = {"$patch": "replace", **self.STRATEGIES[name]}
        return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"},
                 "spec": {"progressDeadlineSeconds": self.DEADLINE, "strategy": replace}}]

    def deployment(self):
        return self.cluster.get(self.path("deployments", "db"))

    def rolls(self, overlay, strategy, replicas=2):
        """Starts a roll-out; the pod that is active before it, once all pods could hold."""
        how = {"settings": TTL, "replicas": replicas, "patches": self.strategy(strategy)}
        self.apply(overlay, **how)
        active, _ = self.active_and_standby(replicas)
        # Before a pod is Ready a Deployment takes any of them away.
        ready = replicas if overlay == "guard-endpoints" else 1
        until(lambda: self.deployment()["status"].get("availableReplicas") == ready, f"{ready} are Ready", PATIENCE)
        self.assertEqual(self.deployment()["spec"]["strategy"], self.STRATEGIES[strategy])
        self.cluster.kubectl("apply", "-k", str(self.kustomize(overlay, work="2", **how)))
        return active

    def ends(self, replicas=2):
        self.all_pods_are_of(":2", replicas)
        self.becomes_active()
        self.judge()

    def stands_still(self, active, replicas=2):
        """Kubernetes says that nothing gets on, although new pods could hold; the old pod is still active."""
        def gave_up():
            one = self.deployment()
            said = {c["type"]: c.get("reason") for c in one["status"].get("conditions", [])}
            return one["status"].get("observedGeneration") == one["metadata"]["generation"] and \
                said.get("Progressing") == "ProgressDeadlineExceeded"
        new = until(lambda: [name for name, one in self.pods().items() if self.is_listed(name) and
                             self.has_image(one, ":2")], "a new pod could hold", PATIENCE)
        until(gave_up, "the roll-out is given up", PATIENCE)
        self.assertEqual(self.active(), active)
        self.assertNotIn("deletionTimestamp", self.pods()[active]["metadata"])
        self.assertFalse(set(new) & {name for name, one in self.pods().items() if shown.is_ready(one)})
        self.judge(least_terms=1)

    def rolls_out(self, overlay, strategy, ends):
        active = self.rolls(overlay, strategy)
        if ends:
            self.ends()
        else:
            self.stands_still(active)

    def test_an_exit_code_ends_as_the_component_has_it(self):
        how = {"settings": LONG_TTL, "patches": pods_with(EXIT_CODE)}
        self.knows_its_version = False
        self.apply("exit-code-label", **how)
        self.becomes_active()
        until(lambda: len(self.pods()) == 2 and all(map(self.is_listed, self.pods())), "both can hold", PATIENCE)
        self.cluster.kubectl("apply", "-k", str(self.kustomize("exit-code-label", work="2", **how)))
        self.ends()

    # Evictions: what `kubectl drain` does with a node ---------------------------------------------

    def keeps_one(self):
        """A PodDisruptionBudget that Kubernetes has counted."""
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "db"},
                  "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "db"}}}}
        path = f"/apis/policy/v1/namespaces/{self.space}/poddisruptionbudgets"
        self.assertEqual(self.cluster.api("POST", path, budget)[0], 201)

        def counted():
            status = self.cluster.get(path + "/db").get("status", {})
            return status.get("expectedPods") == 2 and status.get("currentHealthy", 0) >= 1
        until(counted, "the budget is counted", PATIENCE)

    def evict(self, pod):
        return self.cluster.api("POST", self.path("pods", pod) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": self.space}})[0]

    def drained(self, overlay):
        self.apply(overlay, settings=TTL)
        active, others = self.active_and_standby()
        until(lambda: any(shown.is_ready(one) for one in self.pods().values()), "a pod is Ready", PATIENCE)
        self.keeps_one()
        return active, others

    def test_a_budget_lets_the_active_pod_go_where_the_standby_is_ready(self):
        active, others = self.drained("guard-endpoints")
        until(lambda: self.evict(active) == 201, "it is evicted", PATIENCE)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_budget_keeps_the_active_pod_for_ever_where_it_alone_is_ready(self):
        active, [other] = self.drained("guard-probe")
        self.assertEqual(self.evict(active), 429)
        self.assertEqual(self.evict(other), 201)
        until(lambda: other not in self.pods() and all(map(self.is_listed, self.pods())) and len(self.pods()) == 2,
              "another standby is there", PATIENCE)
        self.assertEqual(self.evict(active), 429)
        self.judge(least_terms=1)


def each_roll_out():
    """A test of TrafficRollOuts for each overlay and strategy. Those that stand still first: they take longest."""
    for overlay, ends_with in (("guard-gate", TrafficRollOuts.ENDS_ALL), ("guard-probe", TrafficRollOuts.ENDS_ALL),
                               ("guard-endpoints", set(TrafficRollOuts.STRATEGIES))):
        for strategy in TrafficRollOuts.STRATEGIES:
            ends = strategy in ends_with
            name = f"test_{overlay}_{'ends' if ends else 'stands_still'}_with_{strategy}"

            def test(self, how=(overlay, strategy, ends)):
                self.rolls_out(*how)
            setattr(TrafficRollOuts, name.replace("-", "_").replace(" ", "_"), test)


each_roll_out()
del Traffic

if __name__ == "__main__":
    main(__file__)
