"""Which faults hit whom and when: drawn from a seed before anything starts."""
from __future__ import annotations

from dataclasses import dataclass, replace

from draws import Draws

MEMBERS = ("a", "b", "c")
WORKERS = ("obedient", "deaf", "daemons", "asking")
HOLDER = "holder"

# Between two faults in one world, in milliseconds.
LEAST_GAP = 300
MOST_GAP = 2000
# Most faults hit the holder of that time: those can do harm.
FOR_HOLDER = 0.85

# After a fault of the guard or the agent both are up or starting again within this time.
SETTLE = 2000
# A deleted key is safe only if its holder hears of it within lock_delay (docs/safety.md), so it
# comes when all has been quiet for so long, and nothing else comes for a while. Three servers that
# all were dead take some seconds until one of them leads.
QUIET_BEFORE = {"etcd": 3500, "sqlite": 3500, "consul": 8000}
QUIET_AFTER = 1200
FOR_DELETION = 0.07

# Most agents whose log nobody takes are hit soon after: then the guard has to kill, and something
# to say about it.
FOR_AGENT = 0.7
MOST_UNTIL_AGENT = 800
OF_AGENT = ("kill agent", "stop agent")


@dataclass(frozen=True)
class Kind:
    """A kind of fault. Durations in milliseconds; 0 where it has none."""

    name: str
    group: str  # what it hits: member, log, workload, network, store, operator, machine
    weight: int
    least: int = 0
    most: int = 0
    stores: tuple[str, ...] = ()  # the only ones it makes sense for; empty: all
    worker: str = ""  # the only one it is allowed for
    of_guard: bool = False  # so that it has no counterpart where there is none


WITH_SERVERS = ("etcd", "consul")

KINDS = {
    kind.name: kind
    for kind in (
        # Agent and guard stand in for each other: one of them at a time, see `allowed`.
        Kind("kill agent", "member", 6),
        Kind("stop agent", "member", 8, 500, 4500),
        Kind("kill guard", "member", 6, of_guard=True),
        Kind("stop guard", "member", 6, 500, 3500, of_guard=True),
        Kind("stop both", "member", 10, 2500, 5000, worker="asking", of_guard=True),
        Kind("kill all", "member", 5),
        Kind("terminate", "member", 5),
        Kind("fill log", "log", 8, 2500, 6000),
        Kind("close log", "log", 2),
        Kind("kill workload", "workload", 2),
        Kind("stop workload", "workload", 3, 300, 3000),
        Kind("cut", "network", 7, 300, 5000, stores=WITH_SERVERS),
        Kind("cut replies", "network", 7, 300, 4000, stores=WITH_SERVERS),
        Kind("cut requests", "network", 5, 300, 4000, stores=WITH_SERVERS),
        Kind("delay", "network", 4, 1500, 5000, stores=WITH_SERVERS),
        Kind("delay replies", "network", 4, 1500, 5000, stores=WITH_SERVERS),
        Kind("loss", "network", 5, 1500, 5000, stores=WITH_SERVERS),
        Kind("stop store", "store", 4, 200, 3500, stores=WITH_SERVERS),
        Kind("kill store", "store", 3, 100, 2500, stores=WITH_SERVERS),
        Kind("restart store", "store", 3, 100, 2500, stores=WITH_SERVERS),
        Kind("stop leader", "store", 5, 200, 5000, stores=("consul",)),
        Kind("kill leader", "store", 4, 100, 4000, stores=("consul",)),
        Kind("hold lock", "store", 12, 100, 3500, stores=("sqlite",)),
        Kind("kill writer", "store", 6, 50, 1500, stores=("sqlite",)),
        Kind("delete key", "operator", 2),
        Kind("revoke lease", "operator", 1, stores=WITH_SERVERS),
        Kind("release lock", "operator", 1, stores=("consul",)),
        Kind("starve", "machine", 3, 500, 2000),
    )
}


@dataclass(frozen=True)
class Fault:
    """One line of a schedule. Milliseconds since the world began."""

    at: int
    kind: Kind
    victim: str  # HOLDER, or a member
    otherwise: str  # the member that is hit if nobody holds
    duration: int
    delay: int = 0  # of each packet
    loss: float = 0.0

    @property
    def end(self) -> int:
        return self.at + self.duration

    @property
    def needs_holder(self) -> bool:
        """It hits what only a holder has, or what matters only there."""
        return self.victim == HOLDER and self.kind.group in ("member", "log", "workload")

    def __str__(self) -> str:
        text = self.kind.name
        if self.kind.group in ("member", "log", "workload", "network"):
            text += f" of {self.victim}"
            if self.victim == HOLDER:
                text += f", else {self.otherwise}"
        if self.duration:
            text += f" for {self.duration} ms"
        if self.delay:
            text += f", {self.delay} ms"
        if self.loss:
            text += f", {self.loss:.0%}"
        return text


def allowed(kind: Kind, at: int, before: list[Fault]) -> bool:
    """Whether a fault of this kind may begin at `at`, after those.

    The guard kills when the agent cannot, and the other way round. With both of them gone
    or stopped nobody kills (docs/safety.md), so the next fault of either waits until the one before
    is over and both are up again.
    """
    if kind.group == "member":
        return all(f.end + SETTLE <= at for f in before if f.kind.group == "member")
    if kind.group in ("log", "workload", "store", "machine"):
        return all(f.end + MOST_GAP // 2 <= at for f in before if f.kind.group == kind.group)
    return True


@dataclass(frozen=True)
class Place:
    """What decides which kinds of fault a world may have."""

    store: str
    worker: str
    shared: bool = False  # also with faults that hit every world at once

    def may_have(self, kind: Kind) -> bool:
        if kind.group == "machine" and not self.shared:
            return False
        if kind.stores and self.store not in kind.stores:
            return False
        return kind.worker in ("", self.worker)


def make(seed: int, world: str, place: Place, count: int) -> list[Fault]:
    """The schedule of one world."""
    draws = Draws(seed, world)
    possible = [(k, k.weight) for k in KINDS.values() if place.may_have(k)]
    random_kinds = [(k, w) for k, w in possible if k.group != "operator"]
    operator_kinds = [(k, w) for k, w in possible if k.group == "operator"]
    faults: list[Fault] = []
    at = 0
    while len(faults) < count:
        at += draws.between(LEAST_GAP, MOST_GAP)
        if draws.chance(FOR_DELETION):
            kind = draws.weighted(operator_kinds)
            at = max([at] + [f.end + QUIET_BEFORE[place.store] for f in faults])
        else:
            fit = [(k, w) for k, w in random_kinds if allowed(k, at, faults)]
            if not fit:
                continue
            kind = draws.weighted(fit)
        with_agent = kind.group == "log" and draws.chance(FOR_AGENT)
        if with_agent:
            at = max([at] + [f.end + SETTLE for f in faults if f.kind.group == "member"])
        faults.append(_draw(draws, kind, at))
        if with_agent:
            at += draws.between(1, MOST_UNTIL_AGENT)
            faults.append(_draw_on_agent(draws, faults[-1], at))
        if kind.group == "operator":
            at += QUIET_AFTER
    return faults[:count]


def _draw_on_agent(draws: Draws, log: Fault, at: int) -> Fault:
    """Of the member whose log was hit."""
    fault = _draw(draws, KINDS[draws.one_of(OF_AGENT)], at)
    return replace(fault, victim=log.victim, otherwise=log.otherwise)


def _draw(draws: Draws, kind: Kind, at: int) -> Fault:
    named = draws.one_of(MEMBERS)
    return Fault(
        at=at,
        kind=kind,
        victim=HOLDER if draws.chance(FOR_HOLDER) or kind.group == "workload" else named,
        otherwise=named,
        duration=draws.between(kind.least, kind.most) if kind.most else 0,
        delay=draws.between(30, 900) if kind.name.startswith("delay") else 0,
        loss=draws.between(15, 70) / 100 if kind.name == "loss" else 0.0,
    )
