#!/usr/bin/env python3
"""image_test.py --tenure TENURE [TEST]...: the binary that ships, in roots as other images have them (docs/image.md)."""
import argparse
import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from containers import KINDS, LOADER, MUSL, USER, Container, Root, Volume, compile_trap
from names import NameServer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import waiting  # noqa: E402
from ports import free_port  # noqa: E402

ETCD = pathlib.Path(__file__).resolve().parents[2] / "build/servers/etcd-debian/etcd"
CLONE_NEWNET = 0x40000000
tenure = ""


def own_network():
    """Only the loopback interface, and port 53 free."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWNET)")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Certificates:
    """A CA, and a server's certificate from it."""

    def __init__(self, folder, names):
        self.authority, self.certificate, self.key = (folder / name for name in ("ca.pem", "server.pem", "server.key"))
        of_authority = folder / "ca.key"
        names = ",".join("DNS:" + name for name in names)
        self.openssl("req", "-x509", "-subj", "/CN=CA of the tests", "-days", "2", "-keyout", of_authority,
                     "-out", self.authority, "-addext", "keyUsage=critical,keyCertSign")
        self.openssl("req", "-x509", "-subj", "/CN=server", "-days", "2", "-keyout", self.key,
                     "-out", self.certificate, "-CA", self.authority, "-CAkey", of_authority,
                     "-addext", "subjectAltName=" + names, "-addext", "basicConstraints=critical,CA:FALSE")

    @staticmethod
    def openssl(*words):
        subprocess.run(["openssl", *words, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
                       check=True, capture_output=True)


@contextlib.contextmanager
def etcd_with_tls(names):
    """A server with a certificate for these names: its port, and the file of its CA."""
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        made = Certificates(folder, names)
        client, peer = free_port(), free_port()
        with open(folder / "log", "w") as log:
            server = subprocess.Popen(
                [ETCD, "--data-dir", folder / "data", "--listen-client-urls", f"https://127.0.0.1:{client}",
                 "--advertise-client-urls", f"https://127.0.0.1:{client}", "--cert-file", made.certificate,
                 "--key-file", made.key, "--listen-peer-urls", f"http://127.0.0.1:{peer}"], stdout=log, stderr=log)
        try:
            yield client, made.authority
        finally:
            server.kill()
            server.wait()


class InEveryRoot(unittest.TestCase):
    """Each test is done in each kind of root, with a volume."""

    def in_each(self, test):
        for kind in KINDS:
            with self.subTest(kind), Root(kind, tenure) as root, Volume() as volume:
                test(root, volume)

    def test_it_starts(self):
        version = subprocess.run([tenure, "version"], capture_output=True, text=True, check=True).stdout

        def test(root, volume):
            with Container(root, volume, "/tenure", "version") as run:
                self.assertEqual(run.status(), 0, run.said())
                self.assertEqual(run.said(), version)

        self.in_each(test)

    def test_it_holds_a_lease_and_runs_a_command(self):
        def test(root, volume):
            with Container(root, volume, "/tenure", "exec", "--store", "sqlite", "--endpoint", "/volume/own/leases.db",
                           "--election", "db", "--identity", "a", "--", "/tenure", "version") as run:
                self.assertEqual(run.status(), 0, run.said())
                self.assertRegex(run.said(), r"(?m)^tenure \d")
                self.assertIn("active under version 1", run.said())

        self.in_each(test)

    def test_it_finds_names(self):
        """In the hosts file, which the name server need not know; at the name server; by the search list."""
        server = NameServer({"by-server.test", "short.pods.test"})
        self.addCleanup(server.close)
        port = free_port()
        names = ("localhost", "by-hosts.test", "by-server.test", "short")
        allowed = [word for name in names for word in ("--allowed-host", name)]

        def test(root, volume):
            root.write("etc/hosts", "127.0.0.1 localhost by-hosts.test\n")
            # As the kubelet writes it.
            root.write("etc/resolv.conf", "search pods.test\nnameserver 127.0.0.1\noptions ndots:5\n")
            for name in names:
                with Container(root, volume, "/tenure", "status", "--api", f"http://{name}:{port}") as ask:
                    self.assertEqual(ask.status(), 0, f"{name}: {ask.said()}")
                    self.assertRegex(ask.said(), r"(?m)^db .* active ")
            self.assertIn("short.pods.test", server.asked)
            self.assertNotIn("by-hosts.test", server.asked, "the hosts file comes first")
            with Container(root, volume, "/tenure", "status", "--api", f"http://nowhere.test:{port}") as ask:
                self.assertEqual(ask.status(), 5, ask.said())
                self.assertIn("Name or service not known", ask.said())
            # As on a desktop: services whose plug-ins are not in this root.
            root.write("etc/nsswitch.conf", "hosts: files mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns\n")
            with Container(root, volume, "/tenure", "status", "--api", f"http://by-server.test:{port}") as ask:
                self.assertEqual(ask.status(), 0, ask.said())

        with Root("scratch", tenure) as root, Volume() as volume, \
                Container(root, volume, "/tenure", "agent", "--store", "sqlite", "--endpoint", "/volume/own/leases.db",
                          "--election", "db", "--listen", f"127.0.0.1:{port}", "--probe-listen", "off",
                          *allowed) as agent:
            agent.until_said("active under version")
            self.in_each(test)

    def test_it_loads_no_code_of_the_root(self):
        """Plug-ins of the C library and of OpenSSL are made for others: loading them would end the agent."""
        server = NameServer({"by-server.test"})
        self.addCleanup(server.close)

        def test(root, volume):
            libraries = root.at / "usr/lib"
            (libraries / "ssl").mkdir(parents=True)
            compile_trap(libraries / "libnss_planted.so.2")
            root.write("etc/nsswitch.conf", "passwd: planted\nhosts: planted dns\n")
            root.write("usr/lib/ssl/openssl.cnf", "openssl_conf = begin\n[begin]\nproviders = all\n[all]\n"
                       "planted = planted\n[planted]\nmodule = /usr/lib/libnss_planted.so.2\nactivate = 1\n")
            with Container(root, volume, "/tenure", "status", "--api", "http://by-server.test:9") as ask:
                self.assertEqual(ask.status(), 5, ask.said())
                self.assertIn("ECONNREFUSED", ask.said())
            with Container(root, volume, "/tenure", "agent", "--store", "etcd", "--endpoint", "https://127.0.0.1:9",
                           "--election", "db") as agent:
                agent.until_said("ECONNREFUSED")

        self.in_each(test)

    def test_it_trusts_the_authorities_of_the_root(self):
        """etcd by a name and TLS, with no other file than those of the root, and nothing to write to."""
        name = "etcd-0.etcd"
        if not ETCD.exists():
            self.skipTest("etcd is not installed; tests/servers/provide debian")
        with etcd_with_tls([name]) as (port, authority):

            def test(root, _):
                root.write("etc/hosts", f"127.0.0.1 localhost {name}\n")
                words = ("/tenure", "agent", "--store", "etcd", "--endpoint", f"https://{name}:{port}",
                         "--election", root.kind, "--identity", "a")
                with Container(root, None, *words) as agent:
                    agent.until_said("the certificate is from an unknown CA")
                root.write("etc/ssl/certs/ca-certificates.crt", authority.read_text())
                with Container(root, None, *words) as agent:
                    agent.until_said("active under version")
                    agent.stop()
                    self.assertEqual(agent.status(), 0, agent.said())

            self.in_each(test)


class Pod(unittest.TestCase):
    def test_its_main_container_has_another_c_library(self):
        """An init container copies the binary; the main container's guard and the sidecar's agent share a volume."""
        with Root("scratch", tenure) as image, Root("musl", tenure) as main, Volume() as volume:
            (main.at / "tenure").unlink()
            with Container(main, volume, "/" + LOADER) as loader:
                self.assertEqual(loader.status(), 1)
                self.assertRegex(loader.said(), r"^musl libc")
            with Container(image, volume, "/tenure", "install", "/volume") as init:
                self.assertEqual(init.status(), 0, init.said())
            copy = volume / "tenure"
            self.assertEqual(copy.stat().st_mode & 0o7777, 0o755)
            self.assertEqual((copy.stat().st_uid, copy.stat().st_gid), (USER, USER))
            with Container(main, volume, "/volume/tenure", "guard", "--dir", "/volume/own", "--", "/worker") as guard, \
                    Container(image, volume, "/tenure", "agent", "--guard-dir", "/volume/own", "--store", "sqlite",
                              "--endpoint", "/volume/own/leases.db", "--election", "db", "--identity", "a") as agent:
                guard.until_said(r"worker of a, version 1\n")
                agent.stop()
                guard.stop()
                self.assertEqual(agent.status(), 0, agent.said())
                self.assertEqual(guard.status(), 128 + signal.SIGTERM, "the status of its worker")


class Demo(unittest.TestCase):
    def test_it_runs_in_an_empty_root(self):
        with Root("scratch", tenure) as root, Volume() as volume, \
                Container(root, volume, "/tenure", "demo", TMPDIR="/volume/own") as demo:
            self.assertEqual(demo.process.wait(100), 0, demo.said())
            self.assertIn("at no time did two workloads run", demo.said())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenure", required=True)
    given, rest = parser.parse_known_args()
    tenure = given.tenure
    if os.geteuid() != 0:
        print("only root can make roots and namespaces")
        sys.exit(77)
    if not MUSL.exists():
        print("musl is not there; tests/servers/provide musl")
        sys.exit(77)
    own_network()
    unittest.main(argv=[sys.argv[0], "-v", *rest])
