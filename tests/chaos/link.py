#!/usr/bin/env python3
"""link.py SEED WORDS [MEMBER ADDRESS MEMBER_NAMESPACE STORE_NAMESPACE]...: the cables of one world.

Each member's is a pair of TUN devices, one in its namespace ("store") and one in the store's (named
like the member), and this process carries the packets between them: late, or not at all, as it is
told on its standard input, a line of JSON for each change:
    {"member": "a", "direction": "requests", "delay": 0.2, "loss": 0.1}
It says "ready" once the devices exist, and ends with its input.

Words that members tell each other (UDP to WORD_PORT) fall into the hands of a hostile peer, which sits
on all cables: it loses, delays and doubles them, and says what it has overheard again at any time, to
any member, as it was or with a bit changed. The file WORDS counts them.

A cable of our own, and not tc's netem, because that is missing in the kernels of many small
virtual machines; TUN devices are in all of them.
"""
from __future__ import annotations

import ctypes
import fcntl
import heapq
import json
import math
import os
import random
import selectors
import struct
import sys
import time
from dataclasses import dataclass, field

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
LARGEST_PACKET = 65536
WORD_PORT = 4041
UDP = 17
# More than this in flight on one cable is lost, as on any other.
MOST_IN_FLIGHT = 4096

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Direction:
    """One direction of a cable."""

    into: int  # the device that its packets come out of
    delay: float = 0.0
    loss: float = 0.0
    in_flight: int = 0


@dataclass(order=True)
class Packet:
    due: float
    number: int
    on: Direction = field(compare=False)
    content: bytes = field(compare=False)


def open_tun(namespace: str, name: str) -> int:
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    theirs = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    enter(theirs)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    enter(own)
    os.close(theirs)
    os.close(own)
    return device


def enter(namespace: int) -> None:
    if _libc.setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace; root can")


class HostilePeer:
    """What it does with the words that it overhears."""

    MOST_REMEMBERED = 200
    LONGEST_DELAY = 3.0  # seconds
    SPEAKS_EVERY = 0.1  # seconds

    def __init__(self, seed: str, count_in: str) -> None:
        self._dice = random.Random(seed + " hostile")
        self._overheard: list[bytes] = []
        self._count_in = count_in
        self._heard = self._said = 0
        self.speaks_at = time.monotonic()

    @staticmethod
    def is_word(packet: bytes) -> bool:
        if len(packet) < 28 or packet[0] >> 4 != 4 or packet[9] != UDP:
            return False
        header = (packet[0] & 0x0F) * 4
        return int.from_bytes(packet[header + 2:header + 4], "big") == WORD_PORT

    def hears(self, packet: bytes) -> list[float]:
        """After which delays it is delivered; none: it is lost."""
        self._heard += 1
        self._overheard = [*self._overheard[-self.MOST_REMEMBERED:], packet]
        self._note()
        delays = [0.0, 0.0, 0.0, self._dice.uniform(0, self.LONGEST_DELAY)]
        return [self._dice.choice(delays) for _ in range(self._dice.choice([0, 1, 1, 1, 2, 3]))]

    def speaks(self, addresses: list[bytes]) -> bytes | None:
        """Something that it has overheard, to one of these addresses."""
        self.speaks_at = time.monotonic() + self.SPEAKS_EVERY
        if not self._overheard:
            return None
        self._said += 1
        self._note()
        packet = bytearray(self._dice.choice(self._overheard))
        header = (packet[0] & 0x0F) * 4
        packet[16:20] = self._dice.choice(addresses)
        if self._dice.random() < 0.5:
            packet[self._dice.randrange(header + 8, len(packet))] ^= 1 << self._dice.randrange(8)
        packet[header + 6:header + 8] = b"\0\0"  # no checksum
        packet[10:12] = b"\0\0"
        packet[10:12] = _checksum(packet[:header])
        return bytes(packet)

    def _note(self) -> None:
        with open(self._count_in, "w", encoding="ascii") as file:
            file.write(f"{self._heard} {self._said}\n")


def _checksum(header: bytes | bytearray) -> bytes:
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF).to_bytes(2, "big")


class Cables:
    def __init__(self, seed: str, words: str) -> None:
        self._hostile = HostilePeer(seed, words)
        self._members: dict[bytes, Direction] = {}  # by address
        self._loss = random.Random(seed)
        self._waiting = selectors.DefaultSelector()
        self._directions: dict[tuple[str, str], Direction] = {}
        self._late: list[Packet] = []
        self._count = 0
        self._told = b""

    def add(self, member: str, address: str, member_namespace: str, store_namespace: str) -> None:
        near = open_tun(member_namespace, "store")
        far = open_tun(store_namespace, member)
        for source, into, name in ((near, far, "requests"), (far, near, "replies")):
            direction = Direction(into)
            self._directions[member, name] = direction
            self._waiting.register(source, selectors.EVENT_READ, direction)
        self._members[bytes(map(int, address.split(".")))] = self._directions[member, "replies"]

    def run(self) -> None:
        self._waiting.register(sys.stdin.fileno(), selectors.EVENT_READ, None)
        while True:
            due = min(self._hostile.speaks_at, self._late[0].due if self._late else math.inf)
            for key, _ in self._waiting.select(max(due - time.monotonic(), 0.0)):
                if key.data is not None:
                    self._take(key.fd, key.data)
                elif not self._listen(os.read(key.fd, LARGEST_PACKET)):
                    return
            self._deliver_late()
            self._let_speak()

    def _let_speak(self) -> None:
        if time.monotonic() < self._hostile.speaks_at:
            return
        said = self._hostile.speaks(list(self._members))
        # It sits beside the member: what is done to the cables does not stop it.
        if said is not None:
            self._deliver(self._members[said[16:20]], said)

    def _listen(self, heard: bytes) -> bool:
        """False once the input has ended."""
        *lines, self._told = (self._told + heard).split(b"\n")
        for line in lines:
            told = json.loads(line)
            direction = self._directions[told["member"], told["direction"]]
            direction.delay = told["delay"]
            direction.loss = told["loss"]
        return bool(heard)

    def _take(self, source: int, on: Direction) -> None:
        try:
            content = os.read(source, LARGEST_PACKET)
        except OSError:
            return  # the device is down, or being removed
        if self._loss.random() < on.loss or on.in_flight >= MOST_IN_FLIGHT:
            return
        # Heard where it leaves its member, not once more where it arrives.
        is_overheard = self._hostile.is_word(content) and on not in self._members.values()
        for more in self._hostile.hears(content) if is_overheard else [0.0]:
            self._send(on, content, on.delay + more)

    def _send(self, on: Direction, content: bytes, delay: float) -> None:
        if delay == 0 and on.in_flight == 0:
            self._deliver(on, content)
            return
        self._count += 1
        on.in_flight += 1
        heapq.heappush(self._late, Packet(time.monotonic() + delay, self._count, on, content))

    def _deliver_late(self) -> None:
        while self._late and self._late[0].due <= time.monotonic():
            packet = heapq.heappop(self._late)
            packet.on.in_flight -= 1
            # A cut cable loses what is on it.
            if packet.on.loss < 1:
                self._deliver(packet.on, packet.content)

    @staticmethod
    def _deliver(on: Direction, content: bytes) -> None:
        try:
            os.write(on.into, content)
        except OSError:
            pass  # its queue is full, or it is down: lost


def main() -> None:
    seed, words, *rest = sys.argv[1:]
    cables = Cables(seed, words)
    for cable in zip(rest[::4], rest[1::4], rest[2::4], rest[3::4], strict=True):
        cables.add(*cable)
    print("ready", flush=True)
    try:
        cables.run()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
