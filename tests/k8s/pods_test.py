#!/usr/bin/env python3
"""pods_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: pods of k8s/ on a real Kubernetes."""
import argparse
import os
import signal
import sys
import unittest

import cluster
from scene import Scene


class Guard(Scene):
    """Overlay `guard`: the main container's command runs under `tenure guard`."""

    def test_one_pod_is_active_and_its_end_moves_the_lease(self):
        self.apply("guard")
        active, others = self.active_and_standby()
        shown = self.cluster.kubectl("get", "lease", "db", "-n", self.space)
        self.assertIn(active + "_tenure-", shown)
        self.cluster.kubectl("delete", "pod", active, "-n", self.space, "--wait=false")
        self.assertIn(self.becomes_active([active]), others)
        self.judge()

    def test_a_killed_agent_costs_no_fail_over(self):
        self.apply("guard")
        active, _ = self.active_and_standby()
        self.signal(active, "tenure", signal.SIGKILL)
        self.stays_active(active, 20)
        self.assertEqual(self.restarts(active, "tenure"), 1)
        self.judge(least_terms=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("tenure", "pause", "worker"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--inside", action="store_true")
    given, rest = parser.parse_known_args()
    if why := cluster.missing():
        print(why)
        sys.exit(77)
    if not given.inside:
        cluster.enter(__file__, *sys.argv[1:])
    Scene.programs = {name: os.path.abspath(getattr(given, name)) for name in ("tenure", "pause", "worker")}
    unittest.main(argv=[sys.argv[0], "-v", *rest])
