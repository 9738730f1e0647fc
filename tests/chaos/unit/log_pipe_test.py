"""A program's output, whether somebody takes it or not."""
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from log_pipe import CAPACITY, LogPipe

PATIENCE_SECONDS = 20


class Log(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "log"
        self.pipe = LogPipe(self.file)
        self.addCleanup(self.pipe.close)

    def start(self, script: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["sh", "-c", script], stdout=self.pipe.write_end)
        self.pipe.started()
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def copy_all(self) -> str:
        end = time.monotonic() + PATIENCE_SECONDS
        while self.pipe.is_open and time.monotonic() < end:
            self.pipe.copy()
        self.assertFalse(self.pipe.is_open)
        return self.file.read_text()

    def test_is_copied_until_the_program_and_its_children_have_ended(self) -> None:
        self.start("echo one; (sleep 0.1; echo two) &").wait(PATIENCE_SECONDS)
        self.assertEqual(self.copy_all(), "one\ntwo\n")

    def test_without_room_makes_its_writer_wait_and_loses_nothing(self) -> None:
        self.pipe.fill()
        process = self.start("echo one; echo two")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.3)
        self.assertFalse(self.pipe.copy())
        self.assertFalse(self.file.exists())
        self.pipe.go_on()
        self.assertEqual(self.copy_all(), "one\ntwo\n")
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)

    def test_that_is_half_full_keeps_what_was_in_it(self) -> None:
        self.start(f"echo one; head -c {CAPACITY // 2} /dev/zero | tr '\\0' x").wait(PATIENCE_SECONDS)
        self.pipe.fill()
        self.pipe.go_on()
        self.assertEqual(self.copy_all(), "one\n" + "x" * (CAPACITY // 2))

    def test_without_a_reader_ends_who_does_not_mind_sigpipe(self) -> None:
        self.pipe.close()
        self.assertNotEqual(self.start("/bin/echo one").wait(PATIENCE_SECONDS), 0)


if __name__ == "__main__":
    unittest.main()
