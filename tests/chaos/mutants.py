#!/usr/bin/env python3
"""Real mistakes, planted one by one (mutants/): each must break the promise where the suite looks,
or the suite proves nothing."""
from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import releases
import runner
from member import TIMING, Setting
from schedule import HOLDER, KINDS, MEMBERS, Fault
from world import World

# The faults of a scenario come again so often at most; it is over as soon as the mistake has shown.
# The agent without a mistake has to hold in all of them.
ROUNDS = 3


@dataclass(frozen=True)
class Step:
    """A fault of a scenario. Milliseconds, `at` since its round began."""

    at: int
    kind: str
    duration: int = 0
    delay: int = 0
    victim: str = HOLDER


@dataclass(frozen=True)
class Scenario:
    """Where a mistake shows."""

    store: str
    worker: str
    round: int  # milliseconds
    steps: tuple[Step, ...]
    timing: tuple[str, ...] = TIMING
    apart: bool = False

    def schedule(self) -> list[Fault]:
        return [Fault(at=number * self.round + step.at, kind=KINDS[step.kind], victim=step.victim,
                      otherwise="a", duration=step.duration, delay=step.delay)
                for number in range(ROUNDS) for step in self.steps]


SCENARIOS = {
    # Replies are late, and then requests do not arrive any more. The lateness must be worth more
    # than etcd's own in revoking (up to 500 ms) and all margins together: hence the longer TTL.
    "count_from_reply": Scenario(
        "etcd", "deaf", 22_000,
        (Step(500, "delay replies", 16_000, delay=1500), Step(8000, "cut requests", 9000)),
        timing=("--ttl", "6s", "--kill-budget", "100ms", "--grace", "0s", "--lock-delay", "0s")),
    # All start anew, and what the store knew of the holder is gone.
    "forget_versions": Scenario(
        "sqlite", "obedient", 4000,
        (*(Step(1000, "kill all", victim=member) for member in MEMBERS), Step(1010, "delete key"))),
    "guard_ignores_deadline": Scenario(
        "sqlite", "deaf", 8000, (Step(500, "stop agent", 5000),), apart=True),
    # The next holder waits for longer than that: only the page shows that it is too late.
    "guard_kills_late": Scenario(
        "sqlite", "deaf", 8000, (Step(500, "stop agent", 5000),)),
    # The guard has to say that its agent was killed before it can kill.
    "guard_waits_for_log": Scenario(
        "sqlite", "deaf", 8000, (Step(500, "fill log", 5500), Step(800, "kill agent"))),
    "ignore_deleted_key": Scenario(
        "etcd", "obedient", 4000, (Step(1500, "delete key"),)),
    "kill_first_process_only": Scenario(
        "sqlite", "daemons", 8000, (Step(500, "stop agent", 5000),)),
    "release_before_death": Scenario(
        "sqlite", "deaf", 3000, (Step(500, "terminate"),)),
    # No renewal gets through, so that the agent cannot notice by the missing acknowledgement.
    "trust_frozen_guard": Scenario(
        "etcd", "deaf", 10_000, (Step(500, "cut", 6000), Step(800, "stop guard", 6000))),
}


def main() -> int:
    asked = arguments()
    if problem := runner.what_is_missing():
        print(f"chaos: skipped: {problem}")
        return runner.EXIT_SKIPPED
    etcd = releases.find("etcd")
    folder = asked.folder.resolve() / f"mutants-{runner.RUN}"
    programs = {name: runner.program(path)
                for name, path in (text.split("=", 1) for text in asked.mutants)}
    if programs.keys() != SCENARIOS.keys():
        print(f"mutants/ and SCENARIOS differ: {sorted(programs.keys() ^ SCENARIOS.keys())}")
        return 1
    possible = {n: s for n, s in SCENARIOS.items() if s.store != "etcd" or etcd is not None}
    for name in SCENARIOS.keys() - possible.keys():
        print(f"{name}: left out, there is no etcd in build/servers; `./dev chaos` builds it")

    def make(of: dict[str, str], where: Path) -> list[World]:
        return [make_world(name, scenario, of[name], asked.worker, where,
                           etcd if scenario.store == "etcd" else None)
                for name, scenario in possible.items()]

    def is_over(world: World) -> bool:
        return not world.verdict().holds

    without_mistake = dict.fromkeys(possible, asked.tenure)
    try:
        worlds = runner.drive(lambda: make(programs, folder / "mutants"), is_over)
        # Not beside the mutants: under the same load and timings, and with the same faults.
        controls = runner.drive(lambda: make(without_mistake, folder / "control"), is_over)
    except KeyboardInterrupt:
        return runner.EXIT_INTERRUPTED
    return conclude(worlds, controls, folder)


def make_world(name: str, scenario: Scenario, program: str, worker: str, folder: Path,
               etcd: releases.Release | None) -> World:
    setting = Setting(program=program, worker_program=worker, worker=scenario.worker,
                      contained=False, apart=scenario.apart, timing=scenario.timing)
    return World(name, 0, setting, scenario.schedule(), folder / name, etcd)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos mutants")
    parser.add_argument("--tenure", required=True, type=runner.program,
                        help="the binary without a mistake")
    parser.add_argument("--worker", required=True, type=runner.program,
                        help="the program that they run")
    parser.add_argument("--folder", required=True, type=Path,
                        help="where logs and stamps go")
    parser.add_argument("mutants", nargs="+", metavar="NAME=PROGRAM")
    return parser.parse_args()


def conclude(worlds: Sequence[World], controls: Sequence[World], folder: Path) -> int:
    failed = False
    for world in worlds:
        if what := broken(world):
            print(f"{world.name}: found after {len(world.done)} faults: {what[0]}")
        else:
            failed = True
            print(f"{world.name}: SURVIVES {len(world.done)} faults; {world.problem or 'no rule'} "
                  f"was broken; logs: {world.folder}")
    for control in controls:
        if what := broken(control) or [control.problem] * bool(control.problem):
            failed = True
            print(f"{control.name}: the agent WITHOUT the mistake breaks it, too, after "
                  f"{len(control.done)} faults: {'; '.join(what)}; logs: {control.folder}")
    if failed:
        return 1
    print(f"without a mistake, {sum(len(c.done) for c in controls)} of these faults broke nothing")
    shutil.rmtree(folder)
    return 0 if len(worlds) == len(SCENARIOS) else runner.EXIT_SKIPPED


def broken(world: World) -> list[str]:
    verdict = world.verdict()
    found = verdict.versions[:1]
    if verdict.overlaps:
        found.append(f"overlap of {verdict.overlap_ns / 1e6:.0f} ms")
    if verdict.overstays:
        longest = max(o.nanoseconds for o in verdict.overstays) / 1e6
        found.append(f"alive for {longest:.0f} ms beyond kill_at and the kill budget")
    return found


if __name__ == "__main__":
    sys.exit(main())
