"""A namespace with pods of k8s/, and a judge outside of them: what their workloads have stamped (tests/chaos/record.py)."""
import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "chaos")]
import record  # noqa: E402
import verdict  # noqa: E402
import waiting  # noqa: E402

import cluster  # noqa: E402
import image  # noqa: E402
import side_by_side  # noqa: E402

MANIFESTS = HERE.parents[1] / "k8s"
PLUGINS = HERE.parents[1] / "packaging"
TENURE, WORK = "docker.io/tests/tenure", "docker.io/tests/work"
TTL = {"store": "kubernetes", "election": "db", "ttl": "6s"}
# Long enough for a busy kubelet to start a container again.
LONG_TTL = {**TTL, "ttl": "15s"}
# What stamps at least every millisecond is dead if it has not done so for this long.
FRESH_NS = 300_000_000
# The same where others may have had the processor meanwhile.
ENDED_NS = 1_500_000_000
# A pod that is started, and whatever else the kubelet does in its own time.
PATIENCE = 120
# So many tests run at a time. Starting pods is what costs a processor; most of a test waits.
AT_ONCE = 5


def until(condition, what, patience=waiting.PATIENCE):
    """As waiting.until, for conditions that ask an API server."""
    return waiting.until(condition, what, patience, pause=0.2)


def work_at_once(worker="obedient"):
    """The command of a workload that the kubelet starts, and that does not know its version."""
    return ["/bin/sh", "-c", f"TENURE_VERSION=1 exec /bin/worker /stamps $POD_NAME {worker}"]


def work_on_signal(worker="obedient"):
    """The same for one that waits for SIGUSR1; an agent finds it by the beginning, "/bin/sh -c trap"."""
    return ["/bin/sh", "-c", f"trap 'TENURE_VERSION=1 exec /bin/worker /stamps $POD_NAME {worker}' USR1; "
            "while :; do sleep 1 & wait $!; done", "work"]


# What a pod needs for them in the overlays `signal` and `exit-code`.
SIGNAL = {"containers": [{"name": "main", "command": work_on_signal()}],
          "initContainers": [{"name": "tenure", "args": [
              "agent", "--config=/etc/tenure/tenure.yaml", "--target-command-line=/bin/sh -c trap", "--while-standby=run",
              "--on-gain=signal", "--gain-signal=USR1"]}]}
EXIT_CODE = {"containers": [{"name": "main", "command": work_at_once()}]}


def pods_with(spec):
    """The patches that give the pods of the Deployment this."""
    return [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db"}, "spec": {"template": {"spec": spec}}}]


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def load_images(into, tenure, pause, worker):
    folder = into.folder / "images"
    folder.mkdir()
    shell = "/bin/busybox"
    for name, files, entrypoint in (
            ("docker.io/tests/pause:1", {"pause": pause}, ["/pause"]),
            (TENURE + ":1", {"tenure": tenure}, ["/tenure"]),
            # The same program as another image, as an upgrade has it.
            (TENURE + ":2", {"tenure": tenure, "etc/release": HERE / "scene.py"}, ["/tenure"]),
            (WORK + ":1", {"bin/worker": worker, "bin/busybox": shell}, ["/bin/worker"]),
            (WORK + ":2", {"bin/worker": worker, "bin/busybox": shell, "etc/release": HERE / "scene.py"}, ["/bin/worker"]),
            # Of another user than Tenure's.
            (WORK + ":1234", {"bin/worker": worker, "bin/busybox": shell}, ["/bin/worker"]),
            (WORK + ":0", {"bin/worker": worker, "bin/busybox": shell}, ["/bin/worker"])):
        path = folder / "image.tar"
        tag = name.partition(":")[2]
        image.archive(path, name, files, entrypoint,
                      [("bin/sh", "busybox"), ("bin/sleep", "busybox"), ("bin/touch", "busybox")]
                      if "bin/busybox" in files else [], image.USER if tag in ("1", "2") else tag)
        into.load(path)


class Scene(unittest.TestCase):
    """Each test has a namespace of its own; the cluster is shared by all tests of a program, which run side by side."""

    cluster = None  # set by main
    tenure = None   # the program; set by main
    numbers = itertools.count(1)
    # True where the workload knows the version it runs under.
    knows_its_version = True

    def setUp(self):
        self.space = f"t{next(self.numbers)}"
        self.cluster.sent("POST", "/api/v1/namespaces", {"metadata": {"name": self.space}})
        self.stamps = self.cluster.folder / "stamps" / self.space
        self.stamps.mkdir()
        os.chmod(self.stamps, 0o777)
        self.overlay = None
        self.least_terms = 1
        self.addCleanup(self.end)

    def end(self):
        failed = any(error for _, error in getattr(self._outcome, "errors", [])) or \
            bool(getattr(getattr(self._outcome, "result", None), "failures", []))
        if failed:
            print(self.story(), flush=True)
        self.cluster.sent("DELETE", "/api/v1/namespaces/" + self.space, {"gracePeriodSeconds": 1})

    # Manifests ------------------------------------------------------------------------------------

    def kustomize(self, overlay, replicas=2, settings=None, variables=None, patches=(), tenure="1", work="1", worker=None,
                  components=()):
        """A kustomization that puts the workload of the tests into an overlay, with further components; its folder."""
        place = self.cluster.folder / "k8s" / "tests" / self.space
        place.mkdir(parents=True, exist_ok=True)
        command = worker or ["/bin/worker", "/stamps", "$(POD_NAME)", "obedient"]
        kind = "StatefulSet" if overlay.startswith("statefulset") else "Deployment"
        stamping = {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db"}, "spec": {
            "replicas": replicas, "template": {"spec": {
                "volumes": [{"name": "stamps", "hostPath": {"path": str(self.stamps)}}],
                "containers": [{
                    "name": "main", "args": command,
                    "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                    "volumeMounts": [{"name": "stamps", "mountPath": "/stamps"}]}]}}}}
        said = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": self.space,
            "resources": [f"../../overlays/{overlay}"],
            "components": [f"../../components/{one}" for one in components],
            "images": [{"name": "tenure", "newName": TENURE, "newTag": tenure},
                       {"name": "workload", "newName": WORK, "newTag": work}],
            "patches": [{"patch": json.dumps(one)} for one in (stamping, *patches)]}
        maps = said["configMapGenerator"] = []
        if settings:
            # JSON is YAML, too.
            maps.append({"name": "tenure", "behavior": "merge", "files": ["tenure.yaml"]})
            (place / "tenure.yaml").write_text(json.dumps(settings))
        if variables:
            maps.append({"name": "tenure-env", "behavior": "merge", "literals": variables})
        (place / "kustomization.yaml").write_text(json.dumps(said))
        return place

    def apply(self, overlay, **how):
        """Applies an overlay of k8s/ with the workload of the tests."""
        self.overlay = overlay
        self.cluster.kubectl("apply", "-k", str(self.kustomize(overlay, **how)))

    def inject(self, manifest, *words):
        """What `tenure inject` makes of a manifest."""
        done = subprocess.run([self.tenure, "inject", "-", *words], input=manifest, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    # What is there --------------------------------------------------------------------------------

    def path(self, kind, name=""):
        group = {"leases": "/apis/coordination.k8s.io/v1", "deployments": "/apis/apps/v1", "statefulsets": "/apis/apps/v1",
                 "endpointslices": "/apis/discovery.k8s.io/v1", "events": "/api/v1"}.get(kind, "/api/v1")
        return f"{group}/namespaces/{self.space}/{kind}" + (f"/{name}" if name else "")

    def pods(self):
        """By name; those that are being deleted, too."""
        return {one["metadata"]["name"]: one for one in self.cluster.get(self.path("pods"))["items"]}

    def lease(self, name="db"):
        return self.cluster.get(self.path("leases", name))

    def status_of(self, pod, container):
        """The kubelet's word on a container; None before it has one."""
        status = self.pods().get(pod, {}).get("status", {})
        for one in status.get("containerStatuses", []) + status.get("initContainerStatuses", []):
            if one["name"] == container:
                return one
        return None

    def processes(self, pod, container):
        """The ids of its processes as we see them, the first one first; empty if it does not run."""
        status = self.status_of(pod, container)
        if not status or "running" not in status["state"]:
            return []
        return self.cluster.processes(status["containerID"].removeprefix("containerd://"))

    def restarts(self, pod, container):
        return (self.status_of(pod, container) or {}).get("restartCount", 0)

    def signal(self, pod, container, signo, which=0):
        """To the first process of a container, or to the one after it."""
        ids = until(lambda: self.processes(pod, container), f"{container} of {pod} runs", PATIENCE)
        os.kill(ids[which], signo)
        return ids[which]

    def say(self, pod, container, *words):
        """What a command says that is executed in a container."""
        return self.cluster.kubectl("exec", "-n", self.space, pod, "-c", container, "--", *words)

    def doctor(self, pod):
        """The exit status of `tenure doctor` in a pod with a guard, and what it prints."""
        done = self.cluster.kubectl("exec", pod, "-n", self.space, "-c", "tenure", "--", "/tenure", "doctor",
                                    "--config", "/etc/tenure/tenure.yaml", "--guard-dir", "/run/tenure", check=False)
        return done.returncode, done.stdout

    def plugin(self, *words):
        """The ended process of `kubectl tenure`."""
        variables = {**os.environ, **self.cluster.variables()}
        variables["PATH"] = f"{PLUGINS}:{variables['PATH']}"
        return subprocess.run(["kubectl", "tenure", "-n", self.space, *words], env=variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)

    def active(self):
        """The pod whose workload stamps now; None if none does."""
        life = record.holder(self.stamps, now_ns(), FRESH_NS)
        return life.identity if life else None

    def workload_ends(self):
        """Waits until nobody has stamped for longer than a busy machine keeps a workload from it."""
        until(lambda: record.holder(self.stamps, now_ns(), ENDED_NS) is None, "the workload ends with its lease", PATIENCE)

    def becomes_active(self, but=(), patience=PATIENCE):
        """Waits until another pod than those of `but` is active; its name."""
        return until(lambda: (lambda one: one if one and one not in but else None)(self.active()),
                     f"another pod than {but} becomes active", patience)

    def stays_active(self, pod, seconds):
        """Fails if this pod ceases to be active, or began again, within that time."""
        first = self.lives_of(pod)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # On a busy machine it may not have stamped for a moment.
            self.assertIn(self.active(), (pod, None))
            time.sleep(0.05)
        until(lambda: self.active() == pod, f"{pod} goes on")
        self.assertEqual(self.lives_of(pod), first, "its workload was started again")

    def lives_of(self, pod):
        return len({life.first for life in record.read(self.stamps) if life.identity == pod})

    def is_standby(self, pod):
        """Its agent says that it could take over, and its workload does not run."""
        status = self.status_of(pod, "tenure") or {}
        return status.get("ready", False) and self.active() != pod

    def active_and_standby(self, pods=2):
        """Waits for a holder, and for all other pods to be able to take over; the holder, and the others."""
        def settled():
            active = self.active()
            others = [one for one in self.pods() if one != active and self.is_standby(one) and self.is_listed(one)]
            # On a busy machine another one may have become active meanwhile.
            return (active, others) if active and len(others) == pods - 1 and self.active() == active else None
        return until(settled, f"one pod is active and {pods - 1} are standbys", PATIENCE)

    def active_and_listed(self):
        """Waits for a holder and one other member, which need not have a sidecar; both pods."""
        def settled():
            active = self.active()
            others = [one for one in self.pods() if one != active and self.is_listed(one)]
            return (active, others[0]) if active and len(others) == 1 else None
        return until(settled, "one pod is active, and the other waits", PATIENCE)

    def delete(self, pod, *more):
        self.cluster.kubectl("delete", "pod", pod, "-n", self.space, *more, "--wait=false")

    def all_pods_are_of(self, tag, replicas=2):
        """Waits until there are so many pods, and all of them have that image of the workload."""
        until(lambda: len(self.pods()) == replicas and all(self.has_image(one, tag) for one in self.pods().values()),
              f"all pods are of image {tag}", PATIENCE)

    @staticmethod
    def has_image(pod, tag):
        [main] = [one for one in pod["spec"]["containers"] if one["name"] == "main"]
        return main["image"].endswith(tag)

    def is_listed(self, pod):
        return any(one["metadata"]["name"].startswith("db.member-") and
                   one["spec"].get("holderIdentity", "").startswith(pod)
                   for one in self.cluster.get(self.path("leases"))["items"])

    def logs(self, pod, container, *more):
        return self.cluster.kubectl("logs", "-n", self.space, pod, "-c", container, *more, check=False).stdout

    # The verdict ----------------------------------------------------------------------------------

    def judge(self, least_terms=2):
        """Never two workloads at once, and versions that grow; at least so many terms, or nothing was tried."""
        lives = record.read(self.stamps)
        found = verdict.judge(lives)
        self.assertFalse(found.overlaps, f"two workloads ran at once: {found.overlaps}")
        if self.knows_its_version:
            self.assertFalse(found.versions, found.versions)
            self.assertGreaterEqual(found.terms, least_terms)
        else:
            self.assertGreaterEqual(found.lives, least_terms)
        return found

    def story(self):
        """What a person needs who looks into a failure."""
        out = [f"=== {self.space}: {self.overlay}", self.cluster.kubectl("get", "pods,leases", "-n", self.space, "-o", "wide",
                                                                        check=False).stdout]
        for pod in self.pods():
            for container in ("tenure", "main"):
                for more in ((), ("--previous",)):
                    said = self.logs(pod, container, *more)
                    if said:
                        out.append(f"--- {pod} {container} {' '.join(more)}\n" + said[-3000:])
        out.append(self.cluster.kubectl("get", "events", "-n", self.space, check=False).stdout[-3000:])
        out += [str(life) for life in record.read(self.stamps)]
        return "\n".join(out)


def main(script):
    """Runs the tests of this program, in namespaces of their own."""
    parser = argparse.ArgumentParser()
    for name in ("tenure", "pause", "worker"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--inside", action="store_true")
    given, rest = parser.parse_known_args()
    if why := cluster.missing():
        print(why)
        sys.exit(77)
    if not given.inside:
        cluster.enter(script, *sys.argv[1:])
    programs = {name: os.path.abspath(getattr(given, name)) for name in ("tenure", "pause", "worker")}
    Scene.tenure = programs["tenure"]
    tests = side_by_side.load(sys.modules["__main__"], rest)
    # Who names a test wants it.
    if "DEV_WHOLE" not in os.environ and not any("." in name for name in rest):
        tests = side_by_side.drawn(tests, int(os.environ.get("DEV_DRAW", random.randrange(1_000_000))))
    with cluster.Cluster(os.environ[cluster.FOLDER]) as Scene.cluster:
        load_images(Scene.cluster, **programs)
        shutil.copytree(MANIFESTS, Scene.cluster.folder / "k8s")
        ended_well = side_by_side.Runner(AT_ONCE).run(tests)
    sys.exit(0 if ended_well else 1)
