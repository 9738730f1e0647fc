#!/usr/bin/env python3
"""docs_test.py ROOT: every test that docs/faults.md names exists, and no cell of its tables is empty; every rule and
every mutant that the table of docs/safety.md names exists, and each mutant breaks a rule of its row; the description of the
Debian package names each store."""
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

rules = set()
for header in ("tests/sim/rule.hpp", "tests/shell/rule.hpp", "tests/shell/guard/judge.hpp"):
    for body in re.findall(r"^enum class \w*rule : [\w:]+ \{(.*?)^\};", (root / header).read_text(), re.M | re.S):
        rules |= set(re.findall(r"^  (\w+)[,\n ]", body, re.M))
broken_by = {}
for patch in (root / "tests").glob("s*/**/mutants/*.patch"):
    what = re.search(r"^Breaks (.+)$", patch.read_text(), re.M)
    if not what or not set(what[1].split(",")) <= rules:
        problems.append(f"{patch.name}: no line \"Breaks RULE\", or no such rule")
    broken_by.setdefault(patch.stem, set()).update(what[1].split(",") if what else [])

sentences = []
for line in (root / "docs/safety.md").read_text().partition("## Which rule watches")[2].partition("\n## ")[0].splitlines():
    if not line.startswith("|") or line.startswith("| sentence |") or set(line) <= set("|-"):
        continue
    sentence, of_row, mutants = (cell.strip() for cell in line.strip("|").split("|"))
    sentences.append(sentence)
    of_row = set(re.findall(r"`(\w+)`", of_row))
    mutants = set(re.findall(r"`(\w+)`", mutants))
    unknown = (of_row - rules) | (mutants - broken_by.keys())
    problems += [f"safety.md, sentence {sentence}: there is no {name}" for name in sorted(unknown)]
    problems += [f"safety.md, sentence {sentence}: {name} breaks none of its rules"
                 for name in sorted(mutants & broken_by.keys()) if not broken_by[name] & of_row]
    broken = set().union(*(broken_by.get(name, set()) for name in mutants))
    problems += [f"safety.md, sentence {sentence}: no mutant breaks {name}" for name in sorted(of_row - broken)]
if sentences[:10] != [str(n) for n in range(1, 11)]:
    problems.append("safety.md: the table has not one row for each sentence")
kinds = re.findall(r'\.title = "(\w+)"', (root / "agent/settings/store_kind.hpp").read_text())
description = (root / "packaging/build").read_text().partition("Description:")[2].partition("\nCONTROL\n")[0]
if len(kinds) < 4:
    problems.append(f"only {kinds} are stores; was the table moved?")
problems += [f"packaging/build: the description of the package does not name {kind}" for kind in kinds if kind not in description]
print("\n".join(problems) or f"{named} tests named, all of them exist")
sys.exit(1 if problems else 0)
