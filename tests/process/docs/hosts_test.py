#!/usr/bin/env python3
"""hosts_test.py PAGE TENURE PROGRAMS haproxy|keepalived: clients follow the active member with the settings of the page, in
the real programs, on hosts that are network namespaces."""
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from shell import marked_blocks, until

page, tenure, programs, way = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), sys.argv[4]
if not (programs / way).exists():
    print(f"skipped: no {way} in {programs}; run tests/servers/provide proxies")
    sys.exit(77)
if os.geteuid() != 0:
    print("skipped: only root can make hosts of network namespaces")
    sys.exit(77)
settings = marked_blocks(page)[way]
LIBRARIES = ":".join(str(p) for p in (programs / "package").glob("*lib/*-linux-gnu")) + ":" + ":".join(
    str(p) for p in (programs / "package").glob("usr/lib/*-linux-gnu"))
PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True)
NAMES = {"db-1": "10.0.0.1", "db-2": "10.0.0.2", "client": "10.0.0.9"}

# What runs only while it is active: it tells its host's name to everybody who connects, and closes at the end of the line.
WORKLOAD = """import socket, sys
with socket.create_server(("", 5432)) as door:
    while True:
        guest, _ = door.accept()
        with guest:
            guest.sendall(sys.argv[1].encode() + b"\\n")
"""


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Host:
    """A network namespace, kept by a process that sleeps in it."""

    def __init__(self, name, folder):
        self.name, self.at = name, folder / name
        self.at.mkdir()
        self.keeper = subprocess.Popen(["unshare", "--net", "sleep", "1000"], preexec_fn=die_with_parent)
        own = os.readlink("/proc/self/ns/net")
        until(lambda: os.readlink(f"/proc/{self.keeper.pid}/ns/net") != own, f"{name} has its network")
        self.programs = []
        self.run("ip", "link", "set", "lo", "up")

    def command(self, *words):
        return ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net", *map(str, words)]

    def run(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{self.name}: {words}: {done.stderr}")
        return done.stdout

    def start(self, *words, **variables):
        log = open(self.at / "log", "a")
        # A group of its own: all of it can be killed at once.
        self.programs.append(subprocess.Popen(
            self.command(*words), stdout=log, stderr=log, start_new_session=True, preexec_fn=die_with_parent,
            env={**{k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}, **variables}))
        return self.programs[-1]

    def log(self):
        return (self.at / "log").read_text() if (self.at / "log").exists() else ""

    def close(self):
        for one in self.programs:
            kill_all_of(one)
        self.keeper.kill()
        self.keeper.wait()


def session_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, ValueError):
        return 0


def kill_all_of(process):
    """All that it has started, as when the machine is switched off."""
    found = [int(p.name) for p in pathlib.Path("/proc").glob("[0-9]*") if session_of(p.name) == process.pid]
    children = {}
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((p / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(p.name))
    todo = [process.pid, *found]
    every = set()
    while todo:
        one = todo.pop()
        if one not in every:
            every.add(one)
            todo += children.get(one, [])
    for one in every - {os.getpid()}:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def connect(hosts):
    """A cable to each, and a switch."""
    switch = Host("switch", folder)
    hosts.append(switch)
    switch.run("ip", "link", "add", "br0", "type", "bridge")
    switch.run("ip", "link", "set", "br0", "up")
    for host in hosts[:-1]:
        switch.run("ip", "link", "add", f"to-{host.name}", "type", "veth", "peer", "name", "eth0", "netns", str(host.keeper.pid))
        switch.run("ip", "link", "set", f"to-{host.name}", "master", "br0", "up")
        host.run("ip", "addr", "add", f"{NAMES[host.name]}/24", "dev", "eth0")
        host.run("ip", "link", "set", "eth0", "up")


def member(host):
    (host.at / "workload.py").write_text(WORKLOAD)
    (host.at / "run").mkdir(mode=0o700, exist_ok=True)
    return host.start(tenure, "exec", "--store", "sqlite", "--endpoint", folder / "leases" / "db", "--election", "db",
                      "--identity", host.name, "--ttl", "3s", "--listen", "off", "--probe-listen", "0.0.0.0:8081",
                      "--runtime-dir", host.at / "run", "--", sys.executable, host.at / "workload.py", host.name)


def answers(client, address):
    """The name that a client of `address` gets; empty: none."""
    asked = subprocess.run(client.command(sys.executable, "-c", f"""import socket
with socket.create_connection(("{address}", 5432), 1) as to:
    to.settimeout(1)
    print(to.makefile().readline().strip())"""), capture_output=True, text=True)
    return asked.stdout.strip()


hosts = []
with tempfile.TemporaryDirectory() as place:
    folder = pathlib.Path(place)
    (folder / "leases").mkdir(mode=0o700)
    try:
        one, two, client = hosts[:] = [Host(name, folder) for name in NAMES]
        connect(hosts)
        if way == "haproxy":
            address = "127.0.0.1"
            (client.at / "haproxy.cfg").write_text(settings)
            client.start(programs / "haproxy", "-db", "-f", client.at / "haproxy.cfg", LD_LIBRARY_PATH=LIBRARIES)
        else:
            address = "10.0.0.100"
            # It is unpacked and not installed, and from 2.3 on reads /etc/keepalived/keepalived.config-opts or ends.
            furnished, settings_of_packages = [], programs / "package" / "etc"
            if settings_of_packages.exists():
                furnished = ["unshare", "--mount", "sh", "-ec",
                             'mount -t overlay overlay -o "lowerdir=$0:/etc" /etc; exec "$@"', settings_of_packages]
            for host in (one, two):
                if settings.count("/usr/bin/tenure ") != 1:
                    raise AssertionError("the page has another script")
                program = pathlib.Path("/usr/bin/tenure") if pathlib.Path("/usr/bin/tenure").exists() else folder / "tenure"
                if not program.exists():
                    program.write_bytes(pathlib.Path(tenure).read_bytes())
                    program.chmod(0o755)
                    folder.chmod(0o755)
                (host.at / "keepalived.conf").write_text(settings.replace("/usr/bin/tenure", str(program)))
                host.start(*furnished, programs / "keepalived", "--dont-fork", "--log-console", "--log-detail", "--use-file",
                           host.at / "keepalived.conf", "--pid", host.at / "k.pid", "--vrrp_pid", host.at / "v.pid",
                           "--checkers_pid", host.at / "c.pid", "--bfd_pid", host.at / "b.pid", LD_LIBRARY_PATH=LIBRARIES)
        first = member(one)
        until(lambda: answers(client, address) == "db-1", "clients reach db-1")
        second = member(two)
        print("clients reach the active member")

        first.send_signal(signal.SIGTERM)
        until(lambda: answers(client, address) == "db-2", "clients reach db-2 after a hand-over")
        first.wait()
        member(one)
        print("and the next one after a hand-over")
        until(lambda: "standing by" in one.log().rpartition("msg=ended")[2], "db-1 stands by")
        kill_all_of(second)
        until(lambda: answers(client, address) == "db-1", "clients reach db-1 after a crash")
        print("and the next one after a crash")
        if way == "keepalived":
            for host, has in ((one, True), (two, False)):
                until(lambda: ("10.0.0.100/" in host.run("ip", "addr")) == has, f"the address is {'' if has else 'not '}at {host.name}")
            print("whose host alone has the address")
    except (AssertionError, TimeoutError) as wrong:
        sys.exit(f"{wrong}\n" + "".join(f"\n{host.name}:\n{host.log()[-3000:]}" for host in hosts))
    finally:
        for host in hosts:
            host.close()
