"""The stamps of the workloads. This module does not know Tenure or the faults."""
from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# More than any three lives have written.
LATEST_FILES = 12

_PAGE = struct.Struct("=Qqqq")  # tests/process/exec/stamp_page.hpp


@dataclass(frozen=True)
class Life:
    """One start of a workload, all its processes together. CLOCK_BOOTTIME, nanoseconds: something
    of it lived at least from `first` to `last`."""

    identity: str
    version: int
    first: int
    last: int
    stop_at: int = 0  # the latest that its page has said; 0: it has none

    @property
    def member(self) -> str:
        return self.identity.rpartition("-")[0]


def read(folder: Path) -> list[Life]:
    """All of a world, oldest first. A page in the midst of its first stamp is left out."""
    return _lives(folder.glob("*.run"))


def holder(folder: Path, now: int, fresh_ns: int) -> Life | None:
    """Who stamps, if anybody has within the last `fresh_ns`; of two, the later one. Looks at the
    latest files alone, as it is asked often."""
    latest = sorted(folder.glob("*.run"), key=_start_of_process)[-LATEST_FILES:]
    stamping = [life for life in _lives(latest) if now - life.last <= fresh_ns]
    return stamping[-1] if stamping else None


def _lives(paths: Iterable[Path]) -> list[Life]:
    found: dict[tuple[str, ...], Life] = {}
    for path in paths:
        content = path.read_bytes()
        if len(content) < _PAGE.size:
            continue
        version, first, last, stop_at = _PAGE.unpack_from(content)
        if first == 0 or last == 0:
            continue
        identity, version_text, life, _ = path.stem.split(".")
        key = (identity, version_text, life)
        other = found.get(key)
        if other is not None:
            first, last = min(first, other.first), max(last, other.last)
            stop_at = max(stop_at, other.stop_at)
        found[key] = Life(identity, version, first, last, stop_at)
    return sorted(found.values(), key=lambda life: (life.first, life.last))


def _start_of_process(path: Path) -> int:
    return int(path.stem.rpartition(".")[2])
