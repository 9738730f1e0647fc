#!/usr/bin/env python3
"""runbook_test.py PAGE TENURE debian|today PROGRAMS: the commands of "Restore etcd" restore the real etcd."""
import json
import pathlib
import re
import shutil
import sys

from real_etcd import Etcd
from shell import Shell, marked_steps, until

page, binary, edition = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], sys.argv[3]
programs = pathlib.Path(sys.argv[4]).resolve()
if not (programs / "etcd").exists():
    print(f"skipped: no etcd in {programs}; run tests/servers/provide {edition}")
    sys.exit(77)
wanted = ["save", "restore", "look", "restore_old", "raise", "accept"]
steps = marked_steps(page, wanted)


def active(shell):
    """The member that holds, and its version; None: nobody does."""
    rows = [json.loads(line) for line in shell.ask("status", "--output", "json").splitlines()]
    held = [(one["identity"], int(one["version"])) for row in rows for one in row.get("elections", [])
            if one["is_self"]]
    return held[0] if held else None


def is_active(shell, above=0):
    until(lambda: (active(shell) or ("", 0))[1] > above, f"a member is active above version {above}")
    return active(shell)[1]


def says(shell, what):
    until(lambda: what in shell.ask("status", "--output", "json"), f"tenure status says: {what}")


def run(shell, name):
    said = shell.paste(steps[name])
    failed = re.findall(r"^status \d+: .*$", said, re.M)
    if failed:
        raise AssertionError(f"step {name}: {failed}\n{said}")
    return said


def write(shell, times):
    shell.paste(f"for i in $(seq {times}); do etcdctl put x $i >/dev/null; done\n")


def hand_over(shell):
    """Both members have been granted a term that is newer than all writes so far. Returns the newest."""
    for _ in range(2):  # the first is that of a place in line, which is older
        before = is_active(shell)
        shell.paste("tenure resign db >/dev/null\n")
        is_active(shell, before)
    return active(shell)[1]


with Shell(binary) as shell:
    etcd = Etcd(programs, shell.at)
    try:
        shell.paste(f"export PATH={programs}:{shell.at}/build/release:$PATH ETCDCTL_ENDPOINTS={etcd.url} ETCDCTL_API=3\n")
        etcd.start("first.etcd")
        for name in "ab":
            shell.paste(f"tenure exec --store etcd --endpoint {etcd.url} --election db --identity {name} --ttl 2s "
                        f"--listen off --probe-listen off -- sleep 1000 >{name}.log 2>&1 &\n")
        is_active(shell)
        run(shell, "save")
        # So far back that members' own tries do not make up for it.
        write(shell, 400)
        newest = hand_over(shell)

        def restore(step):
            etcd.stop()
            shutil.rmtree(shell.at / "restored.etcd", ignore_errors=True)
            run(shell, step)
            etcd.start("restored.etcd")

        if edition == "today":
            restore("restore")
            newest = is_active(shell, 1000000000)
            said = run(shell, "look")
            if not re.search(rf"^db +[ab] +active +[ab] +{newest} ", said, re.M):
                raise AssertionError(f"tenure status does not show version {newest}:\n{said}")
            print("restored with larger versions")
        else:
            restore("restore_old")
            says(shell, "as after a restore")
            run(shell, "raise")
            is_active(shell, newest)
            print("raised by writing")
            write(shell, 400)
            hand_over(shell)
            restore("restore_old")
            says(shell, "as after a restore")
            run(shell, "accept")
            is_active(shell)
            print("smaller versions accepted")
    except (AssertionError, TimeoutError) as wrong:
        logs = "".join(f"\n{p.name}:\n{p.read_text()[-4000:]}" for p in sorted(shell.at.glob("*.log")))
        sys.exit(f"{wrong}\nprinted until now:\n{shell.read()}{logs}")
    finally:
        etcd.stop()
