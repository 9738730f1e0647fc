#!/usr/bin/env python3
"""results_test.py ROOT: tests/results.py tells what failed, and no way in which a test is skipped escapes it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RESULTS = pathlib.Path(sys.argv.pop(1)) / "tests" / "results.py"


def case(name: str, status: str, said: str, inside: str = "", seconds: float = 0.5) -> str:
    return (f'<testcase name="{name}" status="{status}" time="{seconds}">{inside}'
            f'<system-out>{said}</system-out></testcase>')


PASSED = case("Election.Works", "run", "[  PASSED  ] 1 test.")
OF_GOOGLETEST = case("Etcd.Answers", "notrun", "a_test.cpp:7: Skipped\nthere is no etcd\n",
                     '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>')
OF_CTEST = case("Metrics.AreSeen", "notrun", "there is no Prometheus", '<skipped message="SKIP_RETURN_CODE=77"/>')
FAILED = case("shell.fresh_seeds", "fail", "a line\n" * 50 + "seed 42 broke overlap\n", '<failure message=""/>')
SILENT = case("Etcd.Hangs", "fail", "", '<failure message="Timeout"/>')
REPEATED = case("Exec.Kills", "run", "a line\napart: ended with 1, but the machine stood still for 300 ms: once more\nmore\n")
WITHIN_A_PASSED_ONE = case("Metrics.Alerts", "run",
                           "test_slept (__main__.Alerts.test_slept) ... skipped 'static'\nOK (skipped=1)")


class Results(unittest.TestCase):
    def test_what_was_run_twice_is_counted_and_named(self):
        said = self.judge([PASSED, REPEATED]).stdout
        self.assertIn("repeated since the machine stood still: 1\n", said)
        self.assertIn("repeated: Exec.Kills: apart: ended with 1, but the machine stood still for 300 ms: once more\n", said)

    def judge(self, cases: list[str], allowed: str = "") -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            results, listed = pathlib.Path(folder, "tests.xml"), pathlib.Path(folder, "skips.txt")
            results.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
            listed.write_text(allowed)
            return subprocess.run([sys.executable, RESULTS, results, listed], capture_output=True, text=True)

    def test_each_kind_fails_and_is_named_with_its_reason(self):
        for skipped, words in ((OF_GOOGLETEST, "Etcd.Answers: there is no etcd"),
                               (OF_CTEST, "Metrics.AreSeen: there is no Prometheus"),
                               (WITHIN_A_PASSED_ONE, "Metrics.Alerts.test_slept: static")):
            judged = self.judge([PASSED, skipped])
            self.assertEqual(judged.returncode, 1)
            self.assertIn(words, judged.stdout)

    def test_nothing_skipped_passes(self):
        self.assertEqual(self.judge([PASSED]).returncode, 0)

    def test_what_is_listed_passes_and_nothing_else(self):
        listed = "# a comment\nEtcd\\..* no etcd on this architecture\n"
        self.assertEqual(self.judge([OF_GOOGLETEST], listed).returncode, 0)
        self.assertEqual(self.judge([OF_GOOGLETEST, OF_CTEST], listed).returncode, 1)

    def test_what_a_failed_test_said_last_is_told(self):
        told = self.judge([PASSED, FAILED, SILENT])
        self.assertEqual(told.returncode, 0, "ctest fails the run")
        self.assertIn("failed: shell.fresh_seeds", told.stdout)
        self.assertIn("seed 42 broke overlap", told.stdout)
        self.assertLess(told.stdout.count("a line"), 40)
        self.assertIn("failed: Etcd.Hangs\n    Timeout", told.stdout)
        self.assertNotIn("Election.Works", told.stdout.partition("failed: ")[2])

    def test_of_tests_in_one_process_each_that_failed_is_told(self):
        def one(name: str, said: str, end: str) -> str:
            return f"[ RUN      ] {name}\n{said}\n[  {end} ] {name} (0 ms)\n"
        shared = (one("Text.IsRead", "a line", "     OK") + one("Text.IsCut", "cut_test.cpp:7: Failure", "FAILED ") +
                  one("Word.IsSaid/1, where GetParam() = 4", "word_test.cpp:9: Failure", "FAILED ") +
                  "[  PASSED  ] 1 test.\n" + "a line\n" * 50)
        told = self.judge([case("base_tests.1", "fail", shared, '<failure message=""/>')]).stdout
        self.assertIn("failed: base_tests.1: Text.IsCut\n    [ RUN      ] Text.IsCut\n    cut_test.cpp:7: Failure", told)
        self.assertNotIn("Text.IsRead", told)

    def test_what_a_sanitizer_said_is_told_from_its_first_line(self):
        said = "[ RUN      ] Text.IsRead\n==7==ERROR: AddressSanitizer: heap-use-after-free\n" + "a frame\n" * 90
        told = self.judge([case("base_tests.1", "fail", said, '<failure message=""/>')]).stdout
        self.assertIn("failed: base_tests.1\n    ==7==ERROR: AddressSanitizer: heap-use-after-free\n    a frame", told)

    def test_where_the_time_went_is_told_by_class_and_by_test(self):
        told = self.judge([case("Servers/EtcdLine.IsKept/debian", "run", "", seconds=3),
                           case("Servers/EtcdLine.IsKept/today", "run", "", seconds=4.25),
                           case("shell.kubernetes.mutant.a", "run", "", seconds=1), PASSED])
        self.assertIn("time: 9 s in 4 tests", told.stdout)
        self.assertIn("7.2 s  EtcdLine (2)", told.stdout)
        self.assertIn("1.0 s  shell.kubernetes (1)", told.stdout)
        self.assertIn("4.2 s  Servers/EtcdLine.IsKept/today", told.stdout)

    def test_many_failures_are_counted(self):
        self.assertIn("failed: 2 more", self.judge([FAILED] * 12).stdout)

    def test_pattern_without_a_reason_is_refused(self):
        self.assertEqual(self.judge([OF_GOOGLETEST], "Etcd\\..*\n").returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
