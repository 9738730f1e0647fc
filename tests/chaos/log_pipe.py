"""What takes the output of a program, as a container runtime does: a pipe, copied into a file."""
from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

# Of a pipe, unless somebody asks for another one.
CAPACITY = 65536
# Fills a pipe, and is not copied. No program here writes it.
FILLER = b"\0"


class LogPipe:
    """For one start of a program. Nothing here waits: whoever has it calls `copy` often."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        self._is_taken = True

    def started(self) -> None:
        """The program has its end now. Once that and all copies of it are closed, this is over."""
        os.close(self.write_end)

    @property
    def is_open(self) -> bool:
        return self._read_end >= 0

    def copy(self) -> bool:
        """Takes what is there, unless it is left alone. True if there may be more."""
        if not self.is_open or not self._is_taken:
            return False
        try:
            text = os.read(self._read_end, CAPACITY)
        except BlockingIOError:
            return False
        if not text:
            self.close()
            return False
        with self._file.open("ab") as file:
            file.write(text.replace(FILLER, b""))
        return True

    def fill(self) -> None:
        """Leaves it alone from now on, without room for another byte."""
        self._is_taken = False
        # By a description of its own: the program's goes on to wait.
        end = os.open(f"/proc/self/fd/{self._read_end}", os.O_WRONLY | os.O_NONBLOCK)
        for size in (CAPACITY, 1):
            with suppress(BlockingIOError):
                while True:
                    os.write(end, FILLER * size)
        os.close(end)

    def go_on(self) -> None:
        self._is_taken = True

    def close(self) -> None:
        """Whoever still writes has no reader any more."""
        if self.is_open:
            os.close(self._read_end)
        self._read_end = -1
