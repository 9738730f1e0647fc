#!/usr/bin/env python3
"""install_bench.py --tenure TENURE --pause PAUSE --worker WORKER: how long it takes from `helm install` to a
first active pod, with images that the node has, how many commands README needs for that, and how long `helm template` takes."""
import statistics
import time

import charts
from install_test import PATIENCE, Release, main, record, until, yaml

ROUNDS = 5
COMMANDS_GOAL = 2
TEMPLATE_GOAL_MS = 200


class Install(Release):
    def test_figures(self):
        self.first_active_pod()
        self.template()

    def first_active_pod(self):
        took = []
        for _ in range(ROUNDS):
            begun = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            self.install(self.values())
            self.becomes_active()
            first = record.read(self.stamps)[len(took)].first
            took.append((first - begun) / 1e9)
            holder = self.cluster.kubectl("get", "lease", "db", "-n", self.space)
            self.assertIn(self.active(), holder)
            self.helm("uninstall", self.release, "--wait")
            until(lambda: not self.pods(), "no pod is left", PATIENCE)
            self.cluster.kubectl("delete", "lease", "--all", "-n", self.space)
        print(f"from `helm install` to the first instruction of the active pod's workload: median {statistics.median(took):.1f} s, "
              f"{min(took):.1f} to {max(took):.1f} (n={ROUNDS})", flush=True)
        commands = charts.readme_commands().index("kubectl get lease db") + 1
        print(f"README's commands until one sees who leads: {commands}; goal {COMMANDS_GOAL}: "
              f"{'met' if commands <= COMMANDS_GOAL else 'MISSED'}", flush=True)

    def template(self):
        took = []
        values = self.values()
        for _ in range(20):
            begun = time.perf_counter()
            self.assertEqual(charts.template(values).returncode, 0)
            took.append((time.perf_counter() - begun) * 1000)
        verdict = "met" if statistics.median(took) < TEMPLATE_GOAL_MS else "MISSED"
        print(f"`helm template`: median {statistics.median(took):.0f} ms, {min(took):.0f} to {max(took):.0f} (n=20); "
              f"goal under {TEMPLATE_GOAL_MS} ms: {verdict}", flush=True)


if __name__ == "__main__":
    main(__file__)
