#!/usr/bin/env python3
"""apt_test.py ROOT: `./dev packages` waits while another apt works, whichever lock that holds, and says so.

Sources, lists, downloads and installed packages are in a folder of the test: the machine's own apt is not disturbed."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

SOURCES = pathlib.Path(sys.argv.pop(1))
PACKAGE = "tenure-of-a-test"
CONTROL = f"""Package: {PACKAGE}
Version: 1
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: nothing
"""


class Machine:
    """What ./dev is made of, and an apt that knows one package of its own; installed is what is so on this machine."""

    def __init__(self, at: pathlib.Path) -> None:
        self.at = at
        for folder in ("lib/apt/lists/partial", "cache/apt/archives/partial", "lib/dpkg/updates", "lib/dpkg/info", "log/apt"):
            (at / "var" / folder).mkdir(parents=True)
        shutil.copy("/var/lib/dpkg/status", at / "var/lib/dpkg/status")
        (at / "package/DEBIAN").mkdir(parents=True)
        (at / "package/DEBIAN/control").write_text(CONTROL)
        archive = at / "archive/package.deb"
        archive.parent.mkdir()
        subprocess.run(["dpkg-deb", "--build", at / "package", archive], check=True, capture_output=True)
        (at / "archive/Packages").write_text(
            f"{CONTROL}Filename: ./package.deb\nSize: {archive.stat().st_size}\n"
            f"SHA256: {hashlib.sha256(archive.read_bytes()).hexdigest()}\n")
        (at / "etc/apt").mkdir(parents=True)
        (at / "etc/apt/sources.list").write_text(f"deb [trusted=yes] copy:{at}/archive ./\n")
        (at / "apt.conf").write_text(
            f'Dir "{at}/";\nDir::State::status "{at}/var/lib/dpkg/status";\nDir::Bin::dpkg "/usr/bin/dpkg";\n'
            f'Dir::Log "{at}/var/log/apt";\nAPT::Sandbox::User "root";\nDPkg::Options {{ "--root={at}"; }};\n')
        (at / "sources/packaging").mkdir(parents=True)
        for name in ("dev", "packaging/apt"):
            shutil.copy(SOURCES / name, at / "sources" / name)

    def installs(self, **settings: str) -> subprocess.Popen[str]:
        words = [self.at / "sources/dev", "packages", PACKAGE]
        if os.getuid() != 0:
            words = ["unshare", "--map-root-user", *words]
        return subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={
            **os.environ, **settings, "APT_CONFIG": str(self.at / "apt.conf"), "DPKG_ADMINDIR": str(self.at / "var/lib/dpkg")})

    def has_it(self) -> bool:
        return f"Package: {PACKAGE}\nStatus: install ok installed" in (self.at / "var/lib/dpkg/status").read_text()


class Apt(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = Machine(pathlib.Path(folder.name))

    def until_it_waits(self, running: subprocess.Popen[str]) -> str:
        """What it has said by then; all, if it ends."""
        said = ""
        limit = threading.Timer(60, running.kill)
        limit.start()
        for line in running.stdout:
            said += line
            if "waiting" in line:
                break
        limit.cancel()
        return said

    def waits(self, lock: str) -> None:
        with open(self.machine.at / "var" / lock, "w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            running = self.machine.installs()
            said = self.until_it_waits(running)
            self.assertIn("another apt is running; waiting for it", said)
            self.assertIn(f"held by process {os.getpid()} ", said)
            self.assertIsNone(running.poll())
            self.assertFalse(self.machine.has_it())
        said = running.communicate(timeout=60)[0]
        self.assertEqual(running.returncode, 0, said)
        self.assertNotIn("waiting", said, "it is said once")
        self.assertTrue(self.machine.has_it())

    def test_for_the_lock_of_the_lists(self):
        self.waits("lib/apt/lists/lock")

    def test_for_the_lock_of_the_downloads(self):
        self.waits("cache/apt/archives/lock")

    def test_for_the_lock_of_dpkgs_frontends(self):
        self.waits("lib/dpkg/lock-frontend")

    def test_for_the_lock_of_dpkg(self):
        self.waits("lib/dpkg/lock")

    def test_also_beside_others_in_the_same_clone(self):
        running = [self.machine.installs() for _ in range(6)]
        for one in running:
            said = one.communicate(timeout=120)[0]
            self.assertEqual(one.returncode, 0, said)
        self.assertTrue(self.machine.has_it())

    def test_and_gives_up_after_a_while(self):
        with open(self.machine.at / "var/lib/dpkg/lock-frontend", "w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            running = self.machine.installs(DEV_APT_WAIT="1")
            said = running.communicate(timeout=60)[0]
        self.assertEqual(running.returncode, 1, said)
        self.assertIn(f"held by process {os.getpid()} ", said)
        self.assertIn("start this again", said)
        self.assertFalse(self.machine.has_it())

    def test_but_for_nothing_where_apt_fails_for_another_reason(self):
        (self.machine.at / "archive/Packages").unlink()
        running = self.machine.installs()
        said = running.communicate(timeout=60)[0]
        self.assertEqual(running.returncode, 1, said)
        self.assertIn("apt-get failed", said)


unittest.main(verbosity=2)
