"""How each kind of fault is done, and undone when its time is over."""
from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import namespaces
import processes
from consul import Consul
from member import Member
from network import DIRECTIONS, Network, Trouble
from schedule import Fault
from server import Server
from stores import Etcd, Sqlite, Store

BUSY_PROCESSES_PER_PROCESSOR = 2
# For a transaction that is to be killed before it ends.
LONGER_THAN_ANY_FAULT_MS = 60_000


@dataclass
class Stage:
    """What faults happen to."""

    members: dict[str, Member]
    network: Network
    store: Store
    folder: Path


@dataclass
class Hit:
    """A fault that was carried out."""

    whom: str
    undo: Callable[[], object] | None = None
    # False: there was nothing to hit after all. None: that is not known yet.
    has_found: Callable[[], bool | None] | None = None


def carry_out(fault: Fault, victim: str, stage: Stage) -> Hit | None:
    """Nothing if there was nothing to hit, e.g. no workload."""
    member = stage.members[victim]
    match fault.kind.group:
        case "member":
            return _on_member(fault, member)
        case "log":
            return _on_log(fault, member)
        case "workload":
            return _on_workload(fault, member)
        case "network":
            return _on_network(fault, victim, stage.network)
        case "store":
            return _on_store(fault, stage.store)
        case "operator":
            return _by_operator(fault, stage.store)
        case _:
            return _starve(stage)


def _on_member(fault: Fault, member: Member) -> Hit | None:
    guard, agent = member.guard(), member.agent()
    match fault.kind.name:
        case "kill agent":
            return _signal(member, [agent], signal.SIGKILL)
        case "stop agent":
            return _stop(member, [agent])
        case "kill guard":
            return _signal(member, [guard], signal.SIGKILL)
        case "stop guard":
            return _stop(member, [guard])
        case "stop both":
            return _stop(member, [guard, agent])
        case "terminate":
            # Without a guard the agent gets the signal.
            return _signal(member, [guard or agent], signal.SIGTERM)
    assert fault.kind.name == "kill all"
    return Hit(member.name) if member.kill_all() else None


def _on_log(fault: Fault, member: Member) -> Hit | None:
    log = member.log
    if log is None:
        return None
    if fault.kind.name == "close log":
        log.close()
        return Hit(member.name)
    log.fill()
    return Hit(member.name, log.go_on)


def _on_workload(fault: Fault, member: Member) -> Hit | None:
    workload: list[int | None] = list(member.workload())
    if fault.kind.name == "stop workload":
        return _stop(member, workload, member.worker_program)
    return _signal(member, workload[:1], signal.SIGKILL, member.worker_program)


def _handles(pids: Sequence[int | None], program: str) -> list[processes.Handle]:
    return [processes.Handle(pid, lambda p: processes.program_of(p) == program)
            for pid in pids if pid is not None]


def _signal(member: Member, pids: Sequence[int | None], signo: int,
            program: str | None = None) -> Hit | None:
    handles = _handles(pids, program or member.program)
    sent = [handle.send(signo) for handle in handles]
    for handle in handles:
        handle.close()
    return Hit(member.name) if sent and all(sent) else None


def _stop(member: Member, pids: Sequence[int | None], program: str | None = None) -> Hit | None:
    """All of them, or the fault has missed."""
    handles = _handles(pids, program or member.program)
    if not handles or None in pids or not all(h.send(signal.SIGSTOP) for h in handles):
        _resume(handles)
        return None
    return Hit(member.name, lambda: _resume(handles))


def _resume(handles: Sequence[processes.Handle]) -> None:
    for handle in handles:
        handle.send(signal.SIGCONT)
        handle.close()


def _on_network(fault: Fault, victim: str, network: Network) -> Hit:
    directions = [d for d in DIRECTIONS if fault.kind.name.endswith(d)] or DIRECTIONS
    loss = 1.0 if fault.kind.name.startswith("cut") else fault.loss
    trouble = Trouble(victim, directions, fault.delay / 1000, loss)
    network.begin(trouble)
    return Hit(victim, lambda: network.end(trouble))


def _on_store(fault: Fault, store: Store) -> Hit | None:
    if isinstance(store, Sqlite):
        if fault.kind.name == "hold lock":
            store.write(fault.duration)
            return Hit("the file")
        return Hit("the file", store.write(LONGER_THAN_ANY_FAULT_MS))
    assert isinstance(store, Etcd | Consul)
    what, whom = fault.kind.name.split()
    servers = store.servers()
    if whom == "leader":
        assert isinstance(store, Consul)
        servers = store.leader()
    if what == "stop":
        hit = [server for server in servers if server.send(signal.SIGSTOP)]
        return _on_servers(hit, lambda server: server.send(signal.SIGCONT))
    signo = signal.SIGKILL if what == "kill" else signal.SIGTERM
    hit = [server for server in servers if server.take_down(signo)]
    return _on_servers(hit, lambda server: server.let_up())


def _on_servers(hit: Sequence[Server], undo: Callable[[Server], object]) -> Hit | None:
    if not hit:
        return None
    return Hit(", ".join(server.name for server in hit), lambda: [undo(server) for server in hit])


def _by_operator(fault: Fault, store: Store) -> Hit:
    match fault.kind.name:
        case "revoke lease":
            assert isinstance(store, Etcd | Consul)
            operator = store.revoke_lease()
        case "release lock":
            assert isinstance(store, Consul)
            operator = store.release_lock()
        case _:
            operator = store.delete_key()
    return Hit("the holder", has_found=lambda: _has_succeeded(operator))


def _has_succeeded(process: subprocess.Popen[bytes]) -> bool | None:
    status = process.poll()
    return None if status is None else status == 0


def _starve(stage: Stage) -> Hit:
    """Bounded in number and in time: what the kernel does with more is not what is tested."""
    count = BUSY_PROCESSES_PER_PROCESSOR * (os.cpu_count() or 1)
    words = [*namespaces.entering(stage.network.store), "sh", "-c", "while :; do :; done"]
    busy = [processes.spawn(words, stage.folder / "busy.log") for _ in range(count)]
    return Hit("all", lambda: _end(busy))


def _end(busy: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in busy:
        process.kill()
        process.wait()
