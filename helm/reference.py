#!/usr/bin/env python3
"""reference.py [--check] [TENURE]: writes what is made from other files of the charts: the values in each README.md, from the
comments of values.yaml; the defaults again as a template, for values that are null; and in the schemas what each kind of value
may be, and that of tenure-library within that of tenure, so that a message has the whole path. With the program TENURE the
settings of the agent, too, from `tenure check --schema`. With --check it writes nothing, and fails if one of them is out of
date."""
import json
import pathlib
import re
import subprocess
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


def loaded(path):
    return json.loads((HERE / path).read_text())


def has_own_keys(schema):
    """Whether the chart says which keys a mapping has; others are for Kubernetes."""
    return schema.get("additionalProperties") is False


def upto(most):
    """A pattern of the whole numbers from 0 to `most`, without leading zeros."""
    digits, out = str(most), [f"[1-9][0-9]{{0,{len(str(most)) - 2}}}"] if most > 9 else []
    for at, digit in enumerate(digits):
        least = 0 if at or len(digits) == 1 else 1
        if int(digit) > least:
            out.append(f"{digits[:at]}[{least}-{int(digit) - 1}][0-9]{{{len(digits) - at - 1}}}")
    return "|".join(["0", *out, digits])


def numbers(least, most):
    """A pattern of whole numbers, or of more than those where `least` is neither 0 nor 1."""
    positive = upto(most if most is not None else 999999999)
    if least < 0:
        return f"^-?({positive})$"
    return f"^({positive.removeprefix('0|') if least == 1 else positive})$"


def tolerant(schema):
    """Null is what is not said: a key without a value, as people and GitOps tools write it. A number or a boolean may be a text,
    as `--set-string` gives it, and a text that looks like a number may be one, as `--set` gives it."""
    kind = schema.get("type")
    kinds = [one for one in (kind if isinstance(kind, list) else [kind]) if one not in (None, "null")]
    if schema.get("enum"):
        schema["enum"] = [one for one in schema["enum"] if one is not None] + [None]
    elif kinds == ["boolean"]:
        del schema["type"]
        schema["enum"] = [True, False, "true", "false", None]
    elif kinds == ["integer"]:
        schema["type"] = ["integer", "string", "null"]
        schema["pattern"] = numbers(schema.get("minimum", 0), schema.get("maximum"))
    elif kinds == ["string"] and re.search(schema.get("pattern", ""), "123"):
        schema["type"] = ["string", "integer", "null"]
    elif "anyOf" in schema and {"type": "null"} not in schema["anyOf"]:
        schema["anyOf"].append({"type": "null"})
    elif kinds and "null" not in kind:
        schema["type"] = [*kinds, "null"]
    if has_own_keys(schema):
        for one in schema["properties"].values():
            tolerant(one)
    return schema


# What Go's regular expressions do not have, and how the same is said for a JSON Schema: a pattern that must not match, or none.
LOOKAHEADS = (("(?=.)", None), ("(?!-----BEGIN)", "^-----BEGIN"), ("(?!(\"\"|'')( |$))", "^ *(\"\"|'')( |$)"), ("(?!0$|0/)", None),
              ("(?!0($|[/?]))", None))


def for_go(schema):
    """The schema of a setting, with patterns that Go understands."""
    out = {key: value for key, value in schema.items() if key not in ("description", "default")}
    if "anyOf" in out:
        # A command word by word is for a file only: the agent in a pod is told by variables.
        out["anyOf"] = [for_go(one) for one in out["anyOf"] if "additionalItems" not in one]
    for part in ("items", "not"):
        if part in out:
            out[part] = for_go(out[part])
    if pattern := out.get("pattern"):
        for lookahead, other in LOOKAHEADS:
            if lookahead not in pattern:
                continue
            pattern = pattern.replace(lookahead, "")
            if other:
                out["not"] = {"type": "string", "pattern": other}
            elif lookahead == "(?=.)":
                out["minLength"] = 1
            else:
                pattern = pattern.replace("[1-9][0-9]{0,3}|0)", "[1-9][0-9]{0,3})")
        out["pattern"] = re.sub(r"\\u00([0-9a-f]{2})", r"\\x\1", pattern)
        if re.search(r"\(\?[=!<]", out["pattern"]):
            sys.exit(f"Go has no regular expression such as {out['pattern']}")
    return out


class Settings:
    """What `tenure check` knows of the settings of an agent."""

    RANGE = re.compile(r"Accepts (\w+) to (\w+)(?:; for `kubernetes` \w+ to \w+|; `consul` only)?\.(?: |$)")

    def __init__(self, program):
        done = subprocess.run([program, "check", "--schema"], capture_output=True, text=True, check=True)
        self.whole = json.loads(done.stdout)

    def schema(self):
        properties = {key: tolerant(for_go(one)) for key, one in self.whole["properties"].items() if key != "elections"}
        properties["runtime_dir"]["type"].append("boolean")  # Helm reads `off` as false
        return {"type": ["object", "null"], "additionalProperties": False, "properties": properties}

    def template(self):
        ranges, stores = {}, {}
        for key, one in self.whole["properties"].items():
            if "us)?" in one.get("pattern", ""):
                ranges[key] = list(self.RANGE.search(one["description"]).groups())
        known = self.whole["properties"]["store"]["enum"]
        for rule in self.whole["allOf"]:
            store = rule["if"].get("properties", {}).get("store", {})
            for key, one in rule["then"].get("properties", {}).items():
                if one is False:
                    stores[key] = [name for name in stores.get(key, known) if name not in store["enum"]]
        return (MADE + '{{- define "tenure.ranges" -}}\n' + yaml.safe_dump(ranges) + "{{- end -}}\n"
                '{{- define "tenure.stores_of" -}}\n' + yaml.safe_dump(stores) + "{{- end -}}\n")


MADE = "{{/* Made by helm/reference.py. */}}\n"


def schemas(settings):
    library = tolerant(loaded("tenure-library/values.schema.json"))
    injection = tolerant(loaded("tenure-injection/values.schema.json"))
    whole = loaded("tenure/values.schema.json")
    whole["properties"]["tenure"] = {key: value for key, value in library.items() if key not in ("$schema", "title")}
    for one in (library, injection):
        if settings:
            one["properties"]["settings"] = settings.schema()
    whole = tolerant(whole)
    return {"tenure-library": library, "tenure-injection": injection, "tenure": whole}


def defaults(values, schema):
    """What stands for a value that is null. Of a mapping whose keys are Kubernetes' nothing is left: who takes it away with null
    wants none of it."""
    if not isinstance(values, dict):
        return values
    return {key: defaults(value, schema["properties"][key]) for key, value in values.items()} if has_own_keys(schema) else {}


def default_template(chart, schema):
    values = yaml.safe_load((HERE / chart / "values.yaml").read_text())
    name = {"tenure": "tenure-chart", "tenure-library": "tenure"}.get(chart, "injection")
    return (MADE + f'{{{{- define "{name}.defaults" -}}}}\n' + yaml.safe_dump(defaults(values, schema), sort_keys=False) +
            "{{- end -}}\n")


def main():
    words = [one for one in sys.argv[1:] if one != "--check"]
    settings = Settings(words[0]) if words else None
    made = {}
    for chart, schema in schemas(settings).items():
        made[f"{chart}/README.md"] = readme(chart)
        made[f"{chart}/values.schema.json"] = json.dumps(schema, indent=1) + "\n"
        made[f"{chart}/templates/_defaults.tpl"] = default_template(chart, schema)
    if settings:
        made["tenure-library/templates/_ranges.tpl"] = settings.template()
    stale = []
    for path, text in made.items():
        if (HERE / path).exists() and (HERE / path).read_text() == text:
            continue
        stale.append(path)
        if "--check" not in sys.argv:
            (HERE / path).write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run helm/reference.py TENURE")


if __name__ == "__main__":
    main()
