"""The servers that tests/servers/provide leaves in build/servers."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

# What each store's folder has to have.
PROGRAMS = {"etcd": ("etcd", "etcdctl"), "consul": ("consul",)}

_root = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Release:
    store: str
    name: str  # today, or debian
    folder: Path

    def program(self, name: str) -> str:
        """As /proc names its file."""
        return str((self.folder / name).resolve())

    @property
    def keeps_leases_after_a_stall(self) -> bool:
        """etcd before 3.4.31 revokes leases early after one (docs/etcd.md): the product cannot
        hold what the store does not, so Debian's is never stopped here."""
        return self.store != "etcd" or self.name != "debian"


def find(store: str) -> Release | None:
    """Today's, or Debian's if that is the only one; nothing for a store without servers."""
    for name in ("today", "debian"):
        named = os.environ.get(f"TENURE_{store.upper()}_{name.upper()}")
        folder = Path(named).parent if named else _root / f"build/servers/{store}-{name}"
        if all(os.access(folder / program, os.X_OK) for program in PROGRAMS.get(store, ("",))):
            return Release(store, name, folder)
    return None
