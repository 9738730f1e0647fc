#!/usr/bin/env python3
"""ttl_test.py PAGE TENURE PROGRAMS: the commands of "Change the ttl" change that of a running election on the real etcd,
for the price of one hand-over."""
import json
import pathlib
import re
import sys

from real_etcd import Etcd
from shell import Shell, marked_steps, until

page, binary, programs = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
if not (programs / "etcd").exists():
    print(f"skipped: no etcd in {programs}; run tests/servers/provide debian or today")
    sys.exit(77)
steps = marked_steps(page, ["ttl_explain", "ttl_standby", "ttl_holder", "ttl_look"])

# The part of systemd in this: the unit's main process is the guard, and is told to stop.
SYSTEMCTL = """#!/bin/bash
[ "$*" = "restart tenure@db" ] || { echo "systemctl $*: not known here"; exit 1; }
cd "$(dirname "$0")"
if [ -e pid ]; then
  kill "$(cat pid)"
  while [ -e /proc/"$(cat pid)" ] && ! grep -q ') Z ' /proc/"$(cat pid)"/stat; do sleep 0.05; done
fi
tenure exec --config etc/db.yaml -- sleep 1000 >>agent.log 2>&1 &
echo $! >pid
"""


class Host:
    """A machine with one member: its own shell, settings and local agent."""

    def __init__(self, name, etcd):
        self.name, self.shell = name, Shell(binary)
        at = self.shell.at
        (at / "etc").mkdir()
        (at / "etc/db.yaml").write_text(f"store: etcd\nendpoint: {etcd.url}\nelection: db\nidentity: {name}\n"
                                        "ttl: 4s\nlisten: 'off'\nprobe_listen: 'off'\n")
        (at / "systemctl").write_text(SYSTEMCTL)
        (at / "systemctl").chmod(0o755)
        self.shell.paste(f"export PATH={at}:{at}/build/release:$PATH\nsystemctl restart tenure@db\n")

    def run(self, step):
        said = self.shell.paste(steps[step].replace("/etc/tenure", str(self.shell.at / "etc")))
        if failed := re.findall(r"^status \d+: .*$", said, re.M):
            raise AssertionError(f"step {step} on {self.name}: {failed}\n{said}")
        return said

    def sees(self):
        rows = [json.loads(line) for line in self.shell.ask("status", "--output", "json").splitlines()]
        return next((one for row in rows for one in row.get("elections", [])), {})

    def log(self):
        return (self.shell.at / "agent.log").read_text()


def leases(etcd):
    """The ttls that the servers keep leases of members with that hold or stand in line."""
    found = []
    for line in etcd.asked("get", "--prefix", "db/", "-w", "json").stdout.splitlines():
        for one in json.loads(line).get("kvs", []):
            if one.get("lease"):
                told = etcd.asked("lease", "timetolive", f"{one['lease']:x}", "-w", "json").stdout
                found.append(json.loads(told)["granted-ttl"])
    return found


def change(host, step):
    host.run(step)
    until(lambda: len(host.sees().get("members") or []) == 2, f"{host.name} takes part again")


hosts = []
with Shell(binary) as server:
    etcd = Etcd(programs, server.at)
    try:
        etcd.start("data")
        a = Host("a", etcd)
        hosts.append(a)
        until(lambda: a.sees().get("is_self"), "a is active")
        b = Host("b", etcd)
        hosts.append(b)
        until(lambda: b.sees().get("next") == "b", "b stands by")
        first = a.sees()["version"]
        if 4 not in leases(etcd):
            raise AssertionError(f"no lease of 4 s: {leases(etcd)}")

        if "ttl                 30s" not in a.run("ttl_explain"):
            raise AssertionError("tenure explain does not explain the ttl of the page")
        change(b, "ttl_standby")
        if not a.sees().get("is_self") or a.sees()["version"] != first:
            raise AssertionError(f"the restart of a standby has moved the lease: {a.sees()}")
        change(a, "ttl_holder")
        until(lambda: b.sees().get("is_self"), "b is active")
        said = b.run("ttl_look")
        if not re.search(r"^db +b +active +b ", said, re.M) or not re.search(r"^\d+ +a .* shutdown\b", said, re.M):
            raise AssertionError(f"the page's last step does not show what it says:\n{said}")
        until(lambda: 4 not in leases(etcd) and 30 in leases(etcd), "all leases have the new ttl")
        for one in hosts:
            if "ttl_too_short" in one.log() or "lease lost" in one.log():
                raise AssertionError(f"{one.name} has lost its lease over it:\n{one.log()}")
        print(f"one hand-over, from version {first} to {b.sees()['version']}")
    except (AssertionError, TimeoutError) as wrong:
        sys.exit(f"{wrong}\n" + "".join(f"\n{one.name}:\n{one.log()[-3000:]}" for one in hosts))
    finally:
        for one in hosts:
            one.shell.__exit__()
        etcd.stop()
