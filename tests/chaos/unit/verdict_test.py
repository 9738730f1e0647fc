"""The judge sees what it has to see, and nothing else."""
import unittest

from record import Life
from verdict import Budget, Verdict, absence
from verdict import judge as judge_within

MS = 1_000_000
BUDGET = Budget(grace_ns=20 * MS, kill_ns=30 * MS)


def life(identity: str, version: int, first: int, last: int, stop_at: int = 0) -> Life:
    return Life(identity, version, first * MS, last * MS, stop_at * MS)


def judge(lives: list[Life]) -> Verdict:
    return judge_within(lives, BUDGET)


class Judge(unittest.TestCase):
    def test_terms_one_after_the_other_hold(self) -> None:
        verdict = judge([life("a-1", 1, 0, 10), life("b-1", 2, 11, 20)])
        self.assertTrue(verdict.holds)
        self.assertEqual(verdict.terms, 2)

    def test_an_overlap_is_measured(self) -> None:
        verdict = judge([life("a-1", 1, 0, 10), life("b-1", 2, 7, 20)])
        self.assertFalse(verdict.holds)
        self.assertEqual(verdict.overlap_ns, 3_000_000)

    def test_one_that_outlives_two_others_overlaps_both(self) -> None:
        verdict = judge([life("a-1", 1, 0, 30), life("b-1", 2, 5, 10), life("c-1", 3, 8, 20)])
        self.assertEqual(len(verdict.overlaps), 3)
        self.assertEqual(verdict.overlap_ns, 15_000_000, "no instant counts twice")

    def test_one_that_outlives_its_kill_budget_is_too_late_although_nobody_else_lives(self) -> None:
        in_time = judge([life("a-1", 1, 0, 150, stop_at=100), life("b-1", 2, 900, 950)])
        self.assertTrue(in_time.holds)
        self.assertEqual(in_time.latest_ns, 30 * MS)
        late = judge([life("a-1", 1, 0, 151, stop_at=100), life("b-1", 2, 900, 950)])
        self.assertFalse(late.holds)
        self.assertEqual([o.nanoseconds for o in late.overstays], [MS])

    def test_one_that_ends_before_its_time_says_how_long_before(self) -> None:
        self.assertEqual(judge([life("a-1", 1, 0, 50, stop_at=100)]).latest_ns, -70 * MS)

    def test_one_without_a_page_is_judged_by_overlap_alone(self) -> None:
        verdict = judge([life("a-1", 1, 0, 10_000)])
        self.assertTrue(verdict.holds)
        self.assertIsNone(verdict.latest_ns)

    def test_two_starts_in_one_term_must_not_overlap_either(self) -> None:
        self.assertFalse(judge([life("a-1", 1, 0, 10), life("a-1", 1, 9, 20)]).holds)

    def test_a_term_may_have_several_starts_of_one_member(self) -> None:
        verdict = judge([life("a-1", 1, 0, 10), life("a-1", 1, 11, 20)])
        self.assertTrue(verdict.holds)
        self.assertEqual((verdict.lives, verdict.terms), (2, 1))

    def test_a_version_in_two_hands_is_wrong(self) -> None:
        self.assertFalse(judge([life("a-1", 1, 0, 10), life("b-1", 1, 11, 20)]).holds)
        self.assertFalse(judge([life("a-1", 1, 0, 10), life("a-2", 1, 11, 20)]).holds,
                         "another start of the same member is somebody else")

    def test_a_version_that_falls_is_wrong(self) -> None:
        self.assertFalse(judge([life("a-1", 2, 0, 10), life("b-1", 1, 11, 20)]).holds)

    def test_a_term_that_is_interrupted_by_another_is_wrong(self) -> None:
        verdict = judge([life("a-1", 1, 0, 10), life("b-1", 2, 11, 20), life("a-1", 1, 21, 30)])
        self.assertFalse(verdict.holds)

    def test_time_without_a_holder_counts_restarts_but_a_failover_is_between_terms(self) -> None:
        gone = absence([judge([life("a-1", 1, 0, 10), life("a-1", 1, 12, 20),
                               life("b-1", 2, 26, 30)])])
        self.assertEqual((gone.total, gone.longest, gone.median), (8.0, 6.0, 6.0))

    def test_nobody_at_all_breaks_no_rule_and_shows_no_term(self) -> None:
        self.assertEqual(judge([]).terms, 0)


if __name__ == "__main__":
    unittest.main()
