#!/usr/bin/env python3
"""docker/compose.yaml on a real Docker (tests/docker/run starts it): agents, etcd and Prometheus do what docker/README.md
says. Grafana is not started: see `run`."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

import demo

sys.path.insert(0, str(demo.ROOT / "tests/support"))
import waiting  # noqa: E402

# Nothing waits that long unless it is broken.
PATIENCE = 120
PAGES = {"a": "http://localhost:4041", "b": "http://localhost:4042", "c": "http://localhost:4043"}
PROMETHEUS = "http://localhost:9090"
STARTED = ("install", *demo.AGENTS, *demo.SERVERS, "prometheus")


def command_of_compose() -> list[str]:
    """Compose as this machine has it. Version 1 does not know `name`; all else of the file it reads as it is."""
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose", "--file", str(demo.FILE)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as copy:
        copy.write(re.sub(r"^name: .*\n", "", demo.FILE.read_text(), flags=re.M))
    unittest.addModuleCleanup(os.unlink, copy.name)
    return ["docker-compose", "--file", copy.name, "--project-directory", str(demo.FILE.parent), "--project-name",
            demo.read()["name"]]


def setUpModule():
    global COMPOSE
    COMPOSE = command_of_compose()


def said_by(*words: str) -> str:
    done = subprocess.run(words, text=True, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def compose(*words: str) -> str:
    return said_by(*COMPOSE, *words)


def ask(member: str, *words: str) -> str:
    """What README types: `docker compose exec MEMBER tenure ...`."""
    return compose("exec", "-T", member, "tenure", *words)


def get(url: str, **headers: str) -> str:
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def election(member: str) -> dict | None:
    """What this member's API says, on the port that is published; None while it does not answer."""
    try:
        return json.loads(get(PAGES[member] + "/v1/elections/demo"))
    except OSError:
        return None


def query(expression: str) -> dict[str, float]:
    """The value of each instance."""
    answer = json.loads(get(f"{PROMETHEUS}/api/v1/query?" + urllib.parse.urlencode({"query": expression})))
    return {one["metric"]["instance"].partition(":")[0]: float(one["value"][1]) for one in answer["data"]["result"]}


def until(condition, what: str):
    def tried():
        try:
            return condition()
        except OSError:
            return None

    return waiting.until(tried, what, patience=PATIENCE, pause=0.2)


def active_among(members) -> tuple[str, int] | None:
    """The member that is active and its version, if all others of these stand by and see the same."""
    seen = {member: election(member) for member in members}
    if not all(seen.values()):
        return None
    active = [member for member in members if seen[member]["state"] == "active" and seen[member]["is_self"]]
    standby = [member for member in members if seen[member]["state"] == "candidate"]
    if len(active) != 1 or len(standby) != len(members) - 1:
        return None
    told = {(one["holder"], one["version"]) for one in seen.values() if one["holder_known"]}
    return told.pop() if told == {(active[0], seen[active[0]]["version"])} else None


def settled(members=demo.AGENTS) -> tuple[str, int]:
    return until(lambda: active_among(members), f"one of {', '.join(members)} is active, and the others stand by")


def words_of_workload(member: str, version: int) -> int:
    return compose("logs", "--no-color", member).count(f"I am {member}, version {version}\n")


def processes_of(service: str) -> list[dict[str, str]]:
    """/proc/PID/status of each process in the container."""
    container = said_by("docker", "inspect", *compose("ps", "-q", service).split())
    identity = json.loads(container)[0]["Id"]
    pids = said_by("docker", "top", identity, "-eo", "pid").split()[1:]
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                found.append(dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line))
        except (ProcessLookupError, FileNotFoundError):  # it has ended since
            continue
    return found


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.ends_without_a_trace)
        compose("up", "--detach", "--no-build", *STARTED)

    @classmethod
    def ends_without_a_trace(cls):
        if cls.failed:
            print(compose("logs", "--no-color", "--tail", "40"))
        compose("down", "--volumes")
        left = said_by("docker", "ps", "--all", "--quiet") + said_by("docker", "volume", "ls", "--quiet")
        assert not left, f"`down --volumes` has left {left}"

    failed = False

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            Demo.failed = True

    def test_compose_reads_the_file_and_has_each_service_of_it(self):
        self.assertEqual(set(compose("config", "--services").split()), {*STARTED, demo.RUNS_NOT_HERE})

    def test_one_workload_runs_and_writes_who_it_is(self):
        active, version = settled()
        until(lambda: words_of_workload(active, version) >= 2, f"the workload of {active} writes more than once")
        for other in set(demo.AGENTS) - {active}:
            self.assertEqual(words_of_workload(other, version), 0)

    def test_an_agent_is_asked_by_exec_and_takes_orders_there(self):
        active, version = settled()
        heir = next(member for member in demo.AGENTS if member != active)
        row = next(line for line in ask(active, "status").splitlines() if line.startswith("demo"))
        self.assertEqual(row.split()[1:5], [active, "active", active, str(version)])
        ask(active, "transfer", heir)
        now, later = settled()
        self.assertEqual(now, heir)
        self.assertGreater(later, version)

    def test_each_status_page_is_open_on_its_port_and_takes_no_orders(self):
        settled()
        for member, page in PAGES.items():
            with self.subTest(member):
                self.assertIn("<html", get(page + "/", Accept="text/html,application/xhtml+xml"))
                self.assertEqual(election(member)["identity"], member)
                with self.assertRaises(urllib.error.HTTPError) as stranger:
                    get(page + "/", Host="stranger.example")
                self.assertEqual(stranger.exception.code, 403)
                with self.assertRaises(urllib.error.HTTPError) as order:
                    urllib.request.urlopen(urllib.request.Request(
                        page + "/v1/elections/demo/resign", data=b"{}", headers={"Content-Type": "application/json"}),
                        timeout=10)
                self.assertEqual(order.exception.code, 403)

    def test_prometheus_scrapes_all_three_and_has_the_rules(self):
        active, version = settled()
        until(lambda: query("up") == dict.fromkeys(demo.AGENTS, 1.0), "Prometheus scrapes all three")
        until(lambda: query("tenure_election_active") == {member: float(member == active) for member in demo.AGENTS},
              f"Prometheus sees that {active} is active")
        until(lambda: query("tenure_election_version") == dict.fromkeys(demo.AGENTS, float(version)),
              f"Prometheus sees version {version} at all three")
        groups = json.loads(get(PROMETHEUS + "/api/v1/rules"))["data"]["groups"]
        loaded = {rule["name"] for group in groups for rule in group["rules"]}
        written = re.findall(r"alert: (\w+)", (demo.ROOT / "docker/prometheus/tenure.rules.yml").read_text())
        self.assertGreater(len(written), 10)
        self.assertEqual(loaded, set(written))

    def test_another_takes_over_from_a_killed_one_which_comes_back_as_a_standby(self):
        active, version = settled()
        others = [member for member in demo.AGENTS if member != active]
        compose("kill", active)
        heir, later = settled(others)
        self.assertGreater(later, version)
        until(lambda: words_of_workload(heir, later) >= 1, f"the workload of {heir} runs")
        until(lambda: query(f'up{{instance="{active}:8081"}}') == {active: 0.0}, "Prometheus misses the killed one")
        compose("start", active)
        self.assertEqual(settled(), (heir, later))

    def test_a_stopped_one_hands_over(self):
        active, version = settled()
        compose("stop", active)
        _, later = settled([member for member in demo.AGENTS if member != active])
        self.assertGreater(later, version)
        compose("start", active)
        _, still = settled()
        self.assertEqual(still, later)

    def test_a_server_of_etcd_may_die(self):
        active, version = settled()

        def renewed() -> float:
            page = compose("exec", "-T", active, "wget", "-q", "-O", "-", "http://127.0.0.1:8081/metrics")
            found = re.search(r'^tenure_store_requests_total\{operation="renew",outcome="done"\} (\d+)$', page, re.M)
            return float(found[1])

        compose("kill", "etcd-1")
        before = renewed()
        until(lambda: renewed() >= before + 5, "the lease is renewed at the servers that are left")
        self.assertEqual(settled(), (active, version))
        compose("start", "etcd-1")
        endpoints = ",".join(f"http://{server}:2379" for server in demo.SERVERS)
        health = [*COMPOSE, "exec", "-T", "etcd-2", "etcdctl", "--endpoints", endpoints, "endpoint", "health"]
        until(lambda: subprocess.run(health, capture_output=True, timeout=PATIENCE, check=False).returncode == 0,
              "all three servers are well")

    def test_no_process_has_a_privilege_or_can_write_to_its_root(self):
        settled()
        for service in STARTED[1:]:
            with self.subTest(service):
                inspected = json.loads(said_by("docker", "inspect", *compose("ps", "-q", service).split()))[0]
                self.assertIs(inspected["HostConfig"]["ReadonlyRootfs"], True)
                found = processes_of(service)
                self.assertTrue(found)
                for process in found:
                    self.assertEqual(int(process["CapEff"], 16), 0, process["Name"])
                    self.assertEqual(int(process["CapBnd"], 16), 0, process["Name"])
                    self.assertEqual(process["NoNewPrivs"], "1", process["Name"])
                    self.assertNotIn("0", process["Uid"].split(), process["Name"])

    def test_etcd_is_reached_by_agents_and_by_nobody_else(self):
        inside = json.loads(said_by("docker", "network", "inspect", "tenure_store"))[0]
        names = {re.sub(r"^tenure[-_](.*)[-_]\d+$", r"\1", one["Name"]) for one in inside["Containers"].values()}
        self.assertEqual(names, {*demo.AGENTS, *demo.SERVERS})
        self.assertIs(inside["Internal"], True)


if __name__ == "__main__":
    print("Grafana is not started: no image of it can be made here. What it is given is checked by Docker.ComposeFileIsInOrder, "
          "and its dashboard by Metrics.Dashboard*.", flush=True)
    unittest.main(verbosity=2)
