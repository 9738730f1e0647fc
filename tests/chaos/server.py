"""One process of a store's: started again when it has ended, unless it is to stay down."""
from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from processes import spawn


class Server:
    def __init__(self, words: Callable[[], Sequence[str]], log: Path) -> None:
        self._words = words
        self.log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._is_down = False

    @property
    def name(self) -> str:
        return self.log.stem

    def supervise(self) -> None:
        if not self._is_down and not self.runs():
            self._process = spawn(self._words(), self.log)

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def send(self, signo: int) -> bool:
        if self._process is None or not self.runs():
            return False
        self._process.send_signal(signo)
        return True

    def take_down(self, signo: int) -> bool:
        """It stays down until `let_up`."""
        self._is_down = self.send(signo)
        return self._is_down

    def let_up(self) -> None:
        """Also ends what has not done so yet: with connections open etcd takes 6 s for it."""
        self.send(signal.SIGKILL)
        self._is_down = False
