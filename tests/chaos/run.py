#!/usr/bin/env python3
"""The chaos suite: real members, real stores, real faults; see docs/chaos.md."""
from __future__ import annotations

import argparse
import datetime
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import releases
import report
import runner
import schedule
from member import Setting
from releases import Release
from world import World

WORLDS_PER_STORE = 4
STORES = ("etcd", "sqlite", "consul")
FAULTS = 200
FAULTS_AGAINST = 25


@dataclass(frozen=True)
class Contestant:
    """Whom the faults are done to."""

    title: str
    program: str = ""  # of those in the store's release; empty: the binary under test
    has_versions: bool = True
    wait_seconds: int = Setting.wait_seconds
    holder_within_seconds: int = Setting.holder_within_seconds

    @property
    def is_counterpart(self) -> bool:
        return bool(self.program)


TENURE = Contestant("tenure")
# By the store that they lock in.
COUNTERPARTS = {
    "etcd": Contestant("etcdctl lock", "etcdctl"),
    # After a crash its session lives for up to 30 s, and a lock-delay of 15 s follows.
    "consul": Contestant("consul lock", "consul", has_versions=False, wait_seconds=60,
                         holder_within_seconds=90),
}


def main() -> int:
    asked = arguments()
    if problem := runner.what_is_missing():
        print(f"chaos: skipped: {problem}")
        return runner.EXIT_SKIPPED
    wanted = list(STORES) if asked.store == "all" else [asked.store]
    if asked.against:
        wanted = [s for s, other in COUNTERPARTS.items() if other.program == asked.against]
    found = {store: releases.find(store) for store in wanted if store in releases.PROGRAMS}
    for store in [store for store, release in found.items() if release is None]:
        print(f"chaos: {store} is left out: there is none in build/servers; `./dev chaos` gets it")
        wanted.remove(store)
    if not wanted:
        return runner.EXIT_SKIPPED
    print(f"seed {asked.seed}; the same schedules again: --seed {asked.seed}", flush=True)
    folder = asked.folder.resolve() / f"seed-{asked.seed}-{runner.RUN}"
    # One after the other: each has the machine for itself.
    contestants = [TENURE, *(COUNTERPARTS[store] for store in wanted if asked.against)]
    worlds: dict[Contestant, Sequence[World]] = {}
    try:
        for who in contestants:
            worlds[who] = runner.drive(lambda: make_worlds(asked, folder, wanted, found, who),
                                       is_over=lambda world: False)
            show(asked, who, worlds[who], found)
    except KeyboardInterrupt:
        print(f"interrupted; logs and stamps are in {folder}")
        return runner.EXIT_INTERRUPTED
    if asked.against:
        print("overlap: " + ", ".join(f"{who.title} {report.overlap_of(worlds[who])}"
                                      for who in contestants))
    return conclude(asked, worlds[TENURE], folder)


def seed(text: str) -> int:
    """Another one every day, so that the suite does not run the same schedules for ever."""
    return int(os.environ.get("DEV_DRAW") or datetime.date.today().strftime("%Y%m%d")) if text == "drawn" else int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos")
    parser.add_argument("--tenure", required=True, type=runner.program,
                        help="the binary under test")
    parser.add_argument("--worker", required=True, type=runner.program,
                        help="the program that it runs")
    parser.add_argument("--folder", required=True, type=Path,
                        help="where logs and stamps go")
    parser.add_argument("--faults", type=int,
                        help=f"altogether (default {FAULTS}; {FAULTS_AGAINST} with --against)")
    parser.add_argument("--seed", type=seed, default=1,
                        help="of the schedules (default 1); `drawn`: that of the suite (DEV_DRAW), or of the date")
    parser.add_argument("--store", choices=[*STORES, "all"], default="all")
    parser.add_argument("--worlds", type=int, default=WORLDS_PER_STORE,
                        help=f"elections per store, side by side (default {WORLDS_PER_STORE})")
    parser.add_argument("--against", choices=[other.program for other in COUNTERPARTS.values()],
                        help="the same again, to members that are `etcdctl lock` or `consul lock`; "
                             "their overlaps are no failure")
    parser.add_argument("--print-schedule", action="store_true", help="print it before it begins")
    parser.add_argument("--keep", action="store_true", help="keep logs and stamps also if all held")
    asked = parser.parse_args()
    asked.faults = asked.faults or (FAULTS_AGAINST if asked.against else FAULTS)
    return asked


def make_worlds(asked: argparse.Namespace, folder: Path, wanted: list[str],
                found: dict[str, Release | None], who: Contestant) -> list[World]:
    made: list[World] = []
    for number, store in enumerate(wanted):
        share = asked.faults // len(wanted) + (1 if number < asked.faults % len(wanted) else 0)
        made += [make_world(asked, folder / who.title.replace(" ", "-"), store, found.get(store),
                            who, i, share) for i in range(asked.worlds)]
    return made


def make_world(asked: argparse.Namespace, folder: Path, store: str, release: Release | None,
               who: Contestant, index: int, share: int) -> World:
    name = f"{store}-{index}"
    # What slows all worlds down at once comes from one of each store only.
    place = schedule.Place(store=store, worker=schedule.WORKERS[index % len(schedule.WORKERS)],
                           shared=index == 0)
    count = share // asked.worlds + (1 if index < share % asked.worlds else 0)
    faults = schedule.make(asked.seed, name, place, count)
    program = asked.tenure
    if release is not None and not release.keeps_leases_after_a_stall:
        faults = [f for f in faults if f.kind.name != "stop store"]
    contained = (index + (store == "etcd")) % 2 == 0
    apart = not who.is_counterpart and 2 * index >= asked.worlds
    if contained and apart:
        # Nobody else sees the workload of a guard that is stopped (docs/safety.md).
        faults = [f for f in faults if f.kind.name != "stop guard"]
    if who.is_counterpart:
        assert release is not None
        faults = [f for f in faults if not f.kind.of_guard]
        program = release.program(who.program)
    setting = Setting(program=program, worker_program=asked.worker, worker=place.worker,
                      contained=contained, apart=apart,
                      has_versions=who.has_versions, wait_seconds=who.wait_seconds,
                      holder_within_seconds=who.holder_within_seconds)
    if asked.print_schedule:
        print("\n".join(f"{name} {f.at:7} ms  {f}" for f in faults))
    return World(name, asked.seed, setting, faults, folder / name, release)


def show(asked: argparse.Namespace, who: Contestant, worlds: Sequence[World],
         found: dict[str, Release | None]) -> None:
    for store in STORES:
        if of_store := [world for world in worlds if world.store == store]:
            release = found.get(store)
            title = f"{who.title} on {store}" + (f" ({release.name})" if release else "")
            print(report.verdict(title, of_store), flush=True)
            if asked.keep:
                print(report.longest_gap(of_store))
    if who.is_counterpart:
        print("  no counterpart: faults of the guard, which are left out of the schedule")
        for world in worlds:
            notes = [f"{world.name}: {world.problem}"] if world.problem else []
            notes += report.overlaps(world) if asked.keep else []
            print("".join(f"{note}\n" for note in notes), end="")


def conclude(asked: argparse.Namespace, worlds: Sequence[World], folder: Path) -> int:
    """What the counterpart does is no failure."""
    problems = report.failures(worlds) + report.silent(worlds)
    if not problems and not asked.keep:
        shutil.rmtree(folder)
        return 0
    print("\n".join(problems))
    print(f"seed {asked.seed}; logs and stamps are in {folder}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
