#!/usr/bin/env python3
"""mutate.py [--since COMMIT | --rooms] [--mutants N] [--seed S]: does anybody notice if the change is wrong?

Plants N small mistakes (30), one at a time, in lines of agent/**/*.cpp that have changed since COMMIT (by default the commit
before the last), in a worktree of HEAD in build/mutate, and lets the unit tests of the room judge each, for the stores' clients
a hundred seeds of their simulator as well. With --rooms, one in each room, in any of its lines. Says which mistakes nobody has
noticed: each of these needs a test, or a word why it makes no difference. Ends with 1 if there are any."""
import argparse
import functools
import os
import pathlib
import random
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "mutate"
SIMULATED = {"etcd": "shell_sim", "consul": "shell_consul", "kubernetes": "shell_kubernetes", "sqlite": "shell_sqlite"}
TESTS = {"cli": "cli_unit_tests", "guard": "guard_unit_tests", "health": "health_unit_tests", "log": "log_unit_tests"}
# Seconds: a mistake may make a loop endless.
BUILD_LIMIT, RUN_LIMIT = 600, 120

# What stands in a line, and what is put there. Blanks keep templates and strings out of it.
SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
         (" && ", " || "), (" || ", " && "), (" + ", " - "), (" - ", " + "), ("std::min", "std::max"),
         ("std::max", "std::min"), ("true", "false"), ("false", "true"), ("++", "--"), (" += ", " -= ")]
CONDITION = re.compile(r"\b(if|while) \((?!const|auto)([^;{]*)\)( \{| [^;]*;)$")
# A call or an assignment that can be left out: nothing is declared, returned or left by it.
STATEMENT = re.compile(r"^\s*(?!return|break|continue|case|using|const|auto|static|throw|co_|else|if|for|while|do|namespace|template)"
                       r"[a-z_][\w.:>\-\[\]]*(\(.*\)| = [^;]*);$")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout


@functools.cache
def lines_of(name):
    """As the file is in HEAD."""
    return git("show", f"HEAD:{name}").splitlines()


def changed_lines(since):
    """(file, number of a line as it is in HEAD)"""
    name, out = "", []
    for line in git("diff", "-U0", "--diff-filter=d", since, "HEAD", "--", "agent/*.cpp").splitlines():
        if line.startswith("+++ b/"):
            name = line[6:]
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(found[1]), int(found[2] or 1)
            out += [(name, at) for at in range(first, first + count)]
    return out


def all_lines():
    return [(name, at) for name in git("ls-files", "agent/*.cpp").split() for at in range(1, len(lines_of(name)) + 1)]


def room_of(name):
    """As "core", or of the stores "stores/etcd"."""
    parts = pathlib.PurePath(name).parts
    return "/".join(parts[1:3] if parts[1] == "stores" else parts[1:2])


def mistakes(line):
    """Each line that a small mistake makes of this one."""
    if line.lstrip().startswith(("//", "#")) or "TENURE_" in line:
        return
    code = line.split("//")[0].rstrip()
    for before, after in SWAPS:
        for at in (found.start() for found in re.finditer(re.escape(before), code)):
            if code[:at].count('"') % 2 == 0:
                yield code[:at] + after + code[at + len(before):]
    if found := CONDITION.search(code):
        inside = found[2]
        if inside.count("(") == inside.count(")"):
            yield code[:found.start(2)] + "!(" + inside + ")" + code[found.end(2):]
    if STATEMENT.match(code):
        yield code[:len(code) - len(code.lstrip())] + ";"


def judges(name):
    """The targets that judge a file, with their arguments."""
    parts = pathlib.PurePath(name).parts
    room = parts[1]
    if room == "stores":
        store = parts[2]
        if store not in SIMULATED:
            return [("record_tests", [])] if store == "records" else []
        unit = "sqlite_tests" if store == "sqlite" else store + "_codec_tests"
        return [(unit, []), (SIMULATED[store], ["--seeds", "100", "--from", "random"])]
    target = TESTS.get(room, room + "_tests")
    return [(target, [])] + ([("sim", ["--seeds", "500", "--from", "random"])] if room == "core" else [])


def run(*words, limit, **more):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=limit, **more).returncode
    except subprocess.TimeoutExpired:
        return -1


def build(targets):
    # What the clone has compiled counts here, too: see ./dev.
    return run("ninja", "-C", TREE / "build" / "dev", *targets, limit=BUILD_LIMIT, env={**os.environ, "CCACHE_BASEDIR": str(TREE)})


def program(target):
    [found] = [p for p in (TREE / "build" / "dev" / "tests").rglob(target) if p.is_file()]
    return found


def notices(target, arguments):
    words = [program(target), *arguments]
    if target in ("sqlite_tests", "workload_tests"):  # they look at all processes
        words.insert(0, program("apart"))
    return run(*words, limit=RUN_LIMIT, cwd=TREE) != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD~1")
    parser.add_argument("--rooms", action="store_true")
    parser.add_argument("--mutants", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    given = parser.parse_args()
    dice = random.Random(given.seed)
    of = "all rooms" if given.rooms else "what has changed since " + given.since
    print(f"==> drawn by --seed {given.seed}, of {of}", flush=True)

    drawn = []
    for name, number in all_lines() if given.rooms else changed_lines(given.since):
        right = lines_of(name)[number - 1]
        drawn += [(name, number, right, wrong) for wrong in mistakes(right) if judges(name)]
    dice.shuffle(drawn)
    if given.rooms:
        # What does not compile gives way to the next of its room.
        candidates = {}
        for one in drawn:
            candidates.setdefault(room_of(one[0]), []).append(one)
        drawn = [one for room in sorted(candidates) for one in candidates[room][:5]]
        given.mutants = len(candidates)
    if not drawn:
        print(f"==> {of}: no line of agent/**/*.cpp in which a mistake can be planted")
        return 0

    if TREE.exists():
        git("worktree", "remove", "--force", TREE)
    git("worktree", "prune")
    git("worktree", "add", "--quiet", "--detach", TREE, "HEAD")
    # What is changed again and again is compiled by itself. (In all rooms, that would put the other sources together anew.)
    alone = [] if given.rooms else sorted({one[0] for one in drawn})
    if run("cmake", "--preset", "dev", "-DTENURE_ALONE=" + ";".join(alone), limit=BUILD_LIMIT, cwd=TREE) != 0:
        sys.exit("mutate: cannot configure " + str(TREE))
    begin = time.monotonic()
    targets = sorted({target for one in drawn[:5 * given.mutants] for target, _ in judges(one[0])})
    if build(targets + ["apart"]) != 0:
        sys.exit(f"mutate: what HEAD has does not build: ninja -C {TREE}/build/dev {' '.join(targets)}")
    print(f"==> built {', '.join(targets)} in {time.monotonic() - begin:.0f} s", flush=True)

    tried, unnoticed, rooms = 0, [], set()
    for name, number, right, wrong in drawn:
        if tried == given.mutants:
            break
        if given.rooms and room_of(name) in rooms:
            continue
        file = TREE / name
        before = file.read_text()
        text = before.splitlines()
        text[number - 1] = wrong
        file.write_text("\n".join(text) + "\n")
        its = judges(name)
        if build([target for target, _ in its]) == 0:
            tried += 1
            rooms.add(room_of(name))
            if not any(notices(target, arguments) for target, arguments in its):
                unnoticed.append((name, number, right, wrong))
                print(f"{name}:{number}: nobody notices\n  -{right}\n  +{wrong}", flush=True)
        file.write_text(before)
    git("worktree", "remove", "--force", TREE)
    print(f"==> {tried} mistakes in {len(rooms)} rooms, {len(unnoticed)} unnoticed, in {time.monotonic() - begin:.0f} s")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
