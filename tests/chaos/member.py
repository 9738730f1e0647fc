"""The members of a world: each supervised, as by a container runtime or an init system."""
from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import namespaces
import processes
from consul import Consul
from log_pipe import LogPipe
from processes import program_of
from stores import ELECTION, Etcd, Store
from verdict import Budget

# What the machine that runs this can keep, even with every processor taken twice over: SIGKILL, and
# its sender, are on time within kill_budget, and news of a deleted key within lock_delay.
TIMING = ("--ttl", "2s", "--kill-budget", "300ms", "--grace", "200ms", "--lock-delay", "500ms",
          "--drain", "400ms")
ETCDCTL_TTL_SECONDS = 2
# One a second: a new leader is elected within them, and they are far below its lock-delay.
CONSUL_MONITOR_RETRIES = 3

RESTART_AFTER_NS = 200_000_000

# As it calls itself (agent/guard/agent_process.hpp).
AGENT_NAME = "tenure-agent"

_NANOSECONDS = {"ms": 1_000_000, "s": 1_000_000_000}  # the longer word first


@dataclass(frozen=True)
class Setting:
    """What the members of a world are."""

    program: str  # tenure, or that of a counterpart
    worker_program: str
    worker: str  # one of schedule.WORKERS
    contained: bool  # the guard is the first process of a PID namespace, as in a container
    apart: bool = False  # guard and agent are started, and end, each by itself
    timing: tuple[str, ...] = TIMING
    has_versions: bool = True  # that grow with each grant
    # A fault that finds nothing to hit, e.g. no holder, is tried again for so long. The rest of the
    # schedule waits with it, so that no two faults come closer to each other than was planned.
    wait_seconds: int = 4
    # Somebody holds within this time, at the beginning and after the last fault; only a world that
    # has failed needs it.
    holder_within_seconds: int = 30

    @property
    def budget(self) -> Budget:
        return Budget(grace_ns=self._option_ns("--grace"), kill_ns=self._option_ns("--kill-budget"))

    def _option_ns(self, name: str) -> int:
        text = self.timing[self.timing.index(name) + 1]
        unit = next(unit for unit in _NANOSECONDS if text.endswith(unit))
        return int(text.removesuffix(unit)) * _NANOSECONDS[unit]


class Place:
    """One program that is started again whenever it has ended."""

    def __init__(self, log_file: Path, words: Callable[[], list[str]]) -> None:
        self._log_file = log_file
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_at = 0
        self._log: LogPipe | None = None  # of the latest start
        self._logs: list[LogPipe] = []  # of each start, as long as anybody can write to it

    def supervise(self, now: int) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                return
            self._process = None
            self._ended_at = now
        if now - self._ended_at >= RESTART_AFTER_NS:
            self._log = LogPipe(self._log_file)
            self._logs.append(self._log)
            self._process = processes.spawn_into(self._words(), self._log.write_end,
                                                 environment=_clean_environment())
            self._log.started()

    @property
    def pid(self) -> int | None:
        """Nothing if it does not run."""
        runs = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process is not None and runs else None

    def all(self) -> list[int]:
        """Every process of it that has a living ancestor among them."""
        return [] if self.pid is None else [self.pid, *processes.descendants(self.pid)]

    @property
    def log(self) -> LogPipe | None:
        """Nothing if it does not run, or if nobody reads it any more."""
        return self._log if self.pid and self._log is not None and self._log.is_open else None

    def copy_logs(self) -> None:
        for log in self._logs:
            log.copy()
        self._logs = [log for log in self._logs if log.is_open]

    def close_logs(self) -> None:
        """Call when all that could write to them is gone."""
        for log in self._logs:
            log.go_on()
            while log.copy():
                pass
            log.close()
        self._logs = []


class Member:
    """A guard with its agent and its workload: `tenure exec`, or guard and agent apart, as in two
    containers of a pod."""

    def __init__(self, name: str, setting: Setting, store: Store, namespace: str,
                 folder: Path) -> None:
        self.name = name
        self.namespace = namespace
        self._setting = setting
        self._store = store
        self._folder = folder
        self._starts = 0
        self._pods = 0
        self._first = Place(folder / f"{name}.log", self._first_words)
        self._agent = (Place(folder / f"{name}-agent.log", self._agent_words)
                       if setting.apart else None)
        self._shared = folder / f"{name}.guard"
        if setting.apart:
            self._shared.mkdir(mode=0o700)

    @property
    def _places(self) -> list[Place]:
        return [self._first, *([self._agent] if self._agent else [])]

    def supervise(self, now: int) -> None:
        for place in self._places:
            place.supervise(now)

    def copy_logs(self) -> None:
        for place in self._places:
            place.copy_logs()

    def close_logs(self) -> None:
        """Call when all that could write to them is gone."""
        for place in self._places:
            place.close_logs()

    @property
    def log(self) -> LogPipe | None:
        """That of the guard; nothing if it does not run, or if nobody reads it any more."""
        return self._first.log

    @property
    def identity(self) -> str:
        """Of the workload. No two starts have the same, so that a version in two hands shows."""
        return f"{self.name}-{self._starts}"

    def _first_words(self) -> list[str]:
        self._starts += 1
        words = namespaces.entering(self.namespace)
        if self._setting.contained:
            words += ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        return words + (self._guard_command() if self._setting.apart else self._command())

    def _guard_command(self) -> list[str]:
        timing = self._setting.timing
        drain = timing[timing.index("--drain") + 1]
        return [self._setting.program, "guard", "--dir", str(self._shared), "--drain", drain, "--",
                *self._worker()]

    def _agent_words(self) -> list[str]:
        # A pod that is made anew has another name; a container in it that is started again has not.
        if self._pods == 0 or self.guard() is None:
            self._pods += 1
        return [*namespaces.entering(self.namespace), self._setting.program, "agent",
                *self._store.flags(self.name), "--election", ELECTION,
                "--identity", f"{self.name}-{self._pods}", "--guard-dir", str(self._shared),
                "--listen", "off", "--probe-listen", "off", *self._setting.timing]

    def _command(self) -> list[str]:
        s = self._setting
        return [s.program, "exec", *self._store.flags(self.name), "--election", ELECTION,
                "--identity", self.identity, "--listen", "off", "--probe-listen", "off",
                *s.timing, "--", *self._worker()]

    def _worker(self) -> list[str]:
        return [self._setting.worker_program, str(self._folder / "runs"), self.identity,
                self._setting.worker]

    def all(self) -> list[int]:
        """Every process of it that has a living ancestor among them."""
        return [pid for place in self._places for pid in place.all()]

    def guard(self) -> int | None:
        return next((p for p in self._first.all() if program_of(p) == self.program), None)

    def agent(self) -> int | None:
        if self._agent is not None:
            return next((p for p in self._agent.all() if program_of(p) == self.program), None)
        guard = self.guard()
        if guard is None:
            return None
        # By its name: what waits in the guard's place is a child that runs the same program.
        return next((p for p in processes.children(guard) if processes.name_of(p) == AGENT_NAME),
                    None)

    def workload(self) -> list[int]:
        """Its first process first."""
        return [p for p in self.all() if program_of(p) == self.worker_program]

    @property
    def program(self) -> str:
        return self._setting.program

    @property
    def worker_program(self) -> str:
        return self._setting.worker_program

    def kill_all(self) -> bool:
        """Guard, agent and workload at once."""
        running = [place.pid for place in self._places if place.pid is not None]
        for pid in running:
            processes.kill_tree(pid)
        return bool(running)


class Counterpart(Member):
    """Another program in the same place, for comparison. It has no guard; its agent is itself."""

    def guard(self) -> int | None:
        return None

    def agent(self) -> int | None:
        return next((p for p in self.all() if program_of(p) == self.program), None)

    def supervise(self, now: int) -> None:
        if self._first.pid is None:
            self._kill_leftovers()
        super().supervise(now)

    def _kill_leftovers(self) -> None:
        """As systemd does before it starts a service again; tenure has to do without."""
        for pid in namespaces.processes_in(self.namespace):
            processes.send(pid, self.worker_program, signal.SIGKILL)


class EtcdctlLock(Counterpart):
    def _command(self) -> list[str]:
        assert isinstance(self._store, Etcd)
        return [self.program, f"--endpoints={self._store.endpoint(self.name)}", "lock",
                f"--ttl={ETCDCTL_TTL_SECONDS}", ELECTION, "--", *self._worker()]


class ConsulLock(Counterpart):
    """Its TTL and its lock-delay are 15 s each, and there is no option for them."""

    def _command(self) -> list[str]:
        assert isinstance(self._store, Consul)
        return [self.program, "lock", f"-http-addr={self._store.endpoints(self.name)[0]}", "-n=1",
                "-child-exit-code", f"-monitor-retry={CONSUL_MONITOR_RETRIES}", "-shell=false",
                ELECTION, *self._worker()]


def _clean_environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TENURE_", "CONSUL_"))}
    return {**kept, "ETCDCTL_API": "3", "TENURE_RUNTIME_DIR": "off"}
