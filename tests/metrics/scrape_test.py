#!/usr/bin/env python3
"""What a real Prometheus makes of the metrics of real agents."""
import re
import subprocess
import unittest
from pathlib import Path

import harness
from harness import TENURE, Scene, eventually, promtool

ELECTIONS = 10_000


class Page(Scene):
    def test_every_kind_of_agent_has_a_page_that_the_linter_likes(self):
        health = self.folder / "healthy"
        health.touch()
        holder = self.active(self.member("holder", "--health-file", str(health)))
        standby = self.member("standby")
        observer = self.agent("observer", "agent", "--observe")
        for one in (holder, standby, observer):
            with self.subTest(one.name):
                self.assertEqual(promtool("check", "metrics", stdin=one.page()), "")

    def test_api_has_the_same_page(self):
        # Active, it has had an answer of its store, and with that all that it will ever show.
        one = self.active(self.member("a", listen=self.instance("api")))
        of_api = harness.get(f"http://{self.instance('api')}/metrics")
        types = r"^# TYPE (\S+) (\S+)$"
        self.assertEqual(re.findall(types, of_api, re.M), re.findall(types, one.page(), re.M))

    def test_ten_thousand_elections_cost_a_page_and_leave_nothing_behind(self):
        config = self.folder / "many.yaml"
        config.write_text("elections:\n" + "".join(f"  - service-{i}\n" for i in range(ELECTIONS)))
        flags = ["agent", "--observe", "--config", str(config), "--store", "sqlite", "--endpoint",
                 str(self.folder / "leases.db"), "--identity", "many", "--ttl", "15s",
                 "--listen", "off", "--probe-listen", self.instance("many")]
        many = harness.Agent(self.folder, "many", self.port("many"), flags)
        self.addCleanup(many.kill)
        observing = r'^tenure_election_state{election="[^"]*",state="observer"} 1$'
        eventually(lambda: len(re.findall(observing, many.page(), re.M)) == ELECTIONS,
                   lambda: f"all are there; it said:\n{many.said()[-2000:]}")
        Path(f"/proc/{many.pid}/clear_refs").write_text("5")  # peak := now
        before = memory_kb(many.pid, "VmRSS")
        for _ in range(5):
            page = many.page()
        # The last answer is there until its connection has ended.
        eventually(lambda: memory_kb(many.pid, "VmRSS") - before < 8 * 1024,
                   lambda: f"all but {memory_kb(many.pid, 'VmRSS') - before} kB are given back")
        # The page, and the answer that is made of it.
        self.assertLess(memory_kb(many.pid, "VmHWM") - before, 3 * len(page) / 1024 + 4 * 1024)
        # All of its lines but of a hundred elections: promtool 2.53 takes minutes for ten thousand.
        few = re.sub(r'^.*"service-\d{3,}".*\n', "", page, flags=re.M)
        self.assertEqual(few.count("tenure_election_active{"), 100)
        self.assertEqual(promtool("check", "metrics", stdin=few), "")


# Long enough that a disk which is slow for a moment costs nobody the lease.
LONG_TTL = 10


class Scrape(Scene):
    def test_values_are_those_of_the_agents_through_a_fail_over(self):
        a = self.active(self.member("a", ttl=f"{LONG_TTL}s"))
        b = self.member("b", ttl=f"{LONG_TTL}s")
        server = self.prometheus("a", "b")

        def is_value(expression, wanted):
            eventually(lambda: server.value(expression) == wanted,
                       lambda: f"{expression} is {wanted}, but {server.query(expression)}")

        def of(one):
            return f'{{instance="{one.instance}"}}'

        is_value("count(up == 1)", 2)
        is_value(f"tenure_election_active{of(a)}", 1)
        is_value(f"tenure_election_active{of(b)}", 0)
        is_value("sum(leader_election_master_status{name='db'})", 1)
        is_value("sum(tenure_election_active)", 1)
        is_value(f"tenure_workload_running{of(a)}", 1)
        is_value(f"tenure_workload_running{of(b)}", 0)
        is_value("count(tenure_election_holder_info{holder='a'})", 2)
        is_value(f"tenure_election_state{{state='candidate',instance='{b.instance}'}}", 1)
        is_value("sum by (election) (tenure_election_state)", 2)
        is_value("count(tenure_guard_up == 1)", 2)
        is_value("count(tenure_store_up == 1)", 2)
        is_value(f"tenure_election_transitions_total{{to='active',instance='{a.instance}'}}", 1)
        is_value("tenure_store_requests_total{operation='acquire',outcome='done',"
                 f"instance='{a.instance}'}}", 1)
        is_value(f"count(tenure_lease_ttl_seconds == {LONG_TTL})", 2)

        version = subprocess.run([TENURE, "--version"], capture_output=True, text=True,
                                 check=True).stdout.split()[1]
        self.assertEqual({labels["version"] for labels, _ in server.query("tenure_build_info")},
                         {version})

        # Renewals: each is timed, and leaves at most what is left when all is well.
        eventually(lambda: server.value_there(f"tenure_lease_renewal_margin_seconds_count{of(a)}") >= 3,
                   "three renewals are counted")
        mean = server.value_there(f"tenure_lease_renewal_margin_seconds_sum{of(a)}"
                                  f" / tenure_lease_renewal_margin_seconds_count{of(a)}")
        window = server.value_there(f"tenure_lease_renewal_window_seconds{of(a)}")
        self.assertGreater(mean, 0)
        self.assertLessEqual(mean, window)
        left = server.value_there(f"tenure_lease_stop_in_seconds{of(a)}")
        self.assertGreater(left, 0)
        self.assertLess(left, LONG_TTL)
        self.assertIsNone(server.value(f"tenure_lease_stop_in_seconds{of(b)}"))

        # The process's own, against the kernel's word.
        pid = a.agent_pid()
        self.assertAlmostEqual(server.value_there(f"process_resident_memory_bytes{of(a)}") / 1024,
                               memory_kb(pid, "VmRSS"), delta=4096)
        self.assertGreater(server.value_there(f"process_open_fds{of(a)}"), 3)

        first = server.value_there("max(tenure_election_version)")
        a.kill()
        is_value(f"tenure_election_active{of(b)}", 1)
        is_value(f"up{of(a)}", 0)
        is_value("count(tenure_election_holder_info{holder='b'})", 1)
        self.assertGreater(server.value_there(f"tenure_election_version{of(b)}"), first)
        eventually(lambda: server.value_there(f"increase(tenure_election_transitions_total"
                                              f"{{to='active',instance='{b.instance}'}}[1m])") > 0,
                   "the first activation is an increase")


def memory_kb(pid: int, which: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{which}:\s+(\d+) kB", status, re.M)[1])


if __name__ == "__main__":
    harness.main()
