"""What the record says about the promise: never two at once, nobody after its time, and versions
that grow."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from record import Life


@dataclass(frozen=True)
class Budget:
    """What a workload has left after the `stop_at` of its page: `kill_at` comes `grace_ns` later, and
    `kill_ns` after that nothing of it lives."""

    grace_ns: int
    kill_ns: int


@dataclass(frozen=True)
class Overstay:
    life: Life
    nanoseconds: int  # beyond kill_at and the kill budget


@dataclass(frozen=True)
class Overlap:
    earlier: Life
    later: Life

    @property
    def first(self) -> int:
        return self.later.first

    @property
    def nanoseconds(self) -> int:
        return min(self.earlier.last, self.later.last) - self.later.first


@dataclass(frozen=True)
class Gap:
    begin: int
    nanoseconds: int


@dataclass
class Verdict:
    """The verdict on one world. Times are in nanoseconds."""

    lives: int = 0
    terms: int = 0
    overlaps: list[Overlap] = field(default_factory=list)
    overlap_ns: int = 0  # time in which more than one lived
    overstays: list[Overstay] = field(default_factory=list)
    latest_ns: int | None = None  # the latest death, since its kill_at; None: no page was seen
    versions: list[str] = field(default_factory=list)  # what is wrong with them
    failovers: list[int] = field(default_factory=list)  # without a holder between two terms
    gaps: list[Gap] = field(default_factory=list)  # without a holder between any two lives

    @property
    def holds(self) -> bool:
        return not self.overlaps and not self.overstays and not self.versions


def judge(lives: Sequence[Life], budget: Budget | None = None) -> Verdict:
    """`lives` from oldest to newest, as record.read gives them. Without a budget nobody lives too
    long."""
    result = Verdict(lives=len(lives), terms=len({life.version for life in lives}))
    _overlaps(lives, result)
    if budget is not None:
        _overstays(lives, budget, result)
    _versions(lives, result)
    _gaps(lives, result)
    return result


def _overlaps(lives: Sequence[Life], result: Verdict) -> None:
    # A stamp is of an instant at which its process lived, so two ranges that touch overlap.
    for i, earlier in enumerate(lives):
        result.overlaps += [Overlap(earlier, later) for later in lives[i + 1:]
                            if later.first <= earlier.last]
    covered = None
    for overlap in sorted(result.overlaps, key=lambda o: o.first):
        end = overlap.first + overlap.nanoseconds
        begin = overlap.first if covered is None else max(overlap.first, covered)
        result.overlap_ns += max(0, end - begin)
        covered = end if covered is None else max(covered, end)


def _overstays(lives: Sequence[Life], budget: Budget, result: Verdict) -> None:
    """The next holder waits, so a workload that lives too long need not overlap anybody."""
    for life in lives:
        if life.stop_at == 0:
            continue
        after_kill_at = life.last - life.stop_at - budget.grace_ns
        if result.latest_ns is None or after_kill_at > result.latest_ns:
            result.latest_ns = after_kill_at
        if after_kill_at > budget.kill_ns:
            result.overstays.append(Overstay(life, after_kill_at - budget.kill_ns))


def _versions(lives: Sequence[Life], result: Verdict) -> None:
    """A term is its version: several lives of one member may belong to it, one after the other, and
    nobody else's."""
    owner: dict[int, str] = {}
    for earlier, later in zip(lives, lives[1:]):
        if later.version < earlier.version:
            result.versions.append(f"{later.identity} began under version {later.version} after "
                                   f"{earlier.identity} under {earlier.version}")
    for life in lives:
        first = owner.setdefault(life.version, life.identity)
        if first != life.identity:
            result.versions.append(f"version {life.version} was given to {first} and "
                                   f"to {life.identity}")


def _gaps(lives: Sequence[Life], result: Verdict) -> None:
    if not lives:
        return
    newest = lives[0]
    for life in lives[1:]:
        gap = max(0, life.first - newest.last)
        result.gaps.append(Gap(newest.last, gap))
        if life.version != newest.version:
            result.failovers.append(gap)
        if life.last > newest.last:
            newest = life


@dataclass(frozen=True)
class Absence:
    """Time without a holder, in milliseconds."""

    total: float
    longest: float
    median: float


def absence(verdicts: Sequence[Verdict]) -> Absence:
    gaps = [gap.nanoseconds / 1e6 for v in verdicts for gap in v.gaps]
    per_failover = [ns / 1e6 for v in verdicts for ns in v.failovers]
    return Absence(sum(gaps), max(gaps, default=0.0), median(per_failover) if per_failover else 0.0)
