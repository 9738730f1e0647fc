"""What a schedule promises, for many seeds."""
import unittest

import schedule
from schedule import QUIET_BEFORE, SETTLE, WORKERS, Fault, Place

STORES = ("etcd", "sqlite", "consul")
SEEDS = range(1, 51)
FAULTS = 100


def schedules(**place: object) -> list[list[Fault]]:
    settings = {"store": "etcd", "worker": "asking", "shared": True, **place}
    return [schedule.make(seed, "w", Place(**settings), FAULTS) for seed in SEEDS]


class Schedule(unittest.TestCase):
    def test_a_seed_is_a_schedule(self) -> None:
        place = Place("etcd", "deaf")
        self.assertEqual(schedule.make(7, "w", place, FAULTS), schedule.make(7, "w", place, FAULTS))
        self.assertNotEqual(schedule.make(7, "w", place, FAULTS),
                            schedule.make(8, "w", place, FAULTS))
        self.assertNotEqual(schedule.make(7, "v", place, FAULTS),
                            schedule.make(7, "w", place, FAULTS))

    def test_the_first_faults_do_not_depend_on_how_many_follow(self) -> None:
        place = Place("sqlite", "deaf")
        self.assertEqual(schedule.make(7, "w", place, FAULTS)[:10],
                         schedule.make(7, "w", place, 10))

    def test_guard_and_agent_are_never_both_without_the_other(self) -> None:
        for faults in schedules():
            on_members = [f for f in faults if f.kind.group == "member"]
            for earlier, later in zip(on_members, on_members[1:]):
                self.assertGreaterEqual(later.at, earlier.end + SETTLE)

    def test_a_key_is_deleted_only_when_its_holder_can_hear_of_it(self) -> None:
        for store, faults in [(store, f) for store in STORES for f in schedules(store=store)]:
            for number, fault in enumerate(faults):
                if fault.kind.group == "operator":
                    for earlier in faults[:number]:
                        self.assertGreaterEqual(fault.at, earlier.end + QUIET_BEFORE[store])
                    for later in faults[number + 1:]:
                        self.assertGreaterEqual(later.at, fault.end + schedule.QUIET_AFTER)

    def test_who_does_not_ask_its_page_is_never_left_without_guard_and_agent(self) -> None:
        for worker in set(WORKERS) - {"asking"}:
            kinds = {f.kind.name for faults in schedules(worker=worker) for f in faults}
            self.assertNotIn("stop both", kinds)

    def test_most_agents_whose_log_nobody_takes_are_hit_meanwhile(self) -> None:
        logs = together = 0
        for faults in schedules():
            for number, log in enumerate(faults[:-1]):
                if log.kind.name == "fill log":
                    following = faults[number + 1]
                    logs += 1
                    together += (following.kind.name in schedule.OF_AGENT
                                 and following.at < log.end
                                 and (following.victim, following.otherwise)
                                 == (log.victim, log.otherwise))
        self.assertGreater(together, logs / 2)

    def test_a_log_is_hit_only_when_it_is_read_again(self) -> None:
        for faults in schedules():
            on_logs = [f for f in faults if f.kind.group == "log"]
            for earlier, later in zip(on_logs, on_logs[1:]):
                self.assertGreater(later.at, earlier.end)

    def test_a_server_is_hit_only_when_those_that_were_hit_before_are_up(self) -> None:
        for faults in schedules(store="consul"):
            on_servers = [f for f in faults if f.kind.group == "store"]
            for earlier, later in zip(on_servers, on_servers[1:]):
                self.assertGreater(later.at, earlier.end)

    def test_only_a_store_with_a_leader_loses_it(self) -> None:
        for store in STORES:
            kinds = {f.kind.name for faults in schedules(store=store) for f in faults}
            self.assertEqual({"stop leader", "kill leader"} <= kinds, store == "consul", store)
            self.assertEqual("cut" in kinds, store != "sqlite", store)

    def test_every_kind_comes_up(self) -> None:
        drawn = {f.kind.name for store in STORES
                 for faults in schedules(store=store) for f in faults}
        self.assertEqual(drawn, set(schedule.KINDS))


if __name__ == "__main__":
    unittest.main()
