#!/usr/bin/env python3
"""readme_test.py README TENURE: the commands of README, pasted in order, do what README says. As root the test
pastes them as another user, who has no directory of a login: what works there works for root."""
import json
import os
import pathlib
import re
import sys

from shell import NOBODY, Shell, marked_blocks, until

page, binary = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def agents(shell):
    """The election as each agent that answers shows it, by member."""
    rows = [json.loads(line) for line in shell.ask("status", "--output", "json").splitlines()]
    return {one["identity"]: one for row in rows for one in row.get("elections", [])}


def holder(shell):
    """The member that says that it holds; empty if none does."""
    active = [name for name, one in agents(shell).items() if one["is_self"]]
    check(len(active) < 2, f"two hold: {active}")
    return "".join(active)


def one_runs(shell):
    """README's command ends as a `sleep`; a standby has none."""
    until(lambda: list(shell.processes().values()).count(["sleep", "1000"]) == 1, "one command runs")


def another_takes_over(shell, said):
    check(re.search(r"^try +[bc] +active ", said, re.M), "tenure status does not show that b or c is active")
    until(lambda: holder(shell) in ("b", "c"), "b or c holds")
    one_runs(shell)


def start(shell, said):
    until(lambda: sorted(agents(shell)) == ["a", "b", "c"], "three agents answer")
    check(said.startswith("ELECTION "), "tenure status shows no table")
    check(len(re.findall(r"^try +[abc] ", said, re.M)) == 3, "tenure status does not show three agents")
    check(holder(shell) == "a", "a does not hold")
    one_runs(shell)


def ids(shell, said):
    known = shell.processes()
    found = re.findall(r"^([abc]): agent (\d+), guard (\d+)$", said, re.M)
    check([one[0] for one in found] == ["a", "b", "c"], "not the processes of three members")
    for name, agent, guard in found:
        for pid, title in ((int(agent), "tenure-agent"), (int(guard), "tenure-guard")):
            check(pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == title, f"{pid} is not a {title}")
            check(f"--identity {name} " in " ".join(known[pid]), f"{pid} is not of {name}")


def kill(shell, said):
    until(lambda: not [p for p in shell.processes().values() if "--identity a " in " ".join(p)], "a is dead")
    another_takes_over(shell, said)


def handed_over(shell, said):
    check(re.search(r"^a holds try now, under version \d+$", said, re.M), "a was not handed the lease")
    check(sorted(agents(shell)) == ["a", "b", "c"], "not all three take part again")


def freeze(shell, said):
    another_takes_over(shell, said)
    check("a" not in agents(shell), "the frozen agent answers")


def thaw(shell, _):
    until(lambda: agents(shell).get("a", {}).get("state") == "candidate", "a stands by")


def ask(_, said):
    check(len(re.findall(r"^try +[abc] +(?:active|standby)", said, re.M)) == 3, "not a row for each agent")
    check(re.search(r"^VERSION +HOLDER ", said, re.M), "no history")
    check(re.search(r"^1 +a .* expired +at most ", said, re.M), "the history lacks the term of the member that was killed")


def curl(_, said):
    # An answer has no line end.
    answers = re.findall(r'\{"election":"try","identity":"b"', said)
    check(len(answers) == 2, f"{len(answers)} answers of b instead of 2")


def events(_, said):
    check(re.search(r'^data: \{"election":"try"', said, re.M), "no event")


def move(shell, said):
    check(re.search(r"^a holds try now, under version \d+\n[bc] holds try now", said, re.M),
          "the lease did not go to a, and from there to another member")
    check(re.search(r"^a is paused; [bc] holds try now", said, re.M), "a was not paused")
    check(re.search(r"^try +a +standby, paused", said, re.M), "a is not shown as paused")
    check("a campaigns for try again" in said, "a was not resumed")
    check(not agents(shell)["a"]["paused"], "a is paused still")


def stop(shell, _):
    check(not shell.processes(), f"these are left: {shell.processes()}")
    check(not (shell.at / "try").exists(), "the directory is left")


CHECKS = {"start": start, "ids": ids, "kill": kill, "return": handed_over, "freeze": freeze, "thaw": thaw,
          "ask": ask, "curl": curl, "events": events, "move": move, "stop": stop}
ENDED_BY_TIME = "status 28: curl -sN -m 5 "  # as README says of the events

blocks = marked_blocks(page)
check(list(blocks) == list(CHECKS), f"README marks {list(blocks)}; there are checks for {list(CHECKS)}")
with Shell(binary, says_where="try", user=NOBODY if os.geteuid() == 0 else None) as shell:
    for name, commands in blocks.items():
        try:
            said = shell.paste(commands)
            failed = [one for one in re.findall(r"^status \d+: .*$", said, re.M)
                      if not one.startswith(ENDED_BY_TIME)]
            check(not failed, f"a command failed: {failed}")
            CHECKS[name](shell, said)
        except AssertionError as wrong:
            logs = "".join(f"\n{p.name}:\n{p.read_text()}" for p in sorted((shell.at / "try").glob("*.log")))
            sys.exit(f"README, block {name}: {wrong}\n{commands}\nprinted until now:\n{shell.read()}{logs}")
        print(f"{name}: as README says")
