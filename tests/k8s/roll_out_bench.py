#!/usr/bin/env python3
"""roll_out_bench.py --tenure TENURE --pause PAUSE --worker WORKER: how long no workload is active during a roll-out of two
replicas, on a real Kubernetes: what the moves of the lease take, from the last sign of a workload to the first of the next."""
import statistics

import shown
from scene import PATIENCE, Scene, main, record, until

ROUNDS = 6
GOAL_MS = 100


class RollOut(Scene):
    def test_gaps(self):
        how = {"settings": {"store": "kubernetes", "election": "db"}}
        self.apply("guard-endpoints", work="1", **how)
        self.active_and_standby()
        sums, moves = [], []
        for number in range(ROUNDS):
            until(lambda: all(map(shown.is_ready, self.pods().values())), "both are Ready", PATIENCE)
            before = len(record.read(self.stamps))
            work = str(2 - number % 2)
            self.cluster.kubectl("apply", "-k", str(self.kustomize("guard-endpoints", work=work, **how)))
            self.cluster.kubectl("rollout", "status", "deployment/db", "-n", self.space, f"--timeout={PATIENCE}s")
            until(lambda: len(self.pods()) == 2, "the old pods are gone", PATIENCE)
            self.becomes_active()
            lives = record.read(self.stamps)[before - 1:]
            gaps = [(after.first - one.last) / 1e6 for one, after in zip(lives, lives[1:])]
            sums.append(sum(gaps))
            moves.append(len(gaps))
        self.judge(least_terms=ROUNDS + 1)
        met = "met" if statistics.median(sums) < GOAL_MS else "MISSED"
        print(f"without an active workload, a roll-out of two replicas: median {statistics.median(sums):.1f} ms, "
              f"{min(sums):.1f} to {max(sums):.1f}, {ROUNDS} roll-outs with {min(moves)} to {max(moves)} moves of the lease; "
              f"goal under {GOAL_MS} ms: {met}", flush=True)


if __name__ == "__main__":
    main(__file__)
