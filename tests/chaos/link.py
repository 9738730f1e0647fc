#!/usr/bin/env python3
"""link.py SEED [MEMBER MEMBER_NAMESPACE STORE_NAMESPACE]...: the cables of one world.

Each member's is a pair of TUN devices, one in its namespace ("store") and one in the store's (named
like the member), and this process carries the packets between them: late, or not at all, as it is
told on its standard input, a line of JSON for each change:
    {"member": "a", "direction": "requests", "delay": 0.2, "loss": 0.1}
It says "ready" once the devices exist, and ends with its input.

A cable of our own, and not tc's netem, because that is missing in the kernels of many small
virtual machines; TUN devices are in all of them.
"""
from __future__ import annotations

import ctypes
import fcntl
import heapq
import json
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


class Cables:
    def __init__(self, seed: str) -> None:
        self._loss = random.Random(seed)
        self._waiting = selectors.DefaultSelector()
        self._directions: dict[tuple[str, str], Direction] = {}
        self._late: list[Packet] = []
        self._count = 0
        self._told = b""

    def add(self, member: str, member_namespace: str, store_namespace: str) -> None:
        near = open_tun(member_namespace, "store")
        far = open_tun(store_namespace, member)
        for source, into, name in ((near, far, "requests"), (far, near, "replies")):
            direction = Direction(into)
            self._directions[member, name] = direction
            self._waiting.register(source, selectors.EVENT_READ, direction)

    def run(self) -> None:
        self._waiting.register(sys.stdin.fileno(), selectors.EVENT_READ, None)
        while True:
            pause = self._late[0].due - time.monotonic() if self._late else None
            for key, _ in self._waiting.select(pause if pause is None else max(pause, 0.0)):
                if key.data is not None:
                    self._take(key.fd, key.data)
                elif not self._listen(os.read(key.fd, LARGEST_PACKET)):
                    return
            self._deliver_late()

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
        if on.delay == 0 and on.in_flight == 0:
            self._deliver(on, content)
            return
        self._count += 1
        on.in_flight += 1
        heapq.heappush(self._late, Packet(time.monotonic() + on.delay, self._count, on, content))

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
    seed, *rest = sys.argv[1:]
    cables = Cables(seed)
    for member, near, far in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        cables.add(member, near, far)
    print("ready", flush=True)
    try:
        cables.run()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
