#!/usr/bin/env python3
"""apart_test.py APART: what a test on a machine of its own sees and leaves behind, and when it is run once more."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

APART = pathlib.Path(sys.argv.pop(1)).resolve()


class Apart(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def run_in(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([APART, "sh", "-c", script], cwd=self.at, capture_output=True, text=True)

    def test_it_sees_its_own_processes_loopback_and_run_alone(self):
        seen = self.run_in("echo /proc/[0-9]* && ls /run && grep -c : /proc/net/dev && cat /sys/class/net/lo/operstate")
        self.assertEqual(seen.stdout.split()[:2], ["/proc/1", "/proc/2"])
        self.assertEqual(len([word for word in seen.stdout.split() if word.startswith("/proc/")]), 2)
        self.assertEqual(seen.stdout.splitlines()[1:2], ["1"], seen.stdout)

    def test_its_status_is_passed_on(self):
        self.assertEqual(self.run_in("exit 7").returncode, 7)
        self.assertEqual(self.run_in("kill -9 $$").returncode, 128 + signal.SIGKILL)
        self.assertEqual(subprocess.run([APART, "/nonesuch"], capture_output=True).returncode, 125)

    def test_what_it_leaves_behind_ends_with_it(self):
        self.run_in("(while :; do echo >>ticks; sleep 0.05; done) & sleep 0.2")
        ticks = (self.at / "ticks").read_text()
        self.assertTrue(ticks)
        time.sleep(0.3)
        self.assertEqual((self.at / "ticks").read_text(), ticks)

    def test_a_failure_counts_the_first_time(self):
        self.assertEqual(self.run_in("echo >>runs; sleep 0.3; exit 3").returncode, 3)
        self.assertEqual((self.at / "runs").read_text(), "\n")

    def test_what_fails_while_the_machine_stood_still_is_run_once_more(self):
        with subprocess.Popen([APART, "sh", "-c", "echo >>runs; test -e again || { touch again; sleep 1; exit 3; }"],
                              cwd=self.at, stdout=subprocess.PIPE, text=True) as one:
            while not (self.at / "again").exists():
                time.sleep(0.01)
            witness = int(pathlib.Path(f"/proc/{one.pid}/task/{one.pid}/children").read_text())
            # Of the test only the witness is stopped: to it, that is a machine that stands still.
            subprocess.run(["kill", "-STOP", str(witness)], check=True)
            time.sleep(0.6)
            subprocess.run(["kill", "-CONT", str(witness)], check=True)
            said = one.stdout.read()
        self.assertEqual(one.returncode, 0)
        self.assertEqual((self.at / "runs").read_text(), "\n\n")
        self.assertRegex(said, r"apart: ended with 3, but the machine stood still for \d+ ms: once more")


if __name__ == "__main__":
    unittest.main()
