#!/usr/bin/env python3
"""drawn_mutants.py DRAW BASE OUTPUT: writes the mutants that a run of the suite builds to OUTPUT, a patch a line.

Those of the simulators are drawn by the number DRAW: at most OF_CHANGE of those that plant their mistake in a file that has
changed since the commit BASE, or have changed themselves, and one in EIGHTH of the rest. With DRAW `all`: all. A patch that
does not apply any more ends it with 1, drawn or not."""
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EIGHTH = 8
OF_CHANGE = 32


def touched(patch: pathlib.Path) -> set[str]:
    return {line[len("+++ b/"):].strip() for line in patch.read_text().splitlines() if line.startswith("+++ b/")}


def place(name: str, draw: str) -> int:
    return zlib.crc32(f"{draw} {name}".encode())


def applies(patch: pathlib.Path) -> bool:
    return subprocess.run(["patch", "-p1", "--fuzz=0", "--dry-run", "--quiet", "-i", patch], cwd=ROOT,
                          stdout=subprocess.DEVNULL).returncode == 0


def main() -> None:
    draw, base, output = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    changed = set(subprocess.run(["git", "diff", "--name-only", base], cwd=ROOT, check=True, capture_output=True,
                                 text=True).stdout.splitlines())
    patches = sorted((*ROOT.glob("tests/*/mutants/*.patch"), *ROOT.glob("tests/*/*/mutants/*.patch")))
    if broken := [str(one.relative_to(ROOT)) for one in patches if not applies(one)]:
        sys.exit("mutants that do not apply any more: " + " ".join(broken))
    names = {str(one.relative_to(ROOT)): touched(one) for one in patches if ROOT / "tests/chaos" not in one.parents}
    of_change = [name for name, files in names.items() if changed & ({name} | files)]
    if draw == "all":
        chosen = list(names)
    else:
        rest = names.keys() - set(of_change)
        chosen = sorted({*sorted(of_change, key=lambda name: place(name, draw))[:OF_CHANGE],
                         *(name for name in rest if place(name, draw) % EIGHTH == 0)})
    text = "".join(f"{name}\n" for name in chosen)
    # What is the same is left as it is: a newer file has everything configured again.
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    print(f"==> mutants: {len(chosen)} of {len(names)}, drawn from {len(of_change)} of files that have changed and the rest")


if __name__ == "__main__":
    main()
