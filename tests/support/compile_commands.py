"""How a build compiles each source."""
import json
import pathlib
import shlex
from typing import NamedTuple


class Command(NamedTuple):
    folder: str       # where the compiler is started
    words: list[str]  # the compiler and its flags, without ccache, and without what is read and written


def commands(build: pathlib.Path) -> dict[pathlib.Path, Command]:
    """By source, as absolute paths."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if "ccache" in words[0]:
            words = words[1:]
        found[pathlib.Path(entry["file"])] = Command(entry["directory"], words[:words.index("-o")])
    return found
