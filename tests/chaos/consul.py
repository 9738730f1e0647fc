"""Consul, as a store that members compete in."""
from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import namespaces
from network import Network
from processes import spawn
from releases import Release
from schedule import MEMBERS
from server import Server
from stores import ELECTION

# Of the first server; those of the others follow.
HTTP_PORT = 8501
SERVER_PORT = 8311
SERF_PORT = 8321

BECAME_LEADER = "entering leader state"


class Consul:
    """A cluster of three servers, in the namespace that all cables lead to. Each member asks
    another one of them first."""

    name = "consul"
    SERVERS = range(3)

    def __init__(self, release: Release, network: Network, folder: Path) -> None:
        self._release = release
        self._network = network
        self._folder = folder
        self._servers = [Server(partial(self._command, i), folder / f"consul-{i}.log")
                         for i in self.SERVERS]

    def supervise(self) -> None:
        for server in self._servers:
            server.supervise()

    def _command(self, number: int) -> list[str]:
        """As in tests/servers/consul_server.cpp."""
        words = [*namespaces.entering(self._network.store), self._release.program("consul"),
                 "agent", "-server", f"-bootstrap-expect={len(self.SERVERS)}",
                 f"-node=consul-{number}", f"-data-dir={self._folder / f'consul-{number}'}",
                 "-bind=127.0.0.1", "-client=0.0.0.0", f"-http-port={HTTP_PORT + number}",
                 f"-server-port={SERVER_PORT + number}", f"-serf-lan-port={SERF_PORT + number}",
                 "-serf-wan-port=-1", "-dns-port=-1", "-disable-host-node-id",
                 "-retry-interval=1s", "-hcl=disable_update_check = true",
                 # Elections within a second or two instead of five times that.
                 "-hcl=performance { raft_multiplier = 1 }",
                 # The shortest TTL that it grants; 10 s if it is not told.
                 "-hcl=session_ttl_min = \"1s\""]
        if self._release.name != "debian":
            words.append("-hcl=ports { grpc_tls = -1 }")
        return words + [f"-retry-join=127.0.0.1:{SERF_PORT + i}" for i in self.SERVERS
                        if i != number]

    def endpoints(self, member: str) -> list[str]:
        """The first one is another for each member."""
        first = MEMBERS.index(member)
        return [f"http://{self._network.store_address(member)}:{HTTP_PORT + i % len(self.SERVERS)}"
                for i in range(first, first + len(self.SERVERS))]

    def flags(self, member: str) -> list[str]:
        return ["--store", "consul",
                *(word for url in self.endpoints(member) for word in ("--endpoint", url))]

    def servers(self) -> Sequence[Server]:
        return self._servers

    def leader(self) -> Sequence[Server]:
        """Who has last said that it leads: a server that is stopped would not answer a question."""
        said = [(last, number) for number, server in enumerate(self._servers)
                if (last := last_line_with(BECAME_LEADER, server.log))]
        return [self._servers[max(said)[1]]] if said else []

    def delete_key(self) -> subprocess.Popen[bytes]:
        return self._operate("delete")

    def revoke_lease(self) -> subprocess.Popen[bytes]:
        return self._operate("destroy")

    def release_lock(self) -> subprocess.Popen[bytes]:
        return self._operate("release")

    def _operate(self, what: str) -> subprocess.Popen[bytes]:
        ports = [str(HTTP_PORT + i) for i in self.SERVERS]
        return spawn([*namespaces.entering(self._network.store), sys.executable,
                      str(Path(__file__).with_name("consul_operator.py")), what,
                      f"{ELECTION}/.lock", *ports], self._folder / "operator.log")


def last_line_with(text: str, log: Path) -> str:
    """Lines begin with their time, so of two the greater one is the later one. Empty if there is
    none."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    return next((line.strip() for line in reversed(lines) if text in line), "")
