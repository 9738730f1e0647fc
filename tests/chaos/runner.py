"""Drives worlds to their end, and leaves nothing behind."""
from __future__ import annotations

import os
import secrets
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import namespaces
from world import Phase, World

EXIT_SKIPPED = 77  # what ctest is told to take for it
EXIT_INTERRUPTED = 130
# Not our process id: other runs may have the same one (tests/support/apart).
RUN = secrets.token_hex(4)
TURN_SECONDS = 0.005
PROGRESS_SECONDS = 30
# Between two looks whether a world is over before its time.
LOOK_SECONDS = 0.25


def program(text: str) -> str:
    """The program of a command line, as /proc names its file."""
    return str(Path(text).resolve(strict=True))


def what_is_missing() -> str:
    """Why nothing can be run here, and what to do about it; empty if all is there."""
    if os.geteuid() != 0:
        return "only root can make network namespaces; run it as root"
    for tool in ("ip", "nsenter", "unshare", "sqlite3"):
        if shutil.which(tool) is None:
            return f"there is no `{tool}`; `./dev chaos` installs it"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"the members' cables are TUN devices, and /dev/net/tun cannot be opened: {error}"
    try:
        namespaces.remove(namespaces.create("probe", "x"))
    except RuntimeError as error:
        return f"network namespaces cannot be made here, even by root: {error}"
    return ""


def drive(make: Callable[[], Sequence[World]], is_over: Callable[[World], bool]) -> Sequence[World]:
    """One thread for all worlds: a turn is short, and none of them waits. What they have started
    is gone at the end, also after Ctrl-C or SIGTERM, which is passed on as KeyboardInterrupt."""
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signo, signal.default_int_handler)
    if abandoned := namespaces.remove_abandoned():
        print(f"removed {len(abandoned)} namespaces that an earlier run has left")
    worlds: Sequence[World] = ()
    try:
        worlds = make()
        _turn_until_over(worlds, is_over)
    finally:
        namespaces.remove_ours()
        for world in worlds:
            world.close()
    return worlds


def progress(worlds: Sequence[World]) -> str:
    done = sum(len(world.done) for world in worlds)
    return f"{done} of {sum(len(world.schedule) for world in worlds)} faults"


def _turn_until_over(worlds: Sequence[World], is_over: Callable[[World], bool]) -> None:
    begin = told = looked = time.monotonic()
    latest = 0.0
    while any(world.phase != Phase.OVER for world in worlds):
        for world in worlds:
            world.turn()
        asleep = time.monotonic()
        time.sleep(TURN_SECONDS)
        now = time.monotonic()
        latest = max(latest, now - asleep - TURN_SECONDS)
        if now - looked > LOOK_SECONDS:
            looked = now
            for world in worlds:
                if is_over(world):
                    world.stop()
        if now - told > PROGRESS_SECONDS:
            told = now
            print(f"  {progress(worlds)} after {now - begin:.0f} s", flush=True)
    # Beside an overlap this tells a mistake from a machine that stood still for a kill budget.
    print(f"the machine woke this suite at most {latest * 1000:.0f} ms late")
