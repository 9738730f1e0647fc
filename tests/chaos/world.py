"""One election of three members and its store, with a schedule of faults of its own."""
from __future__ import annotations

import enum
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import faults
import record
import stores
from consul import Consul
from member import ConsulLock, EtcdctlLock, Member, Setting
from network import PATIENCE_SECONDS, Network
from processes import boot_ns
from releases import Release
from schedule import HOLDER, MEMBERS, Fault
from verdict import Verdict, judge

MS = 1_000_000
SECOND = 1000 * MS
# Stamps come every millisecond from who has a processor.
FRESH_NS = 100 * MS

MEMBERS_OF: dict[str, type[Member]] = {"etcdctl": EtcdctlLock, "consul": ConsulLock}


@dataclass(frozen=True)
class Done:
    """A fault as it was carried out. CLOCK_BOOTTIME."""

    fault: Fault
    at: int
    whom: str  # empty: there was nothing to hit

    @property
    def until(self) -> int:
        return self.at + self.fault.duration * MS


class Phase(enum.Enum):
    LAYING = "laying cables"
    BEGINNING = "waiting for the first holder"
    FAULTS = "faults"
    RECOVERING = "waiting for a holder after the last fault"
    OVER = "over"


@dataclass(order=True)
class Undo:
    due: int
    number: int
    call: Callable[[], object] = field(compare=False)


class World:
    """Driven by `turn`, which never waits. Not begun until the first one."""

    def __init__(self, name: str, seed: int, setting: Setting, schedule: list[Fault],
                 folder: Path, release: Release | None) -> None:
        self.name = name
        self.store = release.store if release else "sqlite"
        self.setting = setting
        self.folder = folder
        self.runs = folder / "runs"
        self.runs.mkdir(parents=True)
        self.done: list[Done] = []
        self.problem = ""  # what ended it before its time
        self.began = 0
        self._waited = 0
        self.schedule = schedule
        self._left = list(schedule)
        self._attempt: faults.Hit | None = None  # of the next fault, which does not know yet
        self._undo: list[Undo] = []
        self.phase = Phase.LAYING
        self._phase_since = boot_ns()
        network = Network(name, f"{seed} {name}", folder)
        store = _make_store(release, network, folder)
        made = MEMBERS_OF.get(Path(setting.program).name, Member)
        members = {m: made(m, setting, store, network.of[m], folder) for m in MEMBERS}
        self._stage = faults.Stage(members, network, store, folder)

    def turn(self) -> None:
        now = boot_ns()
        # Also when this is over: other worlds need not be, and the members run on.
        for member in self._stage.members.values():
            member.copy_logs()
        if self.phase == Phase.LAYING:
            self._lay(now)
            return
        if self.phase == Phase.OVER:
            return
        self._stage.store.supervise()
        for member in self._stage.members.values():
            member.supervise(now)
        while self._undo and self._undo[0].due <= now:
            heapq.heappop(self._undo).call()
        if self.phase == Phase.FAULTS:
            self._do_due(now)
        else:
            self._await_holder(now)

    def lives(self) -> list[record.Life]:
        return record.read(self.runs)

    def words(self) -> tuple[int, int]:
        """As Network.words."""
        return self._stage.network.words()

    def verdict(self) -> Verdict:
        return judge(self.lives(), self.setting.budget)

    def since_beginning(self, instant: int) -> float:
        """Seconds."""
        return (instant - self.began) / 1e9

    def close(self) -> None:
        """Call when all that ran in its namespaces is gone."""
        for member in self._stage.members.values():
            member.close_logs()
        self._stage.network.close()

    def stop(self, problem: str = "") -> None:
        self.problem = self.problem or problem
        self._enter(Phase.OVER)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._phase_since = boot_ns()

    def _lay(self, now: int) -> None:
        if self._stage.network.lay():
            self._enter(Phase.BEGINNING)
        elif now - self._phase_since > PATIENCE_SECONDS * SECOND:
            self.stop("its network does not come up; see link.log")

    def _await_holder(self, now: int) -> None:
        holder = record.holder(self.runs, now, FRESH_NS)
        if holder is not None and not self._undo:
            self.began = self.began or now
            self._enter(Phase.FAULTS if self._left else Phase.OVER)
        elif now - self._phase_since > self.setting.holder_within_seconds * SECOND:
            self.stop(f"nobody holds {self.setting.holder_within_seconds} s later "
                      f"({self.phase.value}); see the members' logs")

    def _do_due(self, now: int) -> None:
        while self._left and self._due_at(self._left[0]) <= now:
            fault = self._left[0]
            late = now - self._due_at(fault)
            is_last_try = late >= self.setting.wait_seconds * SECOND
            hit = self._attempt or self._carry_out(fault, now, is_last_try)
            self._attempt = None
            if hit is not None and hit.has_found is not None:
                found = hit.has_found()
                if found is None:
                    self._attempt = hit
                    return
                hit = hit if found else None
            if hit is None and not is_last_try:
                return
            self._waited += late
            self._left.pop(0)
            done = Done(fault, boot_ns(), hit.whom if hit else "")
            self.done.append(done)
            if hit and hit.undo:
                heapq.heappush(self._undo, Undo(done.until, len(self.done), hit.undo))
        if not self._left:
            self._enter(Phase.RECOVERING)

    def _due_at(self, fault: Fault) -> int:
        return self.began + self._waited + fault.at * MS

    def _carry_out(self, fault: Fault, now: int, is_last_try: bool) -> faults.Hit | None:
        victim = fault.victim
        if victim == HOLDER:
            holder = record.holder(self.runs, now, FRESH_NS)
            if holder is None and fault.needs_holder and not is_last_try:
                return None
            victim = holder.member if holder else fault.otherwise
        return faults.carry_out(fault, victim, self._stage)


def _make_store(release: Release | None, network: Network, folder: Path) -> stores.Store:
    if release is None:
        return stores.Sqlite(network, folder)
    if release.store == "etcd":
        return stores.Etcd(release, network, folder)
    return Consul(release, network, folder)
