#!/usr/bin/env python3
"""How many answers a second the agent gives, beside a bare Boost.Beast server and nginx.

    http_bench.py --tenure TENURE --beast BARE_BEAST [--rounds N] [--seconds N]

Each of the three serves the same body with one thread, to the same wrk. They take turns, so that
what else the machine does falls on all of them, and what counts is the median of the ratios of a
round. wrk and nginx are taken from PATH.
"""
import argparse
import contextlib
import datetime
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from ports import free_port  # noqa: E402

CONNECTIONS = (16, 64)
READERS = 1000
IDLE_READERS = 100
RENEWALS = 20
SATURATING = 48  # connections: one more than the listener takes would cost a question its place
PATIENCE = 60  # seconds; only a failing run waits so long

NGINX_CONF = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.err;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port};
    location / {{
      default_type application/json;
      add_header Cache-Control no-store;
      return 200 '{body}';
    }}
  }}
}}
"""


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("http_bench: nothing happens")
        time.sleep(0.01)


def get(port, path):
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := s.recv(65536):
            answer += piece
    return answer.split(b"\r\n\r\n", 1)[1].decode()


def answers(port):
    try:
        return bool(get(port, "/"))
    except OSError:
        return False


class Agent:
    """A member that holds the election `db`, alone on SQLite; its health follows a file."""

    def __init__(self, tenure, folder, *more):
        self.port = free_port()
        self.file = os.path.join(folder, "healthy")
        open(self.file, "w").close()
        self.process = subprocess.Popen(
            [tenure, "agent", "--store", "sqlite", "--endpoint", os.path.join(folder, "db"),
             "--election", "db", "--identity", "bench", "--listen", f"127.0.0.1:{self.port}",
             "--probe-listen", "off", "--health-file", self.file, "--health-interval", "200ms",
             "--health-timeout", "200ms", "--health-delay", "0s", "--health-failures", "1", *more],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: answers(self.port))
        until(lambda: self.election()["is_self"] and self.election()["health"]["state"] == "healthy")

    def election(self):
        return json.loads(get(self.port, "/v1/elections/db"))

    def margins(self):
        """How many renewals left so much until the stop, by the upper bound of that in seconds."""
        name = "tenure_lease_renewal_margin_seconds_bucket"
        return {float(bound): int(count) for bound, count in
                re.findall(name + r'{[^}]*le="([^"]+)"} (\d+)', get(self.port, "/metrics"))}

    def change(self):
        os.unlink(self.file)

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


def processor_seconds(pid):
    """What all threads of a process have used so far."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as used:
            total += int(used.read().split()[0])
    return total / 1e9


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        return int(children.read().split()[0])


def refuse_failures(out):
    """Ends the run unless all that wrk has counted were answers."""
    # wrk counts a connection that it cuts at its end as a read that failed.
    for failed in re.findall(r"Non-2xx.*|Socket errors:.*", out):
        if not re.fullmatch(r"Socket errors: connect 0, read \d+, write \d+, timeout 0", failed):
            raise SystemExit(f"http_bench: {failed}")


def wrk(pid, port, path, connections, seconds):
    """Answers a second, the 99th percentile in us, and us of processor time an answer."""
    before = processor_seconds(pid)
    out = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
         f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    refuse_failures(out)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
    count = int(re.search(r"(\d+) requests in", out).group(1))
    used = (processor_seconds(pid) - before) / count * 1e6
    return rate, float(value) * {"us": 1, "ms": 1e3, "s": 1e6}[unit], used


def verdict(met):
    return "met" if met else "MISSED"


def measure_rates(servers, rounds, seconds):
    for connections in CONNECTIONS:
        seen = {name: [] for name in servers}
        order = list(servers)
        for name in order:
            wrk(*servers[name], connections, 1)  # warm-up
        for _ in range(rounds):
            for name in order:
                seen[name].append(wrk(*servers[name], connections, seconds))
            order.append(order.pop(0))  # nobody is always the first
        for name, results in seen.items():
            rate, late, used = (statistics.median(values) for values in zip(*results))
            print(f"{connections:3} connections  {name:11} {rate:9.0f} answers/s   p99 {late:7.0f} us"
                  f"   {used:5.1f} us of processor time an answer")

        def ratio(a, b, of):
            return statistics.median(x[of] / y[of] for x, y in zip(seen[a], seen[b]))

        beast, nginx = ratio("agent", "bare Beast", 0), ratio("agent", "nginx", 0)
        late = ratio("agent", "nginx", 1)
        print(f"{connections:3} connections  agent is {beast:.2f} x bare Beast (goal 0.9: "
              f"{verdict(beast >= 0.9)}), {nginx:.2f} x nginx (goal 0.55: {verdict(nginx >= 0.55)}), "
              f"p99 {late:.2f} x nginx's (goal 2: {verdict(late <= 2)})")


class Readers:
    """Many readers of events, in one thread."""

    def __init__(self, port, count):
        self.selector = selectors.DefaultSelector()
        self.received = {}
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", port), PATIENCE)
            s.sendall(b"GET /v1/elections/db/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            s.setblocking(False)
            self.selector.register(s, selectors.EVENT_READ)
            self.received[s] = b""
        self.wait_for(b'"index"')

    def wait_for(self, words):
        """Returns the wall clock when the last reader has got `words`, and the text of one."""
        missing, last = set(self.received), b""
        deadline = time.monotonic() + PATIENCE
        while missing:
            if time.monotonic() > deadline:
                raise SystemExit("http_bench: events do not come")
            for key, _ in self.selector.select(1):
                self.received[key.fileobj] += key.fileobj.recv(65536)
                if words in self.received[key.fileobj]:
                    last = self.received[key.fileobj]
                    self.received[key.fileobj] = b""
                    missing.discard(key.fileobj)
        return time.time(), last

    def close(self):
        for s in self.received:
            s.close()


def measure_events(tenure):
    delays = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            agent = Agent(tenure, folder)
            readers = Readers(agent.port, READERS)
            agent.change()
            last, text = readers.wait_for(b'"unhealthy"')
            as_of = re.search(rb'"as_of":"([^"]+)Z"', text).group(1).decode()
            made = datetime.datetime.fromisoformat(as_of + "+00:00").timestamp()
            delays.append((last - made) * 1000)
            readers.close()
            stop(agent.process)
    delay = statistics.median(delays)
    print(f"a change reaches the last of {READERS} readers of events {delay:.0f} ms after its text "
          f"was made (goal 50: {verdict(delay <= 50)})")


def measure_margin(tenure):
    """What is left of the lease at each renewal, while nobody asks and while wrk asks all it can."""
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(tenure, folder, "--ttl", "2s")
        seen = {}
        for what in ("quiet", "saturated"):
            load = subprocess.Popen(
                ["wrk", "-t1", f"-c{SATURATING}", f"-d{PATIENCE}s",
                 f"http://127.0.0.1:{agent.port}/v1/elections/db"],
                stdout=subprocess.PIPE, text=True) if what == "saturated" else None
            before = agent.margins()
            until(lambda: agent.margins()[float("inf")] >= before[float("inf")] + RENEWALS)
            after = agent.margins()
            if load:
                load.send_signal(signal.SIGINT)
                refuse_failures(load.communicate()[0])
            new = sorted((bound, after[bound] - before[bound]) for bound in after)
            seen[what] = [next(bound for bound, count in new if count >= share)
                          for share in (1, RENEWALS / 2)]
        stop(agent.process)
    (least, median), (least_then, median_then) = seen["quiet"], seen["saturated"]
    print(f"margin of {RENEWALS} renewals with a ttl of 2 s, upper bounds: median {median:.3g} s, "
          f"least {least:.3g} s while nobody asked; {median_then:.3g} s and {least_then:.3g} s under "
          f"{SATURATING} connections (goal: the same median: {verdict(median <= median_then)})")


def measure_memory(tenure):
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(tenure, folder)
        readers = Readers(agent.port, IDLE_READERS)
        size = agent.rss_kb()
        readers.close()
        stop(agent.process)
    print(f"agent with {IDLE_READERS} connections: rss {size} kB (goal 8192: {verdict(size < 8192)})")


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tenure", required=True)
    options.add_argument("--beast", required=True)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--seconds", type=int, default=2)
    with_these = options.parse_args()
    for tool in ("wrk", "nginx"):
        if not shutil.which(tool):
            raise SystemExit(f"http_bench: {tool} is not installed; apt-get install {tool}")

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        agent = Agent(with_these.tenure, folder)
        stack.callback(stop, agent.process)
        body = os.path.join(folder, "body")
        with open(body, "w") as out:
            out.write(get(agent.port, "/v1/elections/db"))
        beast = subprocess.Popen([with_these.beast, body], stdout=subprocess.PIPE, text=True)
        stack.callback(stop, beast)
        nginx_port = free_port()
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as out, open(body) as text:
            out.write(NGINX_CONF.format(folder=folder, port=nginx_port, body=text.read()))
        nginx = subprocess.Popen(["nginx", "-e", os.path.join(folder, "nginx.err"), "-c", conf])
        stack.callback(stop, nginx)
        until(lambda: answers(nginx_port))
        measure_rates({"agent": (agent.process.pid, agent.port, "/v1/elections/db"),
                       "bare Beast": (beast.pid, int(beast.stdout.readline()), "/"),
                       "nginx": (child_of(nginx.pid), nginx_port, "/")},
                      with_these.rounds, with_these.seconds)
    measure_events(with_these.tenure)
    measure_margin(with_these.tenure)
    measure_memory(with_these.tenure)


if __name__ == "__main__":
    main()
