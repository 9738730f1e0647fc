"""The marked commands of a page, and a shell to paste them into."""
import ctypes
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 60  # seconds; only a failing test waits so long

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import waiting  # noqa: E402

until = functools.partial(waiting.until, patience=PATIENCE, pause=0.1)


def marked_blocks(text):
    """The commands below each `<!-- test: NAME -->`, by name, in the order of the page."""
    blocks = {}
    for name in re.findall(r"^<!-- test: (\w+) -->$", text, re.M):
        found = re.search(rf"^<!-- test: {name} -->\n\n((?:    .*\n)+)", text, re.M)
        if not found or name in blocks:
            raise AssertionError(f"no block of commands follows the mark {name}, or it is there twice")
        blocks[name] = re.sub(r"^    ", "", found.group(1), flags=re.M)
    return blocks


def marked_steps(text, wanted):
    """The blocks of these names. Ends if the page has them in another order, or lacks one."""
    blocks = marked_blocks(text)
    there = [name for name in blocks if name in wanted]
    if there != wanted:
        sys.exit(f"the page marks {there}; this test knows {wanted}")
    return {name: blocks[name] for name in wanted}


NOBODY = 65534


class Shell:
    """A bash in a directory of its own; only its commands find its agents. `says_where`: its commands say
    themselves in which directory agents leave their sockets, and this is that directory. `user`: of the shell."""

    def __init__(self, binary, says_where=None, user=None):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        (self.at / "build/release").mkdir(parents=True)
        # A copy: another user may not get to where it is.
        shutil.copy(binary, self.at / "build/release/tenure")
        (self.at / "agents").mkdir(mode=0o700)
        self.environment = {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
        if not says_where:
            self.environment["TENURE_RUNTIME_DIR"] = str(self.at / "agents")
        self.asks = {**self.environment, "TENURE_RUNTIME_DIR": str(self.at / (says_where or "agents"))}
        self.user = {}
        if user is not None:
            self.user = {"user": user, "group": user, "extra_groups": []}
            os.chown(self.at, user, user)
        # A process that outlives its parent becomes our child, so that we can find and end it.
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
        self.said = open(self.at / "said", "w+")
        self.process = subprocess.Popen(["bash"], cwd=self.at, env=self.environment, text=True, **self.user,
                                        stdin=subprocess.PIPE, stdout=self.said, stderr=self.said)
        # Makes bash report every command that fails, not only the last one of a block.
        self.pasted = 0
        self.paste("trap 'echo \"status $?: $BASH_COMMAND\"' ERR\n")

    def paste(self, commands):
        """The output of the commands, once the last of them has ended."""
        self.pasted += 1
        begin, end = f"[{self.pasted} begins]\n", f"[{self.pasted} ends]\n"
        self.process.stdin.write(f"echo '{begin[:-1]}'\n{commands}echo '{end[:-1]}'\n")
        self.process.stdin.flush()

        def has_ended():
            if self.process.poll() is not None:
                raise AssertionError("the shell has ended:\n" + self.read())
            return end in self.read()

        until(has_ended, "the commands end")
        return self.read().split(begin)[1].split(end)[0]

    def read(self):
        return (self.at / "said").read_text()

    def ask(self, *words):
        """The output of `tenure` with only the shell's environment."""
        return subprocess.run([self.at / "build/release/tenure", *words], env=self.asks, **self.user,
                              capture_output=True, text=True, timeout=PATIENCE).stdout

    def processes(self):
        """All running processes that the shell has started: command lines by process id."""
        parents, found = {}, {}
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
                parents[int(place.name)] = int(parent)
                if state != "Z":
                    found[int(place.name)] = (place / "cmdline").read_bytes().decode().split("\0")[:-1]
            except OSError:  # it has ended
                continue

        def is_ours(pid):
            while pid in parents and pid != os.getpid():
                pid = parents[pid]
            return pid == os.getpid()

        return {pid: words for pid, words in found.items()
                if is_ours(pid) and pid not in (os.getpid(), self.process.pid)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdin.close()
        # Repeated, because a guard that is killed later may start an agent meanwhile.
        while left := self.processes():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.said.close()
        self.folder.cleanup()
