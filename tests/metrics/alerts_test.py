#!/usr/bin/env python3
"""Each alert fires when what it warns of happens to real agents."""
import itertools
import os
import shutil
import signal
import unittest.mock
from pathlib import Path

import faults
import harness
import processes
import rules
from harness import Agent, Prometheus, Scene, eventually, promtool

# Long enough for two tries that time out, and for a lock that is held in between.
SLOW_TTL = "6s"
# Holders that come and go: the rule allows so many, and so many are enough in any case.
ALLOWED_TERMS = 4
MOST_TERMS = 20
STOP_IN = 'tenure_lease_stop_in_seconds{election="db"}'


def shown(one: Agent, series: str) -> float:
    """As its own page has it; 0 if it has not."""
    for line in one.page().splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


class Rules(Scene):
    def test_are_valid(self):
        self.assertIn("SUCCESS", promtool("check", "rules", str(rules.FILE)))
        config = rules.FILE.parent / "prometheus.yml"
        self.assertIn("SUCCESS", promtool("check", "config", str(config)))

    def test_fire_and_keep_silent_by_their_units(self):
        rules.bare(self.folder / "rules.yml")
        units = self.folder / "rules_unit.yml"
        units.write_text((harness.ROOT / "tests/metrics/rules_unit.yml").read_text())
        self.assertIn("SUCCESS", promtool("test", "rules", str(units)))

    def test_say_what_happened_and_what_to_do(self):
        for rule in rules.all_rules():
            with self.subTest(rule["alert"]):
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "action"})
                self.assertIn(rule["labels"]["severity"], {"warning", "critical"})

    def test_each_has_a_unit_and_a_fault(self):
        units = (harness.ROOT / "tests/metrics/rules_unit.yml").read_text()
        made_to_fire = {name.removeprefix("test_") for name in dir(Alerts)}
        for name in rules.names():
            with self.subTest(name):
                self.assertIn(f"alertname: {name}", units)
                self.assertIn(name, made_to_fire)


class Alerts(Scene):
    def watched(self, *names: str) -> Prometheus:
        server = self.prometheus(*names, rules=rules.impatient(self.folder / "rules.yml"))
        eventually(lambda: server.value("count(up)") == len(names), "all targets are known")
        return server

    def fires(self, server: Prometheus, name: str, **labels: str) -> None:
        def found() -> bool:
            return any(labels.items() <= one["labels"].items()
                       for one in server.alerts().get(name, []))
        eventually(found, lambda: f"{name} fires for {labels}; there are {server.alerts()}")

    def is_silent(self, server: Prometheus, name: str) -> None:
        self.assertNotIn(name, server.alerts())

    def test_TenureNoHolder(self):
        holder = self.active(self.member("holder"))
        self.agent("observer", "agent", "--observe")
        server = self.watched("holder", "observer")
        eventually(lambda: server.value("sum(tenure_election_active)") == 1, "there is a holder")
        self.is_silent(server, "TenureNoHolder")
        holder.kill()
        self.fires(server, "TenureNoHolder", election="db")

    def test_TenureHolderFlaps(self):
        self.agent("observer", "agent", "--observe")
        server = self.watched("observer")
        version = f"tenure_election_version{{instance='{self.instance('observer')}'}}"
        # A new holder again and again, until it is noticed: Prometheus needs as many as the rule names
        # after its first look, and misses what comes and goes between two looks.
        for term in itertools.count(1):
            holder = self.active(self.member(f"holder-{term}"))
            eventually(lambda: server.value(version) == term, f"Prometheus has seen term {term}")
            holder.send(signal.SIGTERM)
            holder.wait()
            if term == ALLOWED_TERMS:
                self.is_silent(server, "TenureHolderFlaps")
            if "TenureHolderFlaps" in server.alerts():
                break
            self.assertLess(term, MOST_TERMS, f"it never fired; there are {server.alerts()}")
        self.fires(server, "TenureHolderFlaps", election="db")

    def test_TenureTooManyActive(self):
        exporter = faults.FakeExporter(self.port("fake"))
        self.addCleanup(exporter.close)
        self.fires(self.watched("fake"), "TenureTooManyActive", election="db")

    def test_TenureTrafficAstray(self):
        exporter = faults.FakeExporter(self.port("fake"), faults.FakeExporter.ASTRAY)
        self.addCleanup(exporter.close)
        self.fires(self.watched("fake"), "TenureTrafficAstray", instance=self.instance("fake"))

    def test_TenureVersionWentBack(self):
        server = self.watched("late")
        for term in (1, 2):
            last = self.active(self.member("late"))
            eventually(lambda: server.value("tenure_election_version") == term,
                       f"Prometheus has seen term {term}")
            last.kill()
        # All members are gone, and so are the file and what they have written beside it: nobody is
        # left who knows.
        for one in self.folder.glob("leases.db*"):
            shutil.rmtree(one) if one.is_dir() else one.unlink()
        self.active(self.member("late"))
        self.fires(server, "TenureVersionWentBack", election="db")

    def test_TenureRenewalMarginSmall(self):
        late = self.active(self.member("late", ttl=SLOW_TTL))
        server = self.watched("late")
        window = shown(late, "tenure_lease_renewal_window_seconds")
        for _ in range(2):
            renewals = shown(late, "tenure_lease_renewal_margin_seconds_count")
            with faults.FileLock(self.folder / "leases.db"):
                eventually(lambda: shown(late, STOP_IN) < window / 8, "it is nearly late")
            eventually(lambda: shown(late, "tenure_lease_renewal_margin_seconds_count")
                       > renewals, "its renewal was acknowledged after all")
        self.assertTrue(late.is_active())
        self.fires(server, "TenureRenewalMarginSmall", instance=late.instance)

    def test_TenureStoreUnreachable(self):
        self.store_hangs("TenureStoreUnreachable")

    def test_TenureStoreOutcomesUnknown(self):
        self.store_hangs("TenureStoreOutcomesUnknown")

    def store_hangs(self, alert: str) -> None:
        one = self.active(self.member("one"))
        server = self.watched("one")
        eventually(lambda: server.value("tenure_store_up") == 1, "its store answers")
        self.is_silent(server, alert)
        with faults.FileLock(self.folder / "leases.db"):
            self.fires(server, alert, instance=one.instance)

    def test_TenureAgentDown(self):
        one = self.member("one")
        server = self.watched("one")
        eventually(lambda: server.value("up") == 1, "it is up")
        one.kill()
        self.fires(server, "TenureAgentDown", instance=one.instance)

    def test_TenureLoopHangs(self):
        one = self.agent("one", "agent")
        server = self.watched("one")
        faults.stop_one_thread(one.pid)  # the election loop's, which is the first
        self.fires(server, "TenureLoopHangs", instance=one.instance)
        self.assertEqual(server.value("up"), 1, "it answers all the same")

    def test_TenureLoopStarved(self):
        one = self.agent("one", "agent")
        server = self.watched("one")
        eventually(lambda: server.value("tenure_loop_delays_total") == 0, "all is well")
        one.send(signal.SIGSTOP)
        begin = processes.boot_ns()
        # It turns every 3 s, and a second more is late.
        eventually(lambda: processes.boot_ns() - begin > 5_000_000_000, "it was stopped for 5 s")
        one.send(signal.SIGCONT)
        self.fires(server, "TenureLoopStarved", instance=one.instance)

    def guarded(self) -> tuple[harness.Program, Agent]:
        """A guard with its agent, as in two containers."""
        place = self.folder / "guard"
        place.mkdir()
        guard = harness.Program([harness.TENURE, "guard", "--dir", str(place), "--", "sleep",
                                 "1000"], self.folder / "guard.log")
        self.addCleanup(guard.kill)
        return guard, self.active(self.agent("one", "agent", "--guard-dir", str(place)))

    def test_TenureGuardDown(self):
        guard, agent = self.guarded()
        server = self.watched("one")
        eventually(lambda: server.value("tenure_guard_up") == 1, "the guard is up")
        guard.kill()
        self.fires(server, "TenureGuardDown", instance=agent.instance)

    def test_TenureGuardHung(self):
        guard, agent = self.guarded()
        server = self.watched("one")
        eventually(lambda: server.value("tenure_guard_hangs_total") == 0, "the guard answers")
        guard.send(signal.SIGSTOP)
        self.fires(server, "TenureGuardHung", instance=agent.instance)

    def test_TenureWorkloadUnhealthy(self):
        well = self.folder / "well"
        well.touch()
        one = self.active(self.member("one", "--health-file", str(well), "--health-interval",
                                      "100ms", "--health-timeout", "50ms"))
        server = self.watched("one")
        eventually(lambda: server.value("tenure_workload_health{state='healthy'}") == 1,
                   "it is well")
        self.is_silent(server, "TenureWorkloadUnhealthy")
        well.unlink()
        self.fires(server, "TenureWorkloadUnhealthy", instance=one.instance)

    def test_TenureClockSlept(self):
        slept = self.folder / "slept"
        library = faults.build_sleeper(self.folder, os.environ.get("CC", "clang-19"))
        os.environ.update(LD_PRELOAD=str(library), SLEPT_FILE=str(slept))
        try:
            # The binary that ships is static: nothing can be put before its clock.
            with unittest.mock.patch.object(harness, "TENURE", os.environ["TENURE_DYNAMIC"]):
                one = self.agent("one", "agent")
        finally:
            del os.environ["LD_PRELOAD"], os.environ["SLEPT_FILE"]
        self.assertIn(str(library), Path(f"/proc/{one.pid}/maps").read_text())
        server = self.watched("one")
        eventually(lambda: server.value("tenure_clock_sleeps_total") == 0, "it was awake")
        slept.write_text("500000000")
        self.fires(server, "TenureClockSlept", instance=one.instance)


if __name__ == "__main__":
    harness.main()
