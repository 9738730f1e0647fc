#!/usr/bin/env python3
"""docs/metrics.md names every metric that agents show, as they show it, and every alert."""
import re
import signal
import unittest

import harness
import rules
from harness import Scene, eventually


def in_code(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


def rows(text: str) -> list[list[str]]:
    """The rows of the tables of metrics: name, type, labels, meaning, alerts."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("| `")]
    return [[one[0].strip("`"), *one[1:]] for one in cells if len(one) == 5]


def shown_by(page: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Type and label names of each metric; that of buckets is not one of ours."""
    found = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", page, re.M):
        suffix = "(?:_bucket|_sum|_count)" if kind == "histogram" else ""
        samples = re.findall(rf"^{name}{suffix}(?:{{(.*)}})? \S+$", page, re.M)
        labels = {label for one in samples for label in re.findall(r'(\w+)="', one)}
        found[name] = (kind, frozenset(labels - {"le"}))
    return found


# Only agents in pods show these; tests/k8s looks at them.
IN_PODS = {"tenure_traffic_shown", "tenure_traffic_failures_total"}


class Document(Scene):
    maxDiff = None
    text = (harness.ROOT / "docs/metrics.md").read_text()

    def test_agrees_with_what_agents_show(self):
        well = self.folder / "well"
        well.touch()
        before = self.active(self.member("before"))
        holder = self.member("holder", "--health-file", str(well))
        eventually(lambda: "tenure_election_holder_info{" in holder.page(), "it shows who holds before it")
        before.send(signal.SIGTERM)  # so that there is a time without an active member
        self.active(holder)
        eventually(lambda: 'holder="holder"' in holder.page(), "it shows the holder")
        documented = {name: (kind, frozenset(in_code(labels)))
                      for name, kind, labels, _, _ in rows(self.text) if name not in {"up"} | IN_PODS}
        self.assertEqual(documented, shown_by(holder.page()))

    def test_names_every_alert_at_what_it_looks_at(self):
        feeds = {name: in_code(alerts) for name, _, _, _, alerts in rows(self.text)}
        self.assertEqual(set().union(*feeds.values()), rules.names())
        for rule in rules.all_rules():
            looked_at = {name for name in feeds
                         if re.search(rf"\b{name}(?:_bucket)?\b", rule["expr"])}
            with self.subTest(rule["alert"]):
                self.assertEqual({name for name in feeds if rule["alert"] in feeds[name]},
                                 looked_at)


if __name__ == "__main__":
    harness.main()
