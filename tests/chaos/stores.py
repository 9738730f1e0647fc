"""The stores that members compete in, and what can happen to them."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import namespaces
from network import Network
from processes import spawn

ELECTION = "chaos"

_root = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class EtcdRelease:
    name: str
    folder: Path

    @property
    def keeps_leases_after_a_stall(self) -> bool:
        """Releases before 3.4.31 revoke leases early after one (docs/etcd.md): the product cannot
        hold what the store does not, so Debian's is never stopped here."""
        return self.name != "debian"


def find_etcd() -> EtcdRelease | None:
    """Today's, or Debian's if that is the only one."""
    for name in ("today", "debian"):
        named = os.environ.get(f"TENURE_ETCD_{name.upper()}")
        folder = Path(named).parent if named else _root / f"build/servers/etcd-{name}"
        if os.access(folder / "etcd", os.X_OK) and os.access(folder / "etcdctl", os.X_OK):
            return EtcdRelease(name, folder)
    return None


class Store(Protocol):
    name: str

    def supervise(self) -> None:
        """Starts it again if it has ended and should not have."""
    def flags(self, member: str) -> list[str]:
        """For `tenure exec` of that member."""
    def delete_key(self) -> None:
        """As an operator does who does not ask the holder."""


class Etcd:
    """One server, in the namespace that all cables lead to."""

    name = "etcd"

    def __init__(self, release: EtcdRelease, network: Network, folder: Path) -> None:
        self.release = release
        self._network = network
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._is_down = False

    def supervise(self) -> None:
        if not self._is_down and not self._runs():
            self._start()

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _start(self) -> None:
        url = "http://0.0.0.0:2379"
        # Heartbeat and election as in tests/servers: TTLs from 1 s on are granted as asked.
        self._process = spawn(
            [*namespaces.entering(self._network.store), str(self.release.folder / "etcd"),
             "--name=chaos", f"--data-dir={self._folder / 'etcd'}",
             f"--listen-client-urls={url}", "--advertise-client-urls=http://127.0.0.1:2379",
             "--listen-peer-urls=http://127.0.0.1:2380",
             "--initial-advertise-peer-urls=http://127.0.0.1:2380",
             "--initial-cluster=chaos=http://127.0.0.1:2380",
             "--heartbeat-interval=50", "--election-timeout=500"],
            self._folder / "etcd.log")

    def endpoint(self, member: str) -> str:
        return f"http://{self._network.store_address(member)}:2379"

    def flags(self, member: str) -> list[str]:
        return ["--store", "etcd", "--endpoint", self.endpoint(member)]

    def send(self, signo: int) -> bool:
        if self._process is None or not self._runs():
            return False
        self._process.send_signal(signo)
        return True

    def take_down(self, signo: int) -> bool:
        """It stays down until `let_up`."""
        self._is_down = self.send(signo)
        return self._is_down

    def let_up(self) -> None:
        """Also ends what has not done so yet: with connections open etcd takes 6 s for it."""
        self.send(signal.SIGKILL)
        self._is_down = False

    def delete_key(self) -> None:
        self._operate('etcdctl del "$key"')

    def revoke_lease(self) -> None:
        self._operate('etcdctl lease revoke "${key##*/}"')

    def _operate(self, what: str) -> None:
        """The holder's key is the oldest one under the election's name."""
        script = (f'key=$(etcdctl get --prefix {ELECTION}/ --sort-by=CREATE --limit 1 --keys-only'
                  f' | head -n 1); [ -z "$key" ] || {what}')
        path = f"{self.release.folder}:{os.environ['PATH']}"
        spawn([*namespaces.entering(self._network.store), "sh", "-c", script],
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

    def delete_key(self) -> None:
        self._spawn(["sqlite3", "-cmd", ".timeout 5000", str(self._folder / "db"),
                     "DELETE FROM lease"], "operator.log")

    def write(self, milliseconds: int) -> Callable[[], None]:
        """A transaction of somebody else's that takes so long; what kills him in the midst."""
        writer = self._spawn([sys.executable, str(Path(__file__).with_name("slow_writer.py")),
                              str(self._folder / "db"), str(milliseconds)], "writer.log")
        return lambda: writer.send_signal(signal.SIGKILL)

    def _spawn(self, words: list[str], log: str) -> subprocess.Popen[bytes]:
        return spawn([*namespaces.entering(self._network.store), *words], self._folder / log)
