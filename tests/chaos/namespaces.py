"""Network namespaces that carry our name, and their removal in every case."""
from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from processes import Handle, run

PREFIX = "tenure-chaos"
PATIENCE_SECONDS = 10.0
_NAME = re.compile(rf"{PREFIX}-(\d+)-\S+")
_FOLDER = Path("/run/netns")


def create(world: str, who: str) -> str:
    """A namespace with nothing but loopback in it."""
    name = f"{PREFIX}-{os.getpid()}-{world}-{who}"
    run(["ip", "netns", "add", name])
    run(["ip", "-n", name, "link", "set", "lo", "up"])
    return name


def entering(name: str) -> list[str]:
    """Words before a command; it becomes this process, with the same number."""
    return ["nsenter", f"--net={_FOLDER / name}"]


def processes_in(name: str) -> list[int]:
    """Everybody in it: also what has left its parents and its session."""
    try:
        wanted = os.stat(_FOLDER / name).st_ino
    except FileNotFoundError:
        return []
    return [int(p.name) for p in Path("/proc").iterdir()
            if p.name.isdigit() and _is_in(int(p.name), wanted)]


def _is_in(pid: int, inode: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino == inode
    except OSError:
        return False


def remove(name: str) -> None:
    """Kills what is in it, waits until that writes nothing any more, and removes it."""
    inode = os.stat(_FOLDER / name).st_ino
    inhabitants = [Handle(pid, lambda p: _is_in(p, inode)) for pid in processes_in(name)]
    for one in inhabitants:
        if one:
            one.send(signal.SIGKILL)
    for one in inhabitants:
        one.wait(PATIENCE_SECONDS)
        one.close()
    run(["ip", "netns", "delete", name])


def remove_ours() -> None:
    """Those of this run."""
    for name, owner in _ours():
        if owner == os.getpid():
            remove(name)


def remove_abandoned() -> list[str]:
    """Those of earlier runs that were killed before they could tidy up; their names."""
    gone = [name for name, owner in _ours() if not _is_chaos(owner)]
    for name in gone:
        remove(name)
    return gone


def _ours() -> list[tuple[str, int]]:
    if not _FOLDER.is_dir():
        return []
    names = (_NAME.fullmatch(entry.name) for entry in _FOLDER.iterdir())
    return [(match.group(0), int(match.group(1))) for match in names if match]


def _is_chaos(pid: int) -> bool:
    try:
        return b"chaos" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
