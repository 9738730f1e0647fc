"""Processes: started so that they do not outlive us, found in /proc, signalled without mistakes."""
from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def boot_ns() -> int:
    """CLOCK_BOOTTIME, as in the stamps of workloads."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def spawn(words: Sequence[str], log: Path, stdin: int = subprocess.DEVNULL,
          environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a program that is killed when we die, its output appended to `log`. A session of its
    own keeps our Ctrl-C away from it."""
    with log.open("ab") as out:
        return spawn_into(words, out.fileno(), stdin, environment)


def spawn_into(words: Sequence[str], out: int, stdin: int = subprocess.DEVNULL,
               environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """The same, with a descriptor for its output."""
    return subprocess.Popen(words, stdin=stdin, stdout=out, stderr=out, env=environment,
                            start_new_session=True, preexec_fn=_die_with_parent)


def children(pid: int) -> list[int]:
    """Those that it has made and that have not been waited for."""
    found: list[int] = []
    try:
        for task in os.scandir(f"/proc/{pid}/task"):
            found += map(int, Path(task.path, "children").read_text().split())
    except OSError:
        pass  # it has just ended
    return found


def descendants(pid: int) -> Iterator[int]:
    for child in children(pid):
        yield child
        yield from descendants(child)


def program_of(pid: int) -> str:
    """The file that it runs; empty for one that has ended."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def name_of(pid: int) -> str:
    """What it calls itself, cut to 15 bytes; empty for one that is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except OSError:
        return ""


class Handle:
    """One process and no later one with its number. Valid only if it ran `program` when made."""

    def __init__(self, pid: int, is_meant: Callable[[int], bool]) -> None:
        self._fd = -1
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            return
        # Looked at after the descriptor was taken: it cannot be another process any more.
        if is_meant(pid):
            self._fd = fd
        else:
            os.close(fd)

    def __bool__(self) -> bool:
        return self._fd >= 0

    def send(self, signo: int) -> bool:
        """False if there is nobody to hear it."""
        try:
            signal.pidfd_send_signal(self._fd, signo)
            return True
        except OSError:
            return False

    def wait(self, seconds: float) -> bool:
        """Until it has ended with all its threads and has let go of what it had open; its program
        (program_of) is gone before that. False if it has not by then."""
        if self._fd < 0:
            return True
        end = select.poll()
        end.register(self._fd, select.POLLIN)
        return bool(end.poll(seconds * 1000))

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def send(pid: int, program: str, signo: int) -> bool:
    """Signals a process, if it runs `program`."""
    handle = Handle(pid, lambda p: program_of(p) == program)
    sent = bool(handle) and handle.send(signo)
    handle.close()
    return sent


def kill_tree(pid: int) -> None:
    """SIGKILL to a child of ours and all that it has started. Each is stopped before its children
    are looked for, so that none slips away."""
    try:
        os.kill(pid, signal.SIGSTOP)
        for child in children(pid):
            kill_tree(child)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(words: Sequence[str]) -> str:
    """The output of a program that must succeed; its errors in the exception."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(words)}` failed: {done.stderr.strip() or done.stdout}")
    return done.stdout
