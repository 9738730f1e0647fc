#!/usr/bin/env python3
"""pods_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: pods of k8s/ on a real Kubernetes."""
import os
import shutil
import signal

import cluster
from scene import EXIT_CODE, LONG_TTL, PATIENCE, SIGNAL, TENURE, TTL, WORK, Scene, main, pods_with, until
from side_by_side import alone, last


class Guard(Scene):
    """Overlay `guard`: the main container's command runs under `tenure guard`."""

    def start(self, settings=TTL, **how):
        self.apply("guard", settings=settings, **how)
        return self.active_and_standby(how.get("replicas", 2))

    def test_one_pod_is_active_and_its_end_moves_the_lease(self):
        active, others = self.start()
        shown = self.cluster.kubectl("get", "lease", "db", "-n", self.space)
        self.assertIn(active + "_tenure-", shown)
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_pod_that_is_deleted_by_force_is_dead_before_another_is_active(self):
        active, others = self.start()
        self.delete(active, "--force", "--grace-period=0")
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_killed_agent_costs_no_fail_over(self):
        active, _ = self.start(settings=LONG_TTL)
        self.signal(active, "tenure", signal.SIGKILL)
        # Longer than the lease that it had.
        self.stays_active(active, 20)
        self.assertEqual(self.restarts(active, "tenure"), 1)
        self.judge(least_terms=1)

    def test_an_order_in_the_agents_container_moves_the_lease_also_after_a_crash(self):
        active, [other] = self.start(settings=LONG_TTL)
        # Its socket stays in the volume, and the next agent has the same process id.
        self.signal(active, "tenure", signal.SIGKILL)
        until(lambda: self.restarts(active, "tenure") == 1 and
              (self.status_of(active, "tenure") or {}).get("ready"), "the new agent is ready", PATIENCE)
        self.say(active, "tenure", "/tenure", "wait", "--for", "active", "--timeout", "60s")
        self.assertIn("standby", self.say(other, "tenure", "/tenure", "status"))
        self.say(active, "tenure", "/tenure", "transfer", other)
        self.assertEqual(self.becomes_active([active]), other)
        self.judge()

    def test_a_new_image_of_the_agent_alone_costs_no_fail_over(self):
        active, _ = self.start(settings=LONG_TTL)
        self.cluster.kubectl("set", "image", "pod/" + active, "-n", self.space, "tenure=docker.io/tests/tenure:2")
        until(lambda: self.restarts(active, "tenure") == 1 and
              (self.status_of(active, "tenure") or {}).get("ready"), "the new agent is ready", PATIENCE)
        self.assertIn(":2", self.status_of(active, "tenure")["image"])
        # Longer than the lease that it had.
        self.stays_active(active, 20)
        self.judge(least_terms=1)

    def test_a_stopped_agents_workload_is_dead_before_another_is_active(self):
        active, others = self.start()
        agent = self.signal(active, "tenure", signal.SIGSTOP)
        self.assertIn(self.becomes_active([active]), others)
        os.kill(agent, signal.SIGCONT)
        self.judge()

    def test_a_main_container_that_is_killed_whole_frees_its_lease_at_once(self):
        # As by the OOM killer on cgroup v2. The agent is in another PID namespace, so only the kernel can have told it that
        # nothing is left; a lease that has run out has no such reason.
        active, others = self.start(settings=LONG_TTL)
        self.signal(active, "main", signal.SIGKILL)
        other = self.becomes_active([active])
        self.assertIn(other, others)
        self.assertIn("container_died", self.say(other, "tenure", "/tenure", "history"))
        until(lambda: self.restarts(active, "main") == 1, "the kubelet starts the main container again", PATIENCE)
        self.judge()

    def test_a_stopped_guards_workload_ends_with_the_lease(self):
        active, others = self.start(worker=["/bin/worker", "/stamps", "$(POD_NAME)", "asking"])
        guard = self.signal(active, "main", signal.SIGSTOP)
        self.assertIn(self.becomes_active([active]), others)
        os.kill(guard, signal.SIGCONT)
        self.judge()

    def test_a_workload_that_ends_gives_the_lease_up(self):
        active, others = self.start()
        self.signal(active, "main", signal.SIGKILL, which=1)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_nothing_that_a_workload_leaves_behind_lives_on(self):
        active, others = self.start(worker=["/bin/worker", "/stamps", "$(POD_NAME)", "daemons"])
        self.signal(active, "tenure", signal.SIGSTOP)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_three_pods_have_one_holder(self):
        active, others = self.start(replicas=3)
        self.delete(active)
        second = self.becomes_active([active])
        self.assertIn(second, others)
        self.delete(second)
        self.becomes_active([active, second])
        self.judge(least_terms=3)

    def test_the_plugin_of_kubectl_asks_orders_and_examines(self):
        active, [other] = self.start()
        for pod in (active, other, "deployment/db"):
            done = self.plugin("status", pod)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, rf"(?m)^db .* {active} ")
        done = self.plugin("doctor", active)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ok +guard +one listens in /run/tenure")
        done = self.plugin("wait", other, "--for", "active", "--timeout", "100ms")
        self.assertEqual(done.returncode, 124, "the status is the verb's: " + done.stdout + done.stderr)
        self.assertEqual(self.plugin("transfer", active, other).returncode, 0)
        self.assertEqual(self.becomes_active([active]), other)
        done = self.plugin("status", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn('pods "none" not found', done.stderr)
        self.judge()

    def test_the_plugin_of_kubectl_says_where_there_is_no_agent(self):
        self.cluster.kubectl("create", "deployment", "plain", "-n", self.space, "--image=" + WORK + ":1", "--replicas=0")
        done = self.plugin("status", "deployment/plain")
        self.assertEqual(done.returncode, 1)
        self.assertIn("deployment/plain has no container whose command is `tenure exec`", done.stderr)

    @alone
    def test_a_drained_node_lets_its_pods_end_in_order(self):
        active, _ = self.start()
        self.cluster.kubectl("drain", cluster.NODE, "--ignore-daemonsets", "--delete-emptydir-data", "--force",
                             "--timeout=60s")
        self.cluster.kubectl("uncordon", cluster.NODE)
        self.becomes_active([active])
        self.judge()


class Injected(Scene):
    """A Deployment that knows nothing of Tenure, after `tenure inject`."""

    PLAIN = """\
# The workload, as its team has it.
apiVersion: v1
kind: ServiceAccount
metadata: {{name: db}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: db
spec:
  replicas: 2
  selector:
    matchLabels: {{app: db}}
  template:
    metadata:
      labels: {{app: db}}
    spec:
      serviceAccountName: db{user}
      containers:
      - name: main
        image: {work}:{tag}
        command: ["/bin/sh", "-c", "{command}"]   # stamps for ever{probe}
        env:
        - name: POD_NAME
          valueFrom: {{fieldRef: {{fieldPath: metadata.name}}}}
        volumeMounts:
        - {{name: stamps, mountPath: /stamps}}
      volumes:
      # Where it stamps.
      - name: stamps
        hostPath: {{path: {stamps}}}
"""
    # The worker stamps under a version only.
    COMMAND = "[ -z $TENURE_VERSION ] || exec /bin/worker /stamps $POD_NAME obedient; exec sleep 1000"
    SIDECAR = ["--election", "db", "--ttl", "6s", "--rbac", "--image", TENURE + ":1"]

    def start(self, user="", more=(), tag="1", probe=""):
        self.overlay = "injected"
        self.plain = self.PLAIN.format(user=user, work=WORK, tag=tag, probe=probe, stamps=self.stamps, command=self.COMMAND)
        self.words = [*self.SIDECAR, *more]
        self.injected = self.inject(self.plain, *self.words)
        self.apply_text(self.injected)
        return self.active_and_standby()

    def apply_text(self, text):
        self.cluster.kubectl("apply", "-n", self.space, "-f", "-", given=text)

    def diff(self, text):
        """What `kubectl diff` shows, with its exit status."""
        done = self.cluster.kubectl("diff", "-n", self.space, "-f", "-", given=text, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_one_pod_is_active_and_uninject_leaves_what_was_there(self):
        active, others = self.start("\n      securityContext: {runAsUser: 1000}")
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()
        self.assertEqual(self.diff(self.inject(self.injected, *self.words)), (0, ""))
        self.assertEqual(self.diff(self.plain)[0], 1)

        back = self.inject(self.injected, "--uninject")
        self.assertEqual(back, self.plain)
        self.apply_text(back)
        spec = self.cluster.get(self.path("deployments", "db"))["spec"]["template"]["spec"]
        [main] = spec["containers"]
        self.assertNotIn("initContainers", spec)
        self.assertEqual([one["name"] for one in spec["volumes"] + main["volumeMounts"]], ["stamps", "stamps"])
        self.assertEqual(main["command"], ["/bin/sh", "-c", self.COMMAND])
        until(lambda: not any("initContainers" in one["spec"] for one in self.pods().values()),
              "no pod has the sidecar", PATIENCE)

    def test_the_sidecar_of_an_image_with_a_user_of_its_own_needs_no_number(self):
        self.check_an_image_of("1234")

    def test_the_sidecar_of_an_image_of_root_needs_no_number(self):
        self.check_an_image_of("0")

    def check_an_image_of(self, tag):
        # A probe that always fails is asked on the active pod only.
        active, others = self.start(tag=tag, probe="""
        readinessProbe: {exec: {command: ["/bin/sh", "-c", "exit 1"]}, periodSeconds: 1, failureThreshold: 1}""")
        until(lambda: not self.status_of(active, "main")["ready"], "the active pod is not Ready", PATIENCE)
        until(lambda: self.status_of(others[0], "main")["ready"], "the standby is Ready", PATIENCE)
        self.say(active, "tenure", "/tenure", "transfer", others[0])
        second = self.becomes_active([active])
        self.assertIn(second, others)
        # A new agent finds the guard, and a new guard its agent.
        self.signal(second, "tenure", signal.SIGKILL)
        until(lambda: self.restarts(second, "tenure") == 1 and
              (self.status_of(second, "tenure") or {}).get("ready"), "the new agent is ready", PATIENCE)
        self.signal(second, "main", signal.SIGKILL)
        until(lambda: self.restarts(second, "main") == 1, "the kubelet starts the main container again", PATIENCE)
        third = self.becomes_active()
        self.delete(third)
        self.becomes_active([third])
        self.judge()

    def test_a_workload_of_root_has_a_sidecar_of_root(self):
        active, [other] = self.start("\n      securityContext: {runAsUser: 0, runAsGroup: 0}")
        self.say(active, "tenure", "/tenure", "transfer", other)
        self.assertEqual(self.becomes_active([active]), other)
        self.judge()

    def test_an_upgrade_of_the_sidecar_is_another_injection(self):
        self.start("\n      securityContext: {runAsUser: 1000}")
        newer = self.inject(self.injected, *self.words[:-1], TENURE + ":2")
        self.apply_text(newer)
        until(lambda: len(self.pods()) == 2 and all(
            ":2" in (self.status_of(pod, "tenure") or {}).get("image", "") for pod in self.pods()), "all are new", PATIENCE)
        self.active_and_standby()
        self.judge()


class Operators(Scene):
    """What is done to the Lease, to the rights and to the API server while pods of the overlay `guard` run."""

    def start(self, **settings):
        self.apply("guard", settings={**TTL, **settings})
        return self.active_and_standby()

    @alone
    def test_an_api_server_that_is_away_for_less_than_a_ttl_costs_nothing(self):
        active, _ = self.start(ttl="15s")
        server = self.cluster.parts["apiserver"]
        server.freeze()
        self.stays_active(active, 5)
        server.thaw()
        self.stays_active(active, 20)
        self.judge(least_terms=1)

    # Controllers, and the kubelet, look at pods again up to half a minute after their API server is back.
    @last
    def test_an_api_server_that_is_away_for_longer_ends_the_workload(self):
        active, _ = self.start()
        server = self.cluster.parts["apiserver"]
        server.kill()
        self.workload_ends()
        server.start()
        self.becomes_active(patience=PATIENCE)
        self.judge()

    def test_a_deleted_lease_ends_the_term_and_versions_grow(self):
        active, _ = self.start()
        self.cluster.kubectl("delete", "lease", "db", "-n", self.space)
        until(lambda: self.lives_of(active) > 1 or self.active() not in (active, None),
              "another term begins", PATIENCE)
        self.judge()

    def test_a_lease_that_an_operator_gives_to_somebody_else_is_lost(self):
        active, _ = self.start()
        self.cluster.kubectl("patch", "lease", "db", "-n", self.space, "--type=merge", "-p",
                             '{"spec":{"holderIdentity":"operator","leaseDurationSeconds":5}}')
        self.workload_ends()
        self.becomes_active()
        self.judge()

    def test_rights_that_are_taken_away_end_the_term_in_time(self):
        active, _ = self.start()
        role = self.cluster.get(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.space}/roles/tenure")
        none = {**role, "rules": []}
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.space}/roles/tenure"
        for one in (none, role):
            one["metadata"].pop("resourceVersion", None)
        self.assertEqual(self.cluster.api("PUT", path, none)[0], 200)
        self.workload_ends()
        said = self.logs(active, "tenure")
        self.assertIn("cannot", said)
        self.assertEqual(self.cluster.api("PUT", path, role)[0], 200)
        self.becomes_active()
        self.judge()


class Tokens(Scene):
    """Tokens that expire, in the place where the kubelet puts them and replaces them in time."""

    PLACE = "/var/run/secrets/kubernetes.io/serviceaccount"
    LIFE = 20
    # The API server remembers for so long that a token was good.
    REMEMBERED = 10

    def start(self):
        self.folder = self.cluster.folder / "stamps" / (self.space + "-account")
        self.folder.mkdir()
        (self.folder / "namespace").write_text(self.space)
        shutil.copy(self.cluster.keys.file("ca.pem"), self.folder / "ca.crt")
        self.account = until(lambda: self.cluster.get(self.path("serviceaccounts", "tenure")) or self.applied(), "it is there")
        self.give(self.LIFE)
        return self.active_and_standby()

    def applied(self):
        volume = {"name": "account", "hostPath": {"path": str(self.folder)}}
        mount = {"name": "account", "mountPath": self.PLACE, "readOnly": True}
        self.apply("guard", settings=TTL, patches=[{
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"}, "spec": {"template": {"spec": {
                "volumes": [volume], "initContainers": [{"name": "tenure", "volumeMounts": [mount]}]}}}}])

    def give(self, seconds):
        """As the kubelet does it: the name is moved to the new content."""
        new = self.folder / "token.new"
        new.write_text(self.cluster.keys.token(self.account, seconds))
        new.replace(self.folder / "token")

    def test_a_token_that_is_replaced_in_time_costs_nothing(self):
        active, others = self.start()
        self.give(300)
        self.stays_active(active, self.LIFE + self.REMEMBERED + 15)
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_token_that_expires_ends_the_term_in_time(self):
        active, _ = self.start()
        self.workload_ends()
        said = self.logs(active, "tenure")
        self.assertIn(f"the token in {self.PLACE}/token is unknown to the API server, or expired", said)
        self.give(300)
        self.becomes_active()
        self.judge()


class Doctor(Scene):
    """`tenure doctor` in the sidecar of a pod that runs."""

    def examine(self, pod):
        """The exit status, and what it prints: a list of (word, check, text)."""
        status, said = self.doctor(pod)
        return status, [line.split(None, 2) for line in said.splitlines()]

    def assert_line(self, lines, word, check, text):
        self.assertTrue(any(one[:2] == [word, check] and text in one[2] for one in lines),
                        f"no line {word} {check} {text} in {lines}")

    def may(self, resources):
        """The ServiceAccount of the pods may also get these objects of apps."""
        self.cluster.kubectl("create", "role", "owners", "-n", self.space, "--verb=get",
                             "--resource=" + ",".join(one + ".apps" for one in resources))
        self.cluster.kubectl("create", "rolebinding", "owners", "-n", self.space, "--role=owners",
                             f"--serviceaccount={self.space}:tenure")

    def test_a_pod_where_all_is_well(self):
        self.apply("guard", settings=TTL)
        active, others = self.active_and_standby()
        for pod in (active, *others):
            status, lines = self.examine(pod)
            self.assertEqual(status, 0, lines)
            state = "active" if pod == active else "standby"
            self.assert_line(lines, "ok", "agent", f"{pod} is {state} in db, and reaches its store")
            self.assert_line(lines, "ok", "version", f"{pod} runs tenure ")
            self.assert_line(lines, "ok", "store", "Kubernetes v1.")
            self.assert_line(lines, "ok", "holder", f"db: {active} under version ")
            self.assert_line(lines, "ok", "budget", "ttl 6 s")
            self.assert_line(lines, "ok", "clocks", "")
            self.assert_line(lines, "ok", "rights", "get, list, watch, patch, create, delete leases")
            self.assert_line(lines, "ok", "guard", "one listens in /run/tenure")
            # The Role of this overlay has no rights on pods.
            self.assert_line(lines, "skip", "pod", "needs the right to get pods")
        # Neither the guard nor the agent has noticed anything.
        self.stays_active(active, 10)
        self.judge(least_terms=1)

    def test_a_right_that_is_taken_away_is_named(self):
        self.apply("guard", settings=TTL)
        active, others = self.active_and_standby()
        self.cluster.kubectl("patch", "role", "tenure", "-n", self.space, "--type=json", "-p",
                             '[{"op":"replace","path":"/rules/0/verbs","value":["get","list","watch","patch"]}]')
        until(lambda: self.examine(others[0])[0] == 1, "the API server goes by the new Role", PATIENCE)
        _, lines = self.examine(others[0])
        for verb in ("create", "delete"):
            self.assert_line(lines, "BAD", "rights", f"lacks the right to {verb} leases in namespace {self.space}")

    def test_a_roll_out_that_never_ends_is_found(self):
        self.apply("guard-gate", settings=TTL)
        active, _ = self.active_and_standby()
        status, lines = self.examine(active)
        self.assertEqual(status, 0, lines)
        self.assert_line(lines, "ok", "grace", "30 has room for its guard's drain 20 s")
        self.assert_line(lines, "ok", "volume", "volume tenure-run at /run/tenure is shared by 2 containers")
        self.assert_line(lines, "skip", "roll-out", "needs the right to get replicasets")
        self.may(["replicasets", "deployments"])
        until(lambda: any(one[:2] == ["ok", "roll-out"] for one in self.examine(active)[1]),
              "the API server goes by the new Role", PATIENCE)
        # Nothing of the pods changes, so no roll-out begins.
        self.cluster.kubectl("patch", "deployment", "db", "-n", self.space, "-p",
                             '{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":1}}}}')
        status, lines = self.examine(active)
        self.assertEqual(status, 1, lines)
        self.assert_line(lines, "BAD", "roll-out", "a roll-out of Deployment db never ends")
        self.judge(least_terms=1)

    def test_a_short_grace_period_is_found(self):
        self.apply("guard-gate", settings=TTL, patches=[{
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"},
            "spec": {"template": {"spec": {"terminationGracePeriodSeconds": 10}}}}])
        active, _ = self.active_and_standby()
        status, lines = self.examine(active)
        self.assertEqual(status, 0, lines)
        self.assert_line(lines, "warn", "grace", "terminationGracePeriodSeconds 10 is less than")


class Exec(Scene):
    """Overlay `exec`: agent, guard and command in one container."""

    def start(self):
        self.apply("exec", settings=TTL)
        active = self.becomes_active()
        until(lambda: all((self.status_of(pod, "main") or {}).get("started") for pod in self.pods()) and
              all(self.is_listed(pod) for pod in self.pods()), "both pods have started", PATIENCE)
        return active, [pod for pod in self.pods() if pod != active]

    def test_its_end_moves_the_lease(self):
        active, others = self.start()
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_an_order_in_its_container_moves_the_lease(self):
        active, [other] = self.start()
        self.say(active, "main", "/tenure-bin/tenure", "transfer", other)
        self.assertEqual(self.becomes_active([active]), other)
        self.assertEqual(self.plugin("transfer", other, active).returncode, 0)
        self.assertEqual(self.becomes_active([other]), active)
        self.judge()

    def test_a_killed_agent_is_started_again_by_its_guard(self):
        active, _ = self.start()
        # The guard is the first process, its agent the second.
        self.signal(active, "main", signal.SIGKILL, which=1)
        self.stays_active(active, 15)
        self.assertEqual(self.restarts(active, "main"), 0)
        self.judge(least_terms=1)

    def test_a_stopped_agents_workload_is_dead_before_another_is_active(self):
        active, others = self.start()
        agent = self.signal(active, "main", signal.SIGSTOP, which=1)
        self.assertIn(self.becomes_active([active]), others)
        os.kill(agent, signal.SIGCONT)
        self.judge()

    def test_a_killed_container_takes_all_along(self):
        active, _ = self.start()
        self.signal(active, "main", signal.SIGKILL)
        until(lambda: self.restarts(active, "main") == 1, "the kubelet starts it again", PATIENCE)
        self.becomes_active()
        self.judge(least_terms=1)


class Witness(Scene):
    """Component `witness`: who has nobody left in its pod that could release its lease is seen by the kubelet."""

    # Nobody waits that long for a lease that runs out.
    TTL = {**TTL, "ttl": "5m"}

    def start(self, overlay, **how):
        self.apply(overlay, settings=self.TTL, components=["witness"], **how)
        return self.active_and_listed()

    def last_words(self, pod):
        ended = (self.status_of(pod, "main") or {}).get("lastState", {}).get("terminated")
        return None if ended is None else ended.get("message", "")

    def test_a_container_that_dies_with_its_agent_is_followed_at_once(self):
        active, other = self.start("exec")
        self.signal(active, "main", signal.SIGKILL)
        self.assertEqual(self.becomes_active([active]), other)
        self.assertIn("last term here: version ", until(lambda: self.last_words(active), "the kubelet shows it", PATIENCE))
        self.assertIn("container_died", self.say(other, "main", "/tenure-bin/tenure", "history"))
        self.assertIn("the kubelet shows that container main of the holder has ended", self.logs(other, "main"))
        self.judge()

    def test_a_pod_that_dies_as_a_whole_is_followed_at_once(self):
        active, other = self.start("guard")
        agent, guard = self.processes(active, "tenure")[0], self.processes(active, "main")[0]
        os.kill(agent, signal.SIGKILL)
        os.kill(guard, signal.SIGKILL)
        self.assertEqual(self.becomes_active([active]), other)
        self.judge()

    def test_where_containers_share_their_processes_the_end_of_one_is_no_word(self):
        # Where the agent is not process 1, its number is in its name by default.
        name = {"name": "TENURE_IDENTITY", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
        active, _ = self.start("exec", patches=pods_with(
            {"shareProcessNamespace": True, "containers": [{"name": "main", "env": [name]}]}))
        self.signal(active, "main", signal.SIGKILL)
        until(lambda: self.last_words(active) is not None, "the kubelet starts the container again", PATIENCE)
        self.assertEqual(self.last_words(active), "")


class Signal(Scene):
    """Overlay `signal`: the kubelet starts the workload, which waits for SIGUSR1."""

    knows_its_version = False
    def start(self):
        self.apply("signal", settings=TTL, patches=pods_with(SIGNAL))
        return self.active_and_standby()

    def test_its_end_moves_the_lease(self):
        active, others = self.start()
        self.delete(active)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_an_order_in_the_agents_container_moves_the_lease(self):
        active, [other] = self.start()
        # Members are not named by their pods alone: the agents are not the first processes here.
        self.say(active, "tenure", "/tenure", "resign")
        self.assertEqual(self.becomes_active([active]), other)
        self.judge()

    def test_a_stopped_agents_workload_is_dead_before_another_is_active(self):
        active, others = self.start()
        # The first process is the guard, which has started the agent.
        agent = self.signal(active, "tenure", signal.SIGSTOP, which=1)
        self.assertIn(self.becomes_active([active]), others)
        os.kill(agent, signal.SIGCONT)
        self.judge()

    def test_a_stopped_guards_workload_is_dead_before_another_is_active(self):
        active, others = self.start()
        self.signal(active, "tenure", signal.SIGSTOP)
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_killed_agents_container_is_followed_by_its_workload(self):
        active, _ = self.start()
        self.signal(active, "tenure", signal.SIGKILL)
        self.becomes_active(patience=PATIENCE)
        self.judge(least_terms=1)


class ExitCode(Scene):
    """Overlay `exit-code`: the kubelet starts all containers of the pod again."""

    knows_its_version = False

    def start(self):
        self.apply("exit-code", settings=LONG_TTL, patches=pods_with(EXIT_CODE))
        active = self.becomes_active()
        until(lambda: all(self.is_listed(pod) for pod in self.pods()), "both pods are listed", PATIENCE)
        return active, [pod for pod in self.pods() if pod != active]

    def test_its_end_moves_the_lease(self):
        active, _ = self.start()
        self.delete(active)
        self.becomes_active([active])
        self.judge()

    @last
    def test_a_lost_lease_starts_all_containers_again(self):
        active, _ = self.start()
        self.cluster.parts["apiserver"].kill()
        self.workload_ends()
        self.cluster.parts["apiserver"].start()
        self.becomes_active(patience=PATIENCE)
        self.judge()


if __name__ == "__main__":
    main(__file__)
