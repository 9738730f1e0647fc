"""Faults for agents that no signal can bring about."""
from __future__ import annotations

import ctypes
import os
import sqlite3
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_PTRACE_SEIZE = 0x4206
_PTRACE_INTERRUPT = 0x4207


def stop_one_thread(tid: int) -> None:
    """Stops this thread and no other of its process, until we end: a signal would stop them all."""
    for request in (_PTRACE_SEIZE, _PTRACE_INTERRUPT):
        if _libc.ptrace(request, tid, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(tid, 0x40000000)  # __WALL


class FileLock:
    """Keeps everybody else from writing to an SQLite file, as a hanging backup does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> FileLock:
        self._connection = sqlite3.connect(self._path, isolation_level=None, timeout=20)
        self._connection.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


class FakeExporter:
    """A page that no real agent shows here: by default of two members that both say that they are active, since no
    fault makes those overlap, or Tenure would be broken."""

    OVERLAP = "\n".join([
        "# HELP tenure_election_active Made up by a test.",
        "# TYPE tenure_election_active gauge",
        'tenure_election_active{election="db",member="a"} 1',
        'tenure_election_active{election="db",member="b"} 1',
        "# HELP tenure_election_slots Made up by a test.",
        "# TYPE tenure_election_slots gauge",
        'tenure_election_slots{election="db"} 1', ""])

    # An active member in a pod whose Kubernetes does not do what it is asked: tests/k8s has real ones.
    ASTRAY = "\n".join([
        "# HELP tenure_election_active Made up by a test.",
        "# TYPE tenure_election_active gauge",
        'tenure_election_active{election="db"} 1',
        "# HELP tenure_traffic_shown Made up by a test.",
        "# TYPE tenure_traffic_shown gauge",
        "tenure_traffic_shown 0", ""])

    def __init__(self, port: int, text: str = OVERLAP) -> None:
        page = text.encode()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


# CLOCK_BOOTTIME of the process that this is loaded into is ahead by what the file says, in
# nanoseconds: what a machine that has slept for so long shows. No machine is put to sleep.
_SLEEPER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* t) {
  int done = (int)syscall(SYS_clock_gettime, clock, t);
  if (done != 0 || clock != CLOCK_BOOTTIME) return done;
  long ahead = 0;
  FILE* file = fopen(getenv("SLEPT_FILE"), "re");
  if (file != NULL) {
    if (fscanf(file, "%ld", &ahead) != 1) ahead = 0;
    fclose(file);
  }
  t->tv_nsec += ahead;
  t->tv_sec += t->tv_nsec / 1000000000;
  t->tv_nsec %= 1000000000;
  return 0;
}
"""


def build_sleeper(folder: Path, compiler: str) -> Path:
    """The library to preload; it reads the file that SLEPT_FILE names."""
    source = folder / "sleeper.c"
    library = folder / "sleeper.so"
    source.write_text(_SLEEPER)
    subprocess.run([compiler, "-shared", "-fPIC", "-D_GNU_SOURCE", "-O1", "-o", library, source],
                   check=True, timeout=60)
    return library
