"""What is read from the workloads' files."""
import struct
import tempfile
import unittest
from pathlib import Path

import record

FRESH_NS = 100


def page(folder: Path, name: str, version: int, first: int, last: int, stop_at: int = 0) -> None:
    (folder / f"{name}.run").write_bytes(struct.pack("=Qqqq", version, first, last, stop_at))


class Record(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_processes_of_one_start_are_one_life(self) -> None:
        page(self.folder, "a-1.5.1000.1000", 5, 1000, 2000)
        page(self.folder, "a-1.5.1000.1100", 5, 1100, 3000)
        self.assertEqual(record.read(self.folder), [record.Life("a-1", 5, 1000, 3000)])

    def test_a_life_may_last_until_the_latest_instant_that_any_of_it_was_told(self) -> None:
        page(self.folder, "a-1.5.1000.1000", 5, 1000, 2000, 7000)
        page(self.folder, "a-1.5.1000.1100", 5, 1100, 3000, 9000)
        self.assertEqual(record.read(self.folder)[0].stop_at, 9000)

    def test_two_starts_in_one_term_are_two_lives(self) -> None:
        page(self.folder, "a-1.5.1000.1000", 5, 1000, 2000)
        page(self.folder, "a-1.5.2500.2500", 5, 2500, 3000)
        self.assertEqual(len(record.read(self.folder)), 2)

    def test_a_page_without_a_stamp_is_no_life(self) -> None:
        page(self.folder, "a-1.5.1000.1000", 5, 0, 0)
        (self.folder / "b-1.6.2000.2000.run").write_bytes(b"")
        self.assertEqual(record.read(self.folder), [])

    def test_the_holder_is_who_has_just_stamped(self) -> None:
        page(self.folder, "a-1.5.1000.1000", 5, 1000, 2000)
        self.assertIsNone(record.holder(self.folder, 2000 + FRESH_NS + 1, FRESH_NS))
        page(self.folder, "c-2.6.3000.3000", 6, 3000, 4000)
        found = record.holder(self.folder, 4000 + FRESH_NS, FRESH_NS)
        self.assertIsNotNone(found)
        assert found is not None
        self.assertEqual(found.member, "c")


if __name__ == "__main__":
    unittest.main()
