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
from member import EtcdctlMember, Member, Setting
from network import PATIENCE_SECONDS, Network
from processes import boot_ns
from schedule import HOLDER, MEMBERS, Fault

MS = 1_000_000
# Stamps come every millisecond from who has a processor.
FRESH_NS = 100 * MS
# Somebody holds within this time, at the beginning and after the last fault; only a world that has
# failed needs it.
HOLDER_WITHIN_NS = 30_000 * MS
# A fault that finds nothing to hit, e.g. no holder, is tried again for so long. The rest of the
# schedule waits with it, so that no two faults come closer to each other than was planned.
WAIT_NS = 4_000 * MS


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
                 folder: Path, etcd: stores.EtcdRelease | None) -> None:
        self.name = name
        self.store = "etcd" if etcd else "sqlite"
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
        self._undo: list[Undo] = []
        self.phase = Phase.LAYING
        self._phase_since = boot_ns()
        network = Network(name, f"{seed} {name}", folder)
        store: stores.Store = (stores.Etcd(etcd, network, folder) if etcd
                               else stores.Sqlite(network, folder))
        made = EtcdctlMember if Path(setting.program).name == "etcdctl" else Member
        members = {m: made(m, setting, store, network.of[m], folder) for m in MEMBERS}
        self._stage = faults.Stage(members, network, store, folder)

    def turn(self) -> None:
        now = boot_ns()
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

    def since_beginning(self, instant: int) -> float:
        """Seconds."""
        return (instant - self.began) / 1e9

    def stop(self, problem: str = "") -> None:
        self.problem = self.problem or problem
        self._enter(Phase.OVER)

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self._phase_since = boot_ns()

    def _lay(self, now: int) -> None:
        if self._stage.network.lay():
            self._enter(Phase.BEGINNING)
        elif now - self._phase_since > PATIENCE_SECONDS * 1000 * MS:
            self.stop("its network does not come up; see link.log")

    def _await_holder(self, now: int) -> None:
        holder = record.holder(self.runs, now, FRESH_NS)
        if holder is not None and not self._undo:
            self.began = self.began or now
            self._enter(Phase.FAULTS if self._left else Phase.OVER)
        elif now - self._phase_since > HOLDER_WITHIN_NS:
            self.stop(f"nobody holds {HOLDER_WITHIN_NS // (1000 * MS)} s later "
                      f"({self.phase.value}); see the members' logs")

    def _do_due(self, now: int) -> None:
        while self._left and self._due_at(self._left[0]) <= now:
            fault = self._left[0]
            late = now - self._due_at(fault)
            hit = self._carry_out(fault, now, is_last_try=late >= WAIT_NS)
            if hit is None and late < WAIT_NS:
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
