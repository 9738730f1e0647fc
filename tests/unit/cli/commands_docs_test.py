#!/usr/bin/env python3
"""commands_docs_test.py ROOT TENURE: the program and its documents say the same.

docs/commands.md has each verb with each of its flags, and the statuses that each verb ends with; the
committed manual page is the one that the program prints, and a page without faults.
"""
import pathlib
import re
import shutil
import subprocess
import sys

root, tenure = pathlib.Path(sys.argv[1]), sys.argv[2]
problems = []


def said(*words):
    return subprocess.run([tenure, *words], capture_output=True, text=True, check=True).stdout


def block(text, heading):
    """The indented lines below a heading of --help."""
    found = re.search(rf"^{heading}:\n((?: .*\n|\n(?= ))+)", text + "\n", re.M)
    return found.group(1) if found else ""


verbs = re.findall(r"^  ([a-z]+) ", block(said("--help"), "Verbs"), re.M)
text = (root / "docs/commands.md").read_text()
sections = dict(re.findall(r"^### `tenure ([a-z]+)`\n(.*?)(?=^##|\Z)", text, re.M | re.S))
for verb in sorted(set(verbs) ^ set(sections)):
    problems.append(f"{verb}: in one of program and docs/commands.md only")

statuses = {}
for verb in verbs:
    help_text = said(verb, "--help")
    for number in re.findall(r"^  (\d+) ", block(help_text, "Exit statuses"), re.M):
        statuses.setdefault(number, set()).add(verb)
    own = " ".join(re.findall(r"^  (-\S+)", block(help_text, "Options"), re.M))
    flags = set(re.findall(r"--[a-z-]+", own)) - {"--help", "--config"}
    in_docs = set(re.findall(r"(?<![\w-])--[a-z-]+", sections.get(verb, "")))
    problems += [f"{verb}: docs/commands.md does not name {f}" for f in sorted(flags - in_docs)]
    usage = re.search(r"^    tenure .*$", sections.get(verb, ""), re.M)
    in_usage = set(re.findall(r"(?<![\w-])--[a-z-]+", usage.group(0) if usage else ""))
    if not usage:
        problems.append(f"{verb}: docs/commands.md shows no usage")
    problems += [f"{verb}: its usage in docs/commands.md has {f}" for f in sorted(in_usage - flags)]

rows = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", text, re.M)
for number, of in rows:
    named = set(verbs) if of == "all" else set(re.findall(r"`([a-z]+)`", of))
    for verb in sorted(named ^ statuses.get(number, set())):
        problems.append(f"status {number} of {verb}: in one of --help and docs/commands.md only")
problems += [f"status {n}: not in docs/commands.md" for n in statuses if n not in dict(rows)]

if (root / "docs/tenure.1").read_text() != said("man"):
    problems.append("docs/tenure.1 is not what the program prints; to make it again: tenure man > docs/tenure.1")
if shutil.which("mandoc"):
    lint = subprocess.run(["mandoc", "-T", "lint", root / "docs/tenure.1"], capture_output=True, text=True)
    # The page is made from the program alone, which knows no date.
    problems += [line for line in lint.stdout.splitlines() if "missing date" not in line]
else:
    print("mandoc is not installed: the manual page is not checked for faults")

if len(verbs) < 10 or len(statuses) < 5:
    problems.append("hardly any verbs or statuses found; has --help changed its form?")
print("\n".join(problems) or f"{len(verbs)} verbs and {len(statuses)} statuses, the same everywhere")
sys.exit(1 if problems else 0)
