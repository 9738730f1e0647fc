#!/usr/bin/env python3
"""witness_bench.py --tenure TENURE --pause PAUSE --worker WORKER: how long no workload is active when a whole pod is killed, or a
container with guard and agent, and the kubelet shows that it has ended (`witness: kubelet`), on a real Kubernetes: from the last
sign of the workload to the first of the next. The lease itself lasts for 15 s."""
import os
import signal
import statistics
import time

from scene import PATIENCE, Scene, main, record, until

ROUNDS = 8
GOAL_S = 3
# A member that has died is listed for 30 s, and others wait for it for a moment.
FORGOTTEN_S = 32


class Witness(Scene):
    def test_gap_of_a_whole_pod(self):
        self.kill_again_and_again("guard", ["tenure", "main"])

    def test_gap_of_a_container_with_its_agent(self):
        self.kill_again_and_again("exec", ["main"])

    def kill_again_and_again(self, overlay, containers):
        self.apply(overlay, settings={"store": "kubernetes", "election": "db", "ttl": "15s"}, components=["witness"])
        gaps = []
        for _ in range(ROUNDS):
            active, _ = self.active_and_listed()
            first = [self.processes(active, one)[0] for one in containers]
            before = len(record.read(self.stamps))
            for one in first:
                os.kill(one, signal.SIGKILL)
            # Its own pod may be the next one, too: what `exec` was killed in is started again at once.
            until(lambda: len(record.read(self.stamps)) > before, "the next workload runs", PATIENCE)
            last, after = record.read(self.stamps)[before - 1:before + 1]
            gaps.append((after.first - last.last) / 1e9)
            # Its containers would wait longer each time before they are started again.
            self.delete(active, "--grace-period=1")
            until(lambda: active not in self.pods(), "it is gone", PATIENCE)
            time.sleep(FORGOTTEN_S)
        self.judge(least_terms=ROUNDS + 1)
        met = "met" if statistics.median(gaps) < GOAL_S else "MISSED"
        print(f"without an active workload, overlay {overlay}, {' and '.join(containers)} killed: median {statistics.median(gaps):.2f} s, "
              f"{min(gaps):.2f} to {max(gaps):.2f} (n={ROUNDS}); goal under {GOAL_S} s: {met}", flush=True)


if __name__ == "__main__":
    main(__file__)
