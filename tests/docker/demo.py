"""docker/compose.yaml as Docker reads it, without Docker."""
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "docker/compose.yaml"
AGENTS = ("a", "b", "c")
SERVERS = ("etcd-1", "etcd-2", "etcd-3")
# There is no image of Grafana that could be made without pulling one.
RUNS_NOT_HERE = "grafana"


def with_defaults(text: str) -> str:
    """Each ${NAME:-DEFAULT} is its default, and each $$ a $."""
    text = re.sub(r"(?<!\$)\$\{\w+:-([^}]*)\}", r"\1", text)
    assert not re.search(r"(?<!\$)(\$\$)*\$(?!\$)", text), "a variable without a default"
    return text.replace("$$", "$")


def read() -> dict:
    return yaml.safe_load(with_defaults(FILE.read_text()))


def mounts(service: dict) -> list[tuple[str, str, str]]:
    """Source, place and mode of each volume."""
    return [tuple((*one.split(":"), "rw")[:3]) for one in service.get("volumes", [])]
