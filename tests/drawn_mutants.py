#!/usr/bin/env python3
"""drawn_mutants.py DRAW BASE OUTPUT: writes the mutants that a run of the suite builds to OUTPUT, a patch a line.

Those of the simulators are drawn: each that plants its mistake in a file that has changed since the commit BASE, each that
has changed itself, and one in EIGHTH of the rest, which the number DRAW decides. With DRAW `all`: all. A patch that does
not apply any more ends it with 1, drawn or not."""
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
EIGHTH = 8


def touched(patch: pathlib.Path) -> set[str]:
    return {line[len("+++ b/"):].strip() for line in patch.read_text().splitlines() if line.startswith("+++ b/")}


def is_drawn(name: str, draw: str) -> bool:
    return draw == "all" or zlib.crc32(f"{draw} {name}".encode()) % EIGHTH == 0


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
    chosen = [name for name in names if name in of_change or is_drawn(name, draw)]
    text = "".join(f"{name}\n" for name in chosen)
    # What is the same is left as it is: a newer file has everything configured again.
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    print(f"==> mutants: {len(chosen)} of {len(names)}, {len(of_change)} of them of files that have changed")


if __name__ == "__main__":
    main()
