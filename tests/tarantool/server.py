"""A Tarantool of a test's own, with docker/tarantool as it ships, in a temporary directory."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import iproto

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import waiting  # noqa: E402

SHIPPED = ROOT / "docker/tarantool"
PASSWORD = "correct horse"
PATIENCE = float(os.environ.get("TENURE_TEST_PATIENCE", 120))  # seconds; only a failing test waits so long


def until(condition, what):
    return waiting.until(condition, what, patience=PATIENCE)


class Unavailable(Exception):
    """Nothing that could be tested is there. The test fails."""


def program() -> str:
    """TENURE_TARANTOOL names another one than the one in PATH."""
    found = shutil.which(os.environ.get("TENURE_TARANTOOL", "tarantool"))
    if found is None:
        raise Unavailable("no tarantool here: install Debian's package `tarantool`, or name one by TENURE_TARANTOOL")
    return found


def ignore_large_files():
    """A write beyond the limit of `full_disk` is an error then, as on a full disk, and not a signal that kills."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class Server:
    """`script`: another one than init.lua, beside tenure.lua. TENURE_LUA_TEXT is a tenure.lua with a mistake. Without
    `serves` it need not lead."""

    def __init__(self, script: str | None = None, serves: bool = True):
        self.serves = serves
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tenure-tarantool-"))
        self.password = PASSWORD
        self.socket = str(self.directory / "socket")
        (self.directory / "password").write_text(PASSWORD + "\n")
        text = os.environ.get("TENURE_LUA_TEXT") or (SHIPPED / "tenure.lua").read_text()
        (self.directory / "tenure.lua").write_text(text)
        (self.directory / "init.lua").write_text(script or (SHIPPED / "init.lua").read_text())
        self.process = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        """Comes back when the server serves, or says why it does not."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TENURE_")}
        environment |= {"TENURE_LISTEN": self.socket, "TENURE_TARANTOOL_DIR": str(self.directory / "data"),
                        "TENURE_PASSWORD_FILE": str(self.directory / "password")}
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([program(), str(self.directory / "init.lua")], env=environment, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL, preexec_fn=ignore_large_files)
        try:
            until(lambda: self.answers() or self.process.poll() is not None, "the server answers")
        except AssertionError as failed:
            raise AssertionError(f"{failed}; its log:\n{self.log()}") from None
        assert self.process.poll() is None, f"the server has ended by itself:\n{self.log()}"

    def answers(self) -> bool:
        try:
            with self.connect() as connection:
                described = connection.call("tenure.describe")
                return described["serves"] or not self.serves or any(one["fatal"] for one in described["missing"])
        except (OSError, iproto.ServerError):
            return False

    def log(self) -> str:
        return (self.directory / "log").read_text(errors="replace")[-4000:]

    def connect(self) -> iproto.Connection:
        return iproto.Connection(self.socket, "tenure", self.password, PATIENCE)

    def kill(self):
        """What it has answered is in its log of writes; nothing else is left."""
        self.process.kill()
        self.process.wait()
        pathlib.Path(self.socket).unlink(missing_ok=True)

    def stop_for_now(self):
        """Comes back when it is stopped."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def full_disk(self, is_full: bool):
        """No write of a file succeeds any more, or all do again."""
        most = 0 if is_full else resource.RLIM_INFINITY
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.go_on()
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class Member(iproto.Connection):
    """A run of an agent, on a connection of its own: what it asks for is asked in the name of its session."""

    count = 0

    def __init__(self, server: Server, owner: str, ttl: float = 600, session: str | None = None):
        super().__init__(server.socket, "tenure", PASSWORD, PATIENCE)
        Member.count += 1
        self.owner, self.ttl, self.session = owner, ttl, session or f"{owner}-{os.getpid()}-{Member.count}"
        self.number, self.documents = 0, {}
        try:
            self.open()
        except BaseException:
            self.close()
            raise

    def open(self):
        answer = self.call("tenure.open", self.session, self.owner, int(self.ttl * 1000))
        assert "error" not in answer, answer
        return answer

    def acquire(self, name, slots=1, above=0):
        return self.call("tenure.acquire", self.session, name, slots, above)

    def held(self, name, slots=1, above=0):
        """Acquires it; it has to be granted."""
        answer = self.acquire(name, slots, above)
        assert "token" in answer, answer
        return answer

    def held_all(self, names):
        """Acquires all of them, many requests at a time: what to renew them with."""
        asked = [(name, self.begin("tenure.acquire", self.session, name, 1, 0)) for name in names]
        items = []
        for name, sync in asked:
            items += [name, self.receive(sync)[0].get("token", 0)]
        return items

    def renew(self, *items):
        return self.call("tenure.renew", self.session, list(items))

    def release(self, name, token, clean=True, successor="", record=""):
        return self.call("tenure.release", self.session, name, token, clean, successor, record)

    def follow(self, *names):
        return self.call("tenure.follow", list(names))

    def reserve(self, *names, wanted=True):
        return self.call("tenure.reserve", self.session, list(names), wanted)

    def put(self, *items):
        answer = self.call("tenure.put", self.session, list(items))
        return answer.get("results", answer)

    def poll(self, wait=0.0):
        """What has changed since the last poll, each election with all of its documents."""
        answer = self.call("tenure.poll", self.number, int(wait * 1000))
        if "error" not in answer:
            self.number = answer["number"]
            for shown in answer["elections"]:
                shown["documents"] = self.all_documents(shown)
        return answer

    def all_documents(self, shown):
        known = self.documents.setdefault(shown["name"], {})
        if "gone" not in shown:
            known.clear()
        for one in shown.get("gone", []):
            known.pop((one["kind"], one["key"]), None)
        for one in shown["documents"]:
            known[one["kind"], one["key"]] = one
        return sorted(known.values(), key=lambda one: one["version"])

    def look(self, name):
        """The election as the store has it now."""
        return self.call("tenure.read", [name])["elections"][0]

    def sees(self, condition, what):
        """Polls until one of the elections that are shown satisfies this; that one."""
        def tried():
            for shown in self.poll(wait=5)["elections"]:
                if condition(shown):
                    return shown
            return None
        return until(tried, what)
