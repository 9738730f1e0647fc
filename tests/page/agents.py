"""Real agents on one SQLite file, as a user starts them."""
from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from browser import until

_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

# As a browser asks; what decides is text/html with XHTML beside it.
BROWSER_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Agent:
    """`tenure agent`; killed by `close`, if it has not ended."""

    def __init__(self, tenure: str, folder: Path, identity: str, *more: str,
                 listen: str = "127.0.0.1:0", elections: Sequence[str] = ("db",)) -> None:
        settings = [f"store: sqlite\nendpoint: [{folder / 'leases.db'}]\nelections:\n"]
        settings += [f"  - name: {name}\n" for name in elections]
        file = tempfile.NamedTemporaryFile("w", dir=folder, suffix=".yaml", delete=False)
        with file:
            file.writelines(settings)
        self._log = Path(file.name).with_suffix(".log")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TENURE_")}
        environment["TENURE_RUNTIME_DIR"] = "off"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [tenure, "agent", "--config", file.name, "--identity", identity, "--ttl", "5s",
                 "--listen", listen, "--probe-listen", "off", *more],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True, preexec_fn=_die_with_parent)
        self.address = until(self._address, f"{identity} listens")

    def _address(self) -> str:
        log = self._log.read_text(errors="replace")
        if self._process.poll() is not None:
            raise AssertionError(f"the agent has ended:\n{log}")
        found = re.search(r"msg=listening api=(\S+)", log)
        return found[1] if found else ""

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    def has_events(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "v1/events", timeout=30) as answer:
                return answer.headers.get_content_type() == "text/event-stream"
        except urllib.error.HTTPError:
            return False

    def send(self, signo: int) -> None:
        self._process.send_signal(signo)

    def wait(self) -> None:
        self._process.wait()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def page_of(tenure: str) -> tuple[bytes, dict[str, str]]:
    """The page that this program serves, and the headers that belong to it."""
    with tempfile.TemporaryDirectory(prefix="tenure-page-") as folder:
        agent = Agent(tenure, Path(folder), "a")
        try:
            asked = urllib.request.Request(agent.url, headers={"Accept": BROWSER_ACCEPT})
            with urllib.request.urlopen(asked, timeout=30) as answer:
                own = {"Date", "Content-Length", "Connection"}
                return answer.read(), {k: v for k, v in answer.headers.items() if k not in own}
        finally:
            agent.close()
