#!/usr/bin/env python3
"""results.py RESULTS LIST: ends the output of a run with where its time went, what was run twice and what failed; fails
if a test was skipped that LIST does not allow.

RESULTS is what `ctest --output-junit` writes; LIST is tests/skips.txt. Among thousands of tests, what a failed one
said is hard to find: its end stands last."""
import pathlib
import re
import sys
import xml.etree.ElementTree

UNITTEST_SKIP = re.compile(r"^(\w+) \(.*\.\.\. skipped '(.*)'$", re.M)
GOOGLETEST_SKIP = re.compile(r"^.*: Skipped\n(.*)$", re.M)

GOOGLETEST_FAILED = re.compile(r"^\[ RUN      \] (\S+)\n(?:(?!\[ RUN      \]).*\n)*?\[  FAILED  \] \1[ ,].*$", re.M)

SANITIZER = re.compile(r"^.*(ERROR: \w+Sanitizer|: runtime error: ).*$", re.M)

# What tests/support/apart says.
REPEATED = re.compile(r"^apart: ended with .* once more$", re.M)

LAST_LINES = 30
TOLD = 10
SLOWEST = 20


Case = xml.etree.ElementTree.Element


def skipped(cases: list[Case]) -> list[tuple[str, str]]:
    """The name of each test that was skipped, also of those within a test of ctest's, and why."""
    found = []
    for case in cases:
        name, said = case.get("name", ""), case.findtext("system-out") or ""
        within = UNITTEST_SKIP.findall(said)
        found += [(f"{name}.{test}", why) for test, why in within]
        if not within and case.find("skipped") is not None:
            why = GOOGLETEST_SKIP.search(said)
            found.append((name, why[1] if why else said.strip() or case.find("skipped").get("message", "")))
    return found


def failed(cases: list[Case]) -> list[tuple[str, list[str]]]:
    """The name of each test that failed, also of those that shared a process, and the last lines of what it said."""
    found = []
    for case in cases:
        failure = case.find("failure")
        if failure is None:
            continue
        name, said = case.get("name", ""), (case.findtext("system-out") or "").strip() or failure.get("message", "")
        if wrong := SANITIZER.search(said):
            found.append((name, said[wrong.start():].splitlines()[:LAST_LINES]))
            continue
        within = [one for one in GOOGLETEST_FAILED.finditer(said) if one[1] != name]
        found += [(f"{name}: {one[1]}", one[0].splitlines()[-LAST_LINES:]) for one in within]
        if not within:
            found.append((name, said.splitlines()[-LAST_LINES:]))
    return found


def repeated(cases: list[Case]) -> list[tuple[str, str]]:
    """The name of each test that was run once more, and why."""
    return [(case.get("name", ""), word) for case in cases
            for word in REPEATED.findall(case.findtext("system-out") or "")]


def class_of(test: str) -> str:
    """`EtcdLine` of `Servers/EtcdLine.IsKept/debian`; `shell.kubernetes` of `shell.kubernetes.mutant.name`."""
    words = test.split(".")
    return words[0].rpartition("/")[2] if words[0][:1].isupper() or "/" in words[0] else ".".join(words[:2])


def times(cases: list[Case]) -> list[str]:
    """The classes and the tests that took the most time. Tests run side by side: the sum is more than the run took."""
    tests = {case.get("name", ""): float(case.get("time") or 0) for case in cases}
    classes: dict[str, list[float]] = {}
    for name, seconds in tests.items():
        classes.setdefault(class_of(name), []).append(seconds)
    slowest_classes = sorted(classes.items(), key=lambda one: -sum(one[1]))[:SLOWEST]
    slowest_tests = sorted(tests.items(), key=lambda one: -one[1])[:SLOWEST]
    return [f"time: {sum(tests.values()):.0f} s in {len(tests)} tests; the {SLOWEST} slowest classes, and tests",
            *(f"time: {sum(all_of_it):7.1f} s  {name} ({len(all_of_it)})" for name, all_of_it in slowest_classes),
            *(f"time: {seconds:7.1f} s  {name}" for name, seconds in slowest_tests)]


def allowed(listed: pathlib.Path) -> list[re.Pattern[str]]:
    """The patterns of the list, each of which has a reason."""
    patterns = []
    for line in listed.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern, _, reason = line.partition(" ")
        if not reason.strip():
            sys.exit(f"{listed}: no reason for {pattern}")
        patterns.append(re.compile(pattern))
    return patterns


def main() -> None:
    cases = list(xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    print(*times(cases), sep="\n")
    twice = repeated(cases)
    print(f"repeated since the machine stood still: {len(twice)}")
    for name, why in twice:
        print(f"repeated: {name}: {why}")
    broken = failed(cases)
    for name, said in broken[:TOLD]:
        print(f"failed: {name}", *(f"    {line[:300]}" for line in said), sep="\n")
    if len(broken) > TOLD:
        print(f"failed: {len(broken) - TOLD} more")
    patterns = allowed(pathlib.Path(sys.argv[2]))
    unexpected = [(name, why) for name, why in skipped(cases)
                  if not any(pattern.fullmatch(name) for pattern in patterns)]
    for name, why in unexpected:
        print(f"skipped: {name}: {why}")
    if unexpected:
        sys.exit(f"{len(unexpected)} tests were skipped that {sys.argv[2]} does not allow")


if __name__ == "__main__":
    main()
