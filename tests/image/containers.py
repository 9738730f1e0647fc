"""Roots as images have them, and containers in them: without Docker, so that every run of the tests has them."""
import contextlib
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import waiting  # noqa: E402

USER = 65532
MACHINE = platform.machine()
# Debian's musl, unpacked by tests/servers/provide.
MUSL = HERE.parents[1] / "build/servers/musl/package"
MUSL_LIBRARIES = MUSL / f"usr/lib/{MACHINE}-linux-musl"
LOADER = f"lib/ld-musl-{MACHINE}.so.1"
KINDS = ("scratch", "distroless", "musl")


def musl_library():
    """The library, which is its own loader."""
    return next(path for path in MUSL.rglob("libc.so") if path.is_file())


def compile_for_musl(source, program):
    """A C program that is linked dynamically against Debian's musl."""
    subprocess.run(
        ["clang-19", "-O1", "-nostdinc", "-isystem", MUSL / f"usr/include/{MACHINE}-linux-musl",
         "-nostdlib", "-no-pie", "--ld-path=/usr/bin/ld.lld-19", f"-Wl,--dynamic-linker=/{LOADER}", "-o", program,
         *(MUSL_LIBRARIES / name for name in ("crt1.o", "crti.o", "crtn.o")), source,
         "-L", musl_library().parent, "-lc"], check=True)


def compile_trap(into):
    """A shared library that ends the program that loads it."""
    subprocess.run(["clang-19", "-shared", "-fPIC", "-nostdlib", "--ld-path=/usr/bin/ld.lld-19", "-o", into,
                    HERE / "trap.c"], check=True)
    os.chmod(into, 0o755)


class Root:
    """A root file system of one of KINDS, with Tenure at /tenure as in its image."""

    def __init__(self, kind, tenure):
        self.kind = kind
        self.folder = tempfile.TemporaryDirectory()
        # mkdtemp's mode would keep the user out.
        os.chmod(self.folder.name, 0o755)
        self.at = pathlib.Path(self.folder.name) / "root"
        for place in ("proc", "dev", "volume", "etc/ssl/certs"):
            (self.at / place).mkdir(parents=True)
        # A runtime puts these there, whatever the image is.
        for node in ("null", "zero", "full", "random", "urandom"):
            (self.at / "dev" / node).touch()
        self.write("etc/hosts", "127.0.0.1 localhost\n")
        self.write("etc/resolv.conf", "nameserver 127.0.0.1\n")
        self.write("etc/ssl/certs/ca-certificates.crt", "")
        shutil.copy(tenure, self.at / "tenure")
        os.chmod(self.at / "tenure", 0o755)
        if kind == "distroless":
            self.write("etc/passwd", f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n")
            self.write("etc/group", f"root:x:0:\nnonroot:x:{USER}:\n")
            self.write("etc/nsswitch.conf", "hosts: files dns\n")
            (self.at / "tmp").mkdir()
            (self.at / "tmp").chmod(0o1777)
        if kind == "musl":
            (self.at / "lib").mkdir()
            shutil.copy(musl_library(), self.at / LOADER)
            os.chmod(self.at / LOADER, 0o755)
            compile_for_musl(HERE / "worker.c", self.at / "worker")
            os.chmod(self.at / "worker", 0o755)

    def write(self, path, text):
        (self.at / path).write_text(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


class Volume:
    """A directory that every user can write to, as the kubelet makes it; in it `own`, which only USER can enter."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chmod(self.folder.name, 0o755)
        self.at = pathlib.Path(self.folder.name) / "volume"
        self.at.mkdir()
        self.at.chmod(0o777)
        (self.at / "own").mkdir(mode=0o700)
        os.chown(self.at / "own", USER, USER)

    def __enter__(self):
        return self.at

    def __exit__(self, *_):
        self.folder.cleanup()


class Container:
    """A program in a root, as the first process of a PID namespace. Ended, with all its descendants, at the end."""

    def __init__(self, root, volume, *words, **settings):
        self.log = tempfile.NamedTemporaryFile("r")
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", HERE / "enter", root.at, volume or "", str(USER),
                   *(f"{name}={value}" for name, value in settings.items()), *words]
        with open(self.log.name, "w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def until_said(self, pattern):
        """The match of `pattern` in what the program says, once it has said so."""

        def found():
            match = re.search(pattern, self.said())
            if not match and self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode} before {pattern}:\n{self.said()}")
            return match

        try:
            return waiting.until(found, pattern)
        except AssertionError as failure:
            raise AssertionError(f"{failure}\n{self.said()}") from None

    def status(self):
        """The status that the program ends with."""
        try:
            return self.process.wait(waiting.PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError("it does not end:\n" + self.said()) from None

    def first_process(self):
        """The id, outside, of the first process of the container."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def stop(self):
        """What a runtime sends."""
        os.kill(self.first_process(), signal.SIGTERM)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # With the first process, all of its namespace ends. What `unshare --kill-child` asks for, the kernel forgets
        # when that process becomes another user.
        if self.process.poll() is None:
            with contextlib.suppress(IndexError, ProcessLookupError):
                os.kill(self.first_process(), signal.SIGKILL)
            self.process.kill()
        self.process.wait()
        self.log.close()
