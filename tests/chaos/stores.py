"""The stores that members compete in, and what can happen to them."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import namespaces
from link import WORD_PORT
from network import Network
from processes import spawn
from releases import Release
from server import Server

ELECTION = "chaos"


class Store(Protocol):
    name: str

    def supervise(self) -> None:
        """Starts it again if it has ended and should not have."""
    def flags(self, member: str) -> list[str]:
        """For `tenure exec` of that member."""
    def delete_key(self) -> subprocess.Popen[bytes]:
        """As an operator does who does not ask the holder. Ends with 0 if there was a key."""


class Etcd:
    """One server, in the namespace that all cables lead to."""

    name = "etcd"

    def __init__(self, release: Release, network: Network, folder: Path) -> None:
        self.release = release
        self._network = network
        self._folder = folder
        self._server = Server(self._command, folder / "etcd.log")

    def supervise(self) -> None:
        self._server.supervise()

    def _command(self) -> list[str]:
        url = "http://0.0.0.0:2379"
        # Heartbeat and election as in tests/servers: TTLs from 1 s on are granted as asked.
        return [*namespaces.entering(self._network.store), str(self.release.folder / "etcd"),
                "--name=chaos", f"--data-dir={self._folder / 'etcd'}",
                f"--listen-client-urls={url}", "--advertise-client-urls=http://127.0.0.1:2379",
                "--listen-peer-urls=http://127.0.0.1:2380",
                "--initial-advertise-peer-urls=http://127.0.0.1:2380",
                "--initial-cluster=chaos=http://127.0.0.1:2380",
                "--heartbeat-interval=50", "--election-timeout=500"]

    def endpoint(self, member: str) -> str:
        return f"http://{self._network.store_address(member)}:2379"

    def flags(self, member: str) -> list[str]:
        return ["--store", "etcd", "--endpoint", self.endpoint(member),
                "--peer-listen", f"{self._network.address(member)}:{WORD_PORT}"]

    def servers(self) -> Sequence[Server]:
        return [self._server]

    def delete_key(self) -> subprocess.Popen[bytes]:
        return self._operate('[ "$(etcdctl del "$key")" = 1 ]')

    def revoke_lease(self) -> subprocess.Popen[bytes]:
        return self._operate('etcdctl lease revoke "${key##*/}"')

    def _operate(self, what: str) -> subprocess.Popen[bytes]:
        """The holder's key is the oldest one under the election's name."""
        script = (f'key=$(etcdctl get --prefix {ELECTION}/ --sort-by=CREATE --limit 1 --keys-only'
                  f' | head -n 1); [ -n "$key" ] && {what}')
        path = f"{self.release.folder}:{os.environ['PATH']}"
        return spawn([*namespaces.entering(self._network.store), "sh", "-c", script],
                     self._folder / "operator.log",
                     environment={**os.environ, "ETCDCTL_API": "3", "PATH": path})


class Sqlite:
    """One file. Its namespace is there for those who disturb."""

    name = "sqlite"

    def __init__(self, network: Network, folder: Path) -> None:
        self._network = network
        self._folder = folder

    def supervise(self) -> None:
        pass

    def flags(self, member: str) -> list[str]:
        del member  # all have the same file
        return ["--store", "sqlite", "--endpoint", str(self._folder / "db")]

    def delete_key(self) -> subprocess.Popen[bytes]:
        script = ('[ "$(sqlite3 -cmd ".timeout 5000" "$1" "DELETE FROM lease; SELECT changes()")" '
                  '-gt 0 ]')
        return self._spawn(["sh", "-c", script, "operator", str(self._folder / "db")],
                           "operator.log")

    def write(self, milliseconds: int) -> Callable[[], None]:
        """A transaction of somebody else's that takes so long; what kills him in the midst."""
        writer = self._spawn([sys.executable, str(Path(__file__).with_name("slow_writer.py")),
                              str(self._folder / "db"), str(milliseconds)], "writer.log")
        return lambda: writer.send_signal(signal.SIGKILL)

    def _spawn(self, words: list[str], log: str) -> subprocess.Popen[bytes]:
        return spawn([*namespaces.entering(self._network.store), *words], self._folder / log)
