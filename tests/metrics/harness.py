"""Real agents, and a real Prometheus that scrapes them."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for room in ("chaos", "support"):
    sys.path.insert(0, str(ROOT / "tests" / room))

import processes  # noqa: E402
from ports import free_port  # noqa: E402

SERVERS = ROOT / "build" / "servers" / "prometheus"
TENURE = os.environ.get("TENURE_BINARY", str(ROOT / "build" / "dev" / "tenure"))

# Nothing waits that long unless it is broken.
PATIENCE_SECONDS = 60
BETWEEN_LOOKS_SECONDS = 0.05
# How often Prometheus looks in these tests.
INTERVAL = "200ms"


def eventually(condition: Callable[[], object], what: Callable[[], str] | str) -> None:
    """Waits until `condition` holds. What it raises while things start or end is not yet."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what if isinstance(what, str) else what()}")
        time.sleep(BETWEEN_LOOKS_SECONDS)


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def promtool(*words: str, stdin: str | None = None) -> str:
    """Its output; an AssertionError with it if it finds fault."""
    done = subprocess.run([SERVERS / "promtool", *words], input=stdin, text=True,
                          capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


class Program:
    """One process with all that it starts; ended with it."""

    def __init__(self, words: list[str], log: Path) -> None:
        self.log = log
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TENURE_")}
        environment["TENURE_RUNTIME_DIR"] = "off"
        self._process = processes.spawn(words, log, environment=environment)

    @property
    def pid(self) -> int:
        return self._process.pid

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def send(self, signo: int) -> None:
        self._process.send_signal(signo)

    def wait(self) -> int:
        return self._process.wait(timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        """All of it at once, as a machine that loses its power."""
        if self._process.poll() is None:
            tree = [processes.Handle(pid, lambda _: True)
                    for pid in [self._process.pid, *processes.descendants(self._process.pid)]]
            processes.kill_tree(self._process.pid)
            # Its ports and files are wanted by the next one.
            for one in tree:
                assert one.wait(PATIENCE_SECONDS), f"{self.log.stem} did not end"
                one.close()
        self._process.wait(timeout=PATIENCE_SECONDS)


class Agent(Program):
    """`tenure VERB`, with its probes on a port that stays the same when it is started again."""

    def __init__(self, folder: Path, name: str, port: int, words: list[str]) -> None:
        self.name = name
        self.port = port
        self.instance = f"127.0.0.1:{port}"
        super().__init__([TENURE, *words], folder / f"{name}.log")

    def page(self) -> str:
        return get(f"http://{self.instance}/metrics")

    def is_active(self) -> bool:
        try:
            get(f"http://{self.instance}/leader")
            return True
        except urllib.error.HTTPError:
            return False

    def agent_pid(self) -> int:
        """The agent's process id, where a guard has started it."""
        return next((p for p in processes.children(self.pid)
                     if processes.name_of(p) == "tenure-agent"), self.pid)


class Prometheus(Program):
    """A server over the given targets; `rules` is a file of alert rules."""

    def __init__(self, folder: Path, targets: list[str], rules: Path | None = None) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        config = folder / "prometheus.json"  # JSON is YAML, too
        config.write_text(json.dumps({
            "global": {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL,
                       "evaluation_interval": INTERVAL},
            "rule_files": [str(rules)] if rules else [],
            "scrape_configs": [{"job_name": "tenure",
                                "static_configs": [{"targets": targets}]}],
        }))
        super().__init__([str(SERVERS / "prometheus"), f"--config.file={config}",
                          f"--storage.tsdb.path={folder / 'tsdb'}",
                          f"--web.listen-address={self.url.removeprefix('http://')}"],
                         folder / "prometheus.log")

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each sample."""
        url = f"{self.url}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        result = json.loads(get(url))["data"]["result"]
        return [(one["metric"], float(one["value"][1])) for one in result]

    def value(self, expression: str) -> float | None:
        """The value of the only sample; None if there is none."""
        found = self.query(expression)
        assert len(found) <= 1, f"{expression} has {len(found)} samples: {found}"
        return found[0][1] if found else None

    def value_there(self, expression: str) -> float:
        """The value of the only sample, as soon as there is one: a scrape that takes longer than its interval leaves none."""
        found: list[float] = []

        def look() -> bool:
            found[:] = [one for one in [self.value(expression)] if one is not None]
            return bool(found)

        eventually(look, f"{expression} has a value")
        return found[0]

    def alerts(self) -> dict[str, list[dict[str, object]]]:
        """Those that fire, by name."""
        found: dict[str, list[dict[str, object]]] = {}
        for one in json.loads(get(f"{self.url}/api/v1/alerts"))["data"]["alerts"]:
            if one["state"] == "firing":
                found.setdefault(one["labels"]["alertname"], []).append(one)
        return found


class Scene(unittest.TestCase):
    """A folder, and programs that end with the test."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tenure-metrics-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self._ports: dict[str, int] = {}

    def _ends_with_test(self, one: Program) -> None:
        self.addCleanup(one.kill)

    def port(self, name: str) -> int:
        return self._ports.setdefault(name, free_port())

    def instance(self, name: str) -> str:
        return f"127.0.0.1:{self.port(name)}"

    def agent(self, name: str, verb: str, *words: str, election: str = "db", ttl: str = "2s",
              listen: str = "off", command: tuple[str, ...] = ()) -> Agent:
        """On SQLite, answering its probes."""
        flags = ["--store", "sqlite", "--endpoint", str(self.folder / "leases.db"),
                 "--election", election, "--identity", name, "--ttl", ttl, "--listen", listen,
                 "--probe-listen", self.instance(name), *words]
        one = Agent(self.folder, name, self.port(name),
                    [verb, *flags, *(["--", *command] if command else [])])
        self._ends_with_test(one)
        eventually(one.page, lambda: f"{name} shows its metrics; it said:\n{one.said()}")
        return one

    def member(self, name: str, *words: str, **more: str) -> Agent:
        """`tenure exec` of a command that does nothing."""
        return self.agent(name, "exec", *words, command=("sleep", "1000"), **more)

    def active(self, one: Agent) -> Agent:
        eventually(one.is_active, lambda: f"{one.name} becomes active; it said:\n{one.said()}")
        return one

    def prometheus(self, *names: str, rules: Path | None = None) -> Prometheus:
        server = Prometheus(self.folder, [self.instance(n) for n in names], rules)
        self._ends_with_test(server)
        eventually(lambda: get(server.url + "/-/ready"),
                   lambda: f"Prometheus is ready; it said:\n{server.said()}")
        return server


def main() -> None:
    """Runs the tests of the caller; skips them where there is no Prometheus."""
    if not (os.access(SERVERS / "prometheus", os.X_OK)
            and os.access(SERVERS / "promtool", os.X_OK)):
        print("there is no Prometheus: `tests/servers/provide prometheus` unpacks Debian's")
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    unittest.main(verbosity=2)
