"""The network of one world: a namespace for each member and one for the store, and cables."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import namespaces
from processes import run, spawn
from schedule import MEMBERS

DIRECTIONS = ("requests", "replies")
# Anything that has not come up within this time counts as dead.
PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class Trouble:
    """What a fault makes of some directions of a member's cable."""

    member: str
    directions: Sequence[str]
    delay: float = 0.0  # seconds
    loss: float = 0.0  # 1: nothing passes


class Network:
    """Every member reaches the store at its own end of the cable, 10.77.N.1."""

    def __init__(self, world: str, seed: str, folder: Path) -> None:
        self.store = namespaces.create(world, "store")
        self.of = {member: namespaces.create(world, member) for member in MEMBERS}
        self._trouble: list[Trouble] = []
        self._log = folder / "link.log"
        self._words = folder / "words"
        words = [sys.executable, str(Path(__file__).with_name("link.py")), seed, str(self._words)]
        for member in MEMBERS:
            words += [member, self.address(member), self.of[member], self.store]
        self._link = spawn(words, self._log, stdin=subprocess.PIPE)

    def lay(self) -> bool:
        """False as long as the cables are not there."""
        if self._link.poll() is not None:
            raise RuntimeError(f"the cables cannot be laid: {self._log.read_text()}")
        if "ready" not in self._log.read_text():
            return False
        for number, member in enumerate(MEMBERS):
            _address(self.of[member], "store", f"{self.address(member)}/24")
            _address(self.store, member, f"10.77.{number}.1/24")
            # Members reach each other by way of the store's end.
            run(["ip", "-n", self.of[member], "route", "add", "default", "via",
                 self.store_address(member)])
        run([*namespaces.entering(self.store), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"])
        return True

    @staticmethod
    def address(member: str) -> str:
        return f"10.77.{MEMBERS.index(member)}.2"

    def words(self) -> tuple[int, int]:
        """How many words members have told each other, and how many a hostile peer has told."""
        if not self._words.exists():
            return 0, 0
        heard, said = map(int, self._words.read_text().split() or ("0", "0"))
        return heard, said

    @staticmethod
    def store_address(member: str) -> str:
        return f"10.77.{MEMBERS.index(member)}.1"

    def close(self) -> None:
        """Nobody needs the cables any more. Afterwards nothing writes into the folder."""
        self._link.kill()
        self._link.wait()

    def begin(self, trouble: Trouble) -> None:
        self._trouble.append(trouble)
        self._tell(trouble.member)

    def end(self, trouble: Trouble) -> None:
        self._trouble.remove(trouble)
        self._tell(trouble.member)

    def _tell(self, member: str) -> None:
        """Faults may overlap: delays add up, and the worst loss counts."""
        assert self._link.stdin is not None
        for direction in DIRECTIONS:
            on = [t for t in self._trouble if t.member == member and direction in t.directions]
            line = json.dumps({"member": member, "direction": direction,
                               "delay": sum(t.delay for t in on),
                               "loss": max((t.loss for t in on), default=0.0)})
            self._link.stdin.write(line.encode() + b"\n")
        self._link.stdin.flush()


def _address(namespace: str, device: str, address: str) -> None:
    run(["ip", "-n", namespace, "address", "add", address, "dev", device])
    run(["ip", "-n", namespace, "link", "set", "dev", device, "up"])
