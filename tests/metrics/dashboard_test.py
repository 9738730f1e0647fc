#!/usr/bin/env python3
"""Each panel of the dashboard is answered, by a real Prometheus over real agents. Whether Grafana
draws it well is for people to see: there is none in Debian."""
import json
import math
import re
import unittest

import harness
from harness import Scene, eventually

FILE = harness.ROOT / "docker/grafana/tenure.json"
# What Grafana puts in.
VARIABLES = {"$__rate_interval": "20s", "$job": ".*", "$election": ".*"}


def panels() -> list[dict]:
    return json.loads(FILE.read_text())["panels"]


def with_queries() -> list[dict]:
    return [p for p in panels() if p["type"] != "row"]


def filled_in(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, f"a variable that the test does not know: {expression}"
    return expression


class Dashboard(Scene):
    def test_panels_neither_overlap_nor_share_a_number(self):
        taken: dict[tuple[int, int], str] = {}
        for panel in panels():
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, f"{panel['title']} and {taken.get((x, y))}")
                    taken[x, y] = panel["title"]
        numbers = [panel["id"] for panel in panels()]
        self.assertEqual(len(numbers), len(set(numbers)))

    def test_every_panel_says_what_it_shows_and_asks_the_chosen_source(self):
        for panel in with_queries():
            with self.subTest(panel["title"]):
                self.assertTrue(panel["description"])
                self.assertTrue(panel["targets"])
                for target in panel["targets"]:
                    self.assertEqual(target["datasource"]["uid"], "${datasource}")

    def test_shows_only_what_is_documented(self):
        documented = set(re.findall(r"^\| `(\w+)` \|", (harness.ROOT / "docs/metrics.md")
                                    .read_text(), re.M))
        for panel in with_queries():
            for target in panel["targets"]:
                used = re.findall(r"\b(?:tenure|process|leader)_\w+", target["expr"])
                self.assertTrue(used, panel["title"])
                for name in used:
                    self.assertIn(name.removesuffix("_bucket"), documented, panel["title"])

    def test_every_expression_is_answered_with_data(self):
        well = self.folder / "well"
        well.touch()
        self.active(self.member("holder", "--health-file", str(well)))
        self.member("standby")
        server = self.prometheus("holder", "standby")
        for panel in with_queries():
            for target in panel["targets"]:
                expression = filled_in(target["expr"])

                def answered() -> bool:
                    found = server.query(expression)
                    self.check_labels(panel, target, found)
                    return any(not math.isnan(value) for _, value in found)

                with self.subTest(panel["title"]):
                    eventually(answered, f"{panel['title']}: {expression} has data")

    def check_labels(self, panel: dict, target: dict, found: list) -> None:
        """Each label that a legend names is there."""
        wanted = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        for labels, _ in found:
            self.assertLessEqual(wanted, set(labels), panel["title"])


if __name__ == "__main__":
    harness.main()
