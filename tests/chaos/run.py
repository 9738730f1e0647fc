#!/usr/bin/env python3
"""The chaos suite: real members, real stores, real faults; see docs/chaos.md."""
from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import report
import runner
import schedule
import stores
from member import Setting
from world import World

WORLDS_PER_STORE = 4
STORES = ("etcd", "sqlite")


def main() -> int:
    asked = arguments()
    if problem := runner.what_is_missing():
        print(f"chaos: skipped: {problem}")
        return runner.EXIT_SKIPPED
    etcd = stores.find_etcd()
    wanted = ["etcd"] if asked.against else list(STORES) if asked.store == "all" else [asked.store]
    if "etcd" in wanted and etcd is None:
        print("chaos: etcd is left out: there is none in build/servers; `./dev chaos` builds it")
        wanted.remove("etcd")
    if not wanted:
        return runner.EXIT_SKIPPED
    folder = asked.folder.resolve() / f"seed-{asked.seed}-{runner.RUN}"
    try:
        worlds = runner.drive(lambda: make_worlds(asked, folder, wanted, etcd),
                              is_over=lambda world: False)
    except KeyboardInterrupt:
        print(f"interrupted; logs and stamps are in {folder}")
        return runner.EXIT_INTERRUPTED
    return conclude(asked, worlds, folder)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos")
    parser.add_argument("--tenure", required=True, type=runner.program,
                        help="the binary under test")
    parser.add_argument("--worker", required=True, type=runner.program,
                        help="the program that it runs")
    parser.add_argument("--folder", required=True, type=Path,
                        help="where logs and stamps go")
    parser.add_argument("--faults", type=int, default=200, help="altogether (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the schedules (default 1)")
    parser.add_argument("--store", choices=[*STORES, "all"], default="all")
    parser.add_argument("--worlds", type=int, default=WORLDS_PER_STORE,
                        help=f"elections per store, side by side (default {WORLDS_PER_STORE})")
    parser.add_argument("--against", choices=["etcdctl"],
                        help="members are `etcdctl lock` instead; overlaps are no failure then")
    parser.add_argument("--print-schedule", action="store_true", help="print it before it begins")
    parser.add_argument("--keep", action="store_true", help="keep logs and stamps also if all held")
    return parser.parse_args()


def make_worlds(asked: argparse.Namespace, folder: Path, wanted: list[str],
                etcd: stores.EtcdRelease | None) -> list[World]:
    made: list[World] = []
    for number, store in enumerate(wanted):
        share = asked.faults // len(wanted) + (1 if number < asked.faults % len(wanted) else 0)
        made += [make_world(asked, folder, store, etcd, i, share) for i in range(asked.worlds)]
    return made


def make_world(asked: argparse.Namespace, folder: Path, store: str,
               etcd: stores.EtcdRelease | None, index: int, share: int) -> World:
    name = f"{store}-{index}"
    # What slows all worlds down at once comes from one of each store only.
    place = schedule.Place(store=store, worker=schedule.WORKERS[index % len(schedule.WORKERS)],
                           shared=index == 0)
    count = share // asked.worlds + (1 if index < share % asked.worlds else 0)
    faults = schedule.make(asked.seed, name, place, count)
    program = asked.tenure
    if store == "etcd" and etcd is not None:
        if not etcd.keeps_leases_after_a_stall:
            faults = [f for f in faults if f.kind.name != "stop store"]
        if asked.against == "etcdctl":
            faults = [f for f in faults if not f.kind.of_guard]
            program = str((etcd.folder / "etcdctl").resolve())
    setting = Setting(program=program, worker_program=asked.worker, worker=place.worker,
                      contained=(index + (store == "etcd")) % 2 == 0)
    if asked.print_schedule:
        print("\n".join(f"{name} {f.at:7} ms  {f}" for f in faults))
    return World(name, asked.seed, setting, faults, folder / name,
                 etcd if store == "etcd" else None)


def conclude(asked: argparse.Namespace, worlds: Sequence[World], folder: Path) -> int:
    who = "etcdctl lock" if asked.against else "tenure exec"
    for store in STORES:
        if of_store := [world for world in worlds if world.store == store]:
            print(report.verdict(f"{who} on {store}", of_store))
            if asked.keep:
                print(report.longest_gap(of_store))
    if asked.against:
        print("  no counterpart: faults of the guard, which are left out of the schedule")
    problems = [] if asked.against else report.failures(worlds)
    if not problems and not asked.keep:
        shutil.rmtree(folder)
        return 0
    print("\n".join(problems))
    print(f"seed {asked.seed}; logs and stamps are in {folder}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
