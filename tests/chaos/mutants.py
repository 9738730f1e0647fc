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
from verdict import judge
from world import World

# The faults of a scenario come again so often at most; it is over as soon as the mistake has shown.
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
        "sqlite", "deaf", 8000, (Step(500, "stop agent", 5000),)),
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

    def make() -> list[World]:
        return [make_world(name, scenario, programs[name], asked.worker, folder,
                           etcd if scenario.store == "etcd" else None)
                for name, scenario in possible.items()]

    try:
        worlds = runner.drive(make, is_over=lambda world: not judge(world.lives()).holds)
    except KeyboardInterrupt:
        return runner.EXIT_INTERRUPTED
    return conclude(worlds, folder)


def make_world(name: str, scenario: Scenario, program: str, worker: str, folder: Path,
               etcd: releases.Release | None) -> World:
    setting = Setting(program=program, worker_program=worker, worker=scenario.worker,
                      contained=False, timing=scenario.timing)
    return World(name, 0, setting, scenario.schedule(), folder / name, etcd)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos mutants")
    parser.add_argument("--worker", required=True, type=runner.program,
                        help="the program that they run")
    parser.add_argument("--folder", required=True, type=Path,
                        help="where logs and stamps go")
    parser.add_argument("mutants", nargs="+", metavar="NAME=PROGRAM")
    return parser.parse_args()


def conclude(worlds: Sequence[World], folder: Path) -> int:
    alive = False
    for world in worlds:
        verdict = judge(world.lives())
        if verdict.holds:
            alive = True
            print(f"{world.name}: SURVIVES {len(world.done)} faults; {world.problem or 'no rule'} "
                  f"was broken; logs: {world.folder}")
        else:
            what = verdict.versions[:1] or [f"overlap of {verdict.overlap_ns / 1e6:.0f} ms"]
            print(f"{world.name}: found after {len(world.done)} faults: {what[0]}")
    if not alive:
        shutil.rmtree(folder)
    if alive:
        return 1
    return 0 if len(worlds) == len(SCENARIOS) else runner.EXIT_SKIPPED


if __name__ == "__main__":
    sys.exit(main())
