"""The alert rules, and what tests make of them."""
from __future__ import annotations

from pathlib import Path

import yaml

from harness import ROOT

FILE = ROOT / "docker" / "prometheus" / "tenure.rules.yml"

# As long as several evaluations, and much shorter than what a person would wait for.
SOON = "600ms"


def all_rules() -> list[dict]:
    return [rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]]


def names() -> set[str]:
    return {rule["alert"] for rule in all_rules()}


def _rendered(into: Path, change) -> Path:
    document = yaml.safe_load(FILE.read_text())
    for group in document["groups"]:
        for rule in group["rules"]:
            change(rule)
    into.write_text(yaml.safe_dump(document))
    return into


def impatient(into: Path) -> Path:
    """The same rules; what has to last minutes before it is an alert lasts a moment."""
    def change(rule: dict) -> None:
        if "for" in rule:
            rule["for"] = SOON
    return _rendered(into, change)


def bare(into: Path) -> Path:
    """The same rules without their texts, which promtool would compare word by word."""
    return _rendered(into, lambda rule: rule.pop("annotations"))
