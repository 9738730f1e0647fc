#!/usr/bin/env python3
"""reference.py [--check]: writes what is made from other files of the charts: the values in each README.md, from the comments
of values.yaml, and the schema of tenure-library within that of tenure, so that a message has the whole path. With --check
it writes nothing, and fails if one of them is out of date."""
import json
import pathlib
import re
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- values: made by helm/reference.py -->\n", "<!-- end of values -->\n"


def rows(text):
    """(path, default, what it is) of each value that has a comment that begins with `# -- `."""
    values, keys, about = yaml.safe_load(text), [], None
    for line in text.splitlines():
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        if stripped.startswith("# -- "):
            about = stripped[5:]
        elif stripped.startswith("#"):
            about = f"{about} {stripped[1:].strip()}" if about else None
        elif key := re.match(r"([A-Za-z]\w*):", stripped):
            keys = [*keys[:indent // 2], key[1]]
            if about:
                value = values
                for one in keys:
                    value = value[one]
                yield ".".join(keys), json.dumps(value), about
                about = None


def table(chart):
    out = ["| value | default | what it is |\n", "|---|---|---|\n"]
    for path, default, about in rows((HERE / chart / "values.yaml").read_text()):
        out.append(f"| `{path}` | `{default}` | {about} |\n")
    return "".join(out)


def readme(chart):
    text = (HERE / chart / "README.md").read_text()
    before, rest = text.split(BEGIN)
    return before + BEGIN + table(chart) + END + rest.split(END)[1]


def schema():
    whole = json.loads((HERE / "tenure/values.schema.json").read_text())
    part = json.loads((HERE / "tenure-library/values.schema.json").read_text())
    whole["properties"]["tenure"] = {key: value for key, value in part.items() if key not in ("$schema", "title")}
    return json.dumps(whole, indent=1) + "\n"


def main():
    stale = []
    for path, text in (("tenure/README.md", readme("tenure")), ("tenure-library/README.md", readme("tenure-library")),
                       ("tenure-injection/README.md", readme("tenure-injection")),
                       ("tenure/values.schema.json", schema())):
        if (HERE / path).read_text() == text:
            continue
        if sys.argv[1:] == ["--check"]:
            stale.append(path)
        else:
            (HERE / path).write_text(text)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run helm/reference.py")


if __name__ == "__main__":
    main()
