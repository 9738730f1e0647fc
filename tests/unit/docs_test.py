#!/usr/bin/env python3
"""docs_test.py ROOT: every test that docs/faults.md names exists, and no cell of its tables is empty."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
defined = set()
for source in (root / "tests").rglob("*.cpp"):
    for suite, name in re.findall(r"^TEST(?:_P|_F)?\((\w+),\s*(\w+)\)", source.read_text(), re.M):
        defined.add(f"{suite}.{name}")

problems = []
named = 0
for number, line in enumerate((root / "docs/faults.md").read_text().splitlines(), 1):
    if not line.startswith("|") or line.startswith("| what fails |") or set(line) <= set("|-"):
        continue
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    heading = cells[0].startswith("**") and not any(cells[1:])
    if len(cells) != 3 or (not all(cells) and not heading):
        problems.append(f"line {number}: an empty cell, or not three of them")
    tests = re.findall(r"`(\w+\.\w+)`", cells[-1])
    named += len(tests)
    if not tests and not heading and not cells[-1].startswith("not covered: "):
        problems.append(f"line {number}: neither a test nor the reason why there is none")
    problems += [f"line {number}: there is no test {t}" for t in tests if t not in defined]
if named < 20:
    problems.append(f"only {named} tests are named; was the table moved?")
print("\n".join(problems) or f"{named} tests named, all of them exist")
sys.exit(1 if problems else 0)
