"""The verdict, for people."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from verdict import Overlap, Overstay, Verdict, absence
from world import Done, World

# What was done so long before an overlap, or shortly after it began, may have to do with it.
BEFORE_NS = 6_000_000_000
AFTER_NS = 1_000_000_000
MOST_OVERLAPS_SHOWN = 5


def failures(worlds: Sequence[World]) -> list[str]:
    """What is wrong, a line or more each."""
    found: list[str] = []
    if sum(world.verdict().terms for world in worlds) <= len(worlds):
        found.append("the holder never changed in any election, so nothing was shown")
    for world in worlds:
        verdict = world.verdict()
        if world.problem:
            found.append(f"{world.name}: {world.problem}\n  logs: {world.folder}")
        found += [f"{world.name}: {text}\n  logs: {world.folder}" for text in verdict.versions]
        found += overlaps(world)
        found += overstays(world)
    return found


def overlaps(world: World) -> list[str]:
    """Each with the two lives and what was done before."""
    all_of_them = world.verdict().overlaps
    shown = [_overlap(world, o) for o in all_of_them[:MOST_OVERLAPS_SHOWN]]
    hidden = len(all_of_them) - MOST_OVERLAPS_SHOWN
    return shown + ([f"{world.name}: and {hidden} more overlaps"] if hidden > 0 else [])


def overstays(world: World) -> list[str]:
    """Each with its life and what was done before."""
    return [_overstay(world, o) for o in world.verdict().overstays[:MOST_OVERLAPS_SHOWN]]


def _overstay(world: World, overstay: Overstay) -> str:
    life = overstay.life
    return "\n".join([
        f"{world.name}: {life.identity}, version {life.version}, lived {overstay.nanoseconds / 1e6:.1f} "
        f"ms beyond kill_at and the kill budget: from {world.since_beginning(life.first):.3f} s to "
        f"{world.since_beginning(life.last):.3f} s",
        *_faults(world, life.stop_at - BEFORE_NS, life.last), f"  logs: {world.folder}"])


def _overlap(world: World, overlap: Overlap) -> str:
    lines = [f"{world.name}: two at once for {overlap.nanoseconds / 1e6:.1f} ms"]
    for life in (overlap.earlier, overlap.later):
        lines.append(f"  {life.identity}, version {life.version}: "
                     f"{world.since_beginning(life.first):.3f} s to "
                     f"{world.since_beginning(life.last):.3f} s")
    lines += _faults(world, overlap.first - BEFORE_NS, overlap.first + AFTER_NS)
    lines.append(f"  workload {world.setting.worker}, "
                 f"{'guard and agent apart, ' if world.setting.apart else ''}"
                 f"{'in a PID namespace' if world.setting.contained else 'on the host'}; "
                 f"logs: {world.folder}")
    return "\n".join(lines)


def _faults(world: World, begin: int, end: int) -> list[str]:
    """Those that were on at some time in between."""
    return [f"  at {world.since_beginning(d.at):8.3f} s {d.fault}: {d.whom or 'missed'}"
            for d in world.done if d.until >= begin and d.at <= end]


def longest_gap(worlds: Sequence[World]) -> str:
    """Where nobody held for longest, and what was done then. No failure, but worth a look."""
    gaps = [(gap, world) for world in worlds for gap in world.verdict().gaps]
    if not gaps:
        return ""
    gap, world = max(gaps, key=lambda of: of[0].nanoseconds)
    end = gap.begin + gap.nanoseconds
    return "\n".join([f"{world.name}: nobody held from {world.since_beginning(gap.begin):.3f} s to "
                      f"{world.since_beginning(end):.3f} s; logs: {world.folder}",
                      *_faults(world, gap.begin - BEFORE_NS, end)])


def verdict(title: str, worlds: Sequence[World]) -> str:
    done = [d for world in worlds for d in world.done]
    verdicts = [world.verdict() for world in worlds]
    lines = [title, f"  faults: {sum(1 for d in done if d.whom)}{_missed(done)}"]
    lines += [f"    {text}" for text in _by_kind(done)]
    lines.append(_terms(verdicts))
    if all(world.setting.has_versions for world in worlds):
        lines.append(_versions(verdicts))
    heard, said = _words(worlds)
    if heard:
        lines.append(f"  words: {heard} told by members, {said} by a hostile peer")
    lines.append(f"  overlap: {overlap_of(worlds)}")
    lines += _deaths(worlds, verdicts)
    gone = absence(verdicts)
    lines.append(f"  without a holder: {gone.total / 1000:.1f} s of {_observed(worlds):.1f} s, "
                 f"longest {gone.longest:.0f} ms, median of fail-overs {gone.median:.0f} ms")
    return "\n".join(lines)


def silent(worlds: Sequence[World]) -> list[str]:
    """A failure: members that could have told each other words have told none."""
    of_etcd = [world for world in worlds if world.store == "etcd"]
    if not of_etcd or _words(of_etcd)[0]:
        return []
    return ["no member on etcd has told another one a word, so nothing was shown of that"]


def _words(worlds: Sequence[World]) -> tuple[int, int]:
    all_of_them = [world.words() for world in worlds]
    return sum(heard for heard, _ in all_of_them), sum(said for _, said in all_of_them)


def overlap_of(worlds: Sequence[World]) -> str:
    return f"{sum(world.verdict().overlap_ns for world in worlds) / 1e6:.0f} ms"


def _deaths(worlds: Sequence[World], verdicts: Sequence[Verdict]) -> list[str]:
    """Nothing for a counterpart, whose workloads have no page."""
    latest = [v.latest_ns for v in verdicts if v.latest_ns is not None]
    if not latest:
        return []
    late = sum(len(v.overstays) for v in verdicts)
    budget = worlds[0].setting.budget.kill_ns / 1e6
    return [f"  alive after kill_at: at most {max(0, max(latest)) / 1e6:.1f} ms of the {budget:.0f} that "
            f"it may take to kill{f'; {late} TOO LONG' if late else ''}"]


def _missed(done: Sequence[Done]) -> str:
    missed = sum(1 for d in done if not d.whom)
    return f", and {missed} that found nothing to hit" if missed else ""


def _by_kind(done: Sequence[Done]) -> list[str]:
    groups: dict[str, Counter[str]] = {}
    for d in done:
        if d.whom:
            groups.setdefault(d.fault.kind.group, Counter())[d.fault.kind.name] += 1
    return [f"{group}: " + ", ".join(f"{name} {count}" for name, count in kinds.most_common())
            for group, kinds in groups.items()]


def _terms(verdicts: Sequence[Verdict]) -> str:
    return (f"  terms: {sum(v.terms for v in verdicts)}, in which workloads were started "
            f"{sum(v.lives for v in verdicts)} times, in {len(verdicts)} elections")


def _versions(verdicts: Sequence[Verdict]) -> str:
    wrong = sum(len(v.versions) for v in verdicts)
    return f"  versions: {f'{wrong} wrong' if wrong else 'growing, one a term'}"


def _observed(worlds: Sequence[World]) -> float:
    """Seconds, over all worlds."""
    total = 0
    for world in worlds:
        if lives := world.lives():
            total += max(life.last for life in lives) - lives[0].first
    return total / 1e9
