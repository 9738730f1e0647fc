#!/usr/bin/env python3
"""sidecar_bench.py --tenure TENURE --pause PAUSE --worker WORKER: what the sidecar takes of processor and memory in a real
pod, by the counters of its control group: while nothing happens, and while many clients ask it without a pause."""
import http.client
import pathlib
import re
import threading
import time

from scene import Scene, main

IDLE_S = 30
LOAD_S = 20
CLIENTS = 20    # each asks, waits for the answer, and asks again
WAITING = 100   # each has a connection open and asks nothing
MIB = 1 << 20


class Group:
    """The control group of a container (cgroup v1), as the kernel counts for limits and for `kubectl top`."""

    def __init__(self, process):
        lines = pathlib.Path(f"/proc/{process}/cgroup").read_text()
        self.memory, self.cpu = (
            pathlib.Path("/sys/fs/cgroup", name) / re.search(rf":[^:]*\b{name}\b[^:]*:/(.*)", lines)[1]
            for name in ("memory", "cpuacct"))

    def peak(self):
        return int((self.memory / "memory.max_usage_in_bytes").read_text())

    def forget_peak(self):
        (self.memory / "memory.max_usage_in_bytes").write_text("0")

    def limit(self):
        return int((self.memory / "memory.limit_in_bytes").read_text())

    def statistics(self):
        return dict(line.split() for line in (self.memory / "memory.stat").read_text().splitlines())

    def seconds(self):
        return int((self.cpu / "cpuacct.usage").read_text()) / 1e9


class Sidecar(Scene):
    def test_what_it_takes(self):
        self.apply("guard-endpoints", settings={"store": "kubernetes", "election": "db"})
        active, [standby] = self.active_and_standby()
        groups = {pod: Group(self.processes(pod, "tenure")[0]) for pod in (active, standby)}
        time.sleep(5)  # what follows a start is over
        self.idle("the holder's", groups[active])
        self.idle("a standby's", groups[standby])
        for path in ("/leader", "/metrics"):
            self.load(groups[active], self.pods()[active]["status"]["podIP"], path)
        self.judge(least_terms=1)

    def idle(self, whose, group):
        before = group.seconds()
        time.sleep(IDLE_S)
        print(f"{whose} sidecar, idle for {IDLE_S} s: {(group.seconds() - before) / IDLE_S * 1000:.1f} thousandths of a processor, "
              f"{self.memory(group)}", flush=True)

    def load(self, group, address, path):
        open_lines = [http.client.HTTPConnection(address, 8081) for _ in range(WAITING)]
        for one in open_lines:
            one.connect()
        group.forget_peak()
        answered, end = [], time.monotonic() + LOAD_S

        def ask():
            line, count = http.client.HTTPConnection(address, 8081), 0
            while time.monotonic() < end:
                line.request("GET", path)
                answer = line.getresponse()
                answer.read()
                count += answer.status == 200
            answered.append(count)

        clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
        before = group.seconds()
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        took = group.seconds() - before
        print(f"{CLIENTS} clients ask for {path}, {WAITING} other connections: {sum(answered) / LOAD_S:.0f} answers a second, "
              f"{took / LOAD_S * 1000:.0f} thousandths of a processor, {took / sum(answered) * 1e6:.0f} us each; "
              f"{self.memory(group)}", flush=True)
        for one in open_lines:
            one.close()

    @staticmethod
    def memory(group):
        seen = group.statistics()
        return (f"{int(seen['rss']) / MIB:.1f} MiB of its own and {int(seen['cache']) / MIB:.1f} MiB of files, "
                f"{group.peak() / MIB:.1f} MiB at the most, of {group.limit() / MIB:.0f}")


if __name__ == "__main__":
    main(__file__)
