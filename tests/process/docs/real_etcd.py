"""The real etcd, for the commands of a page."""
import os
import socket
import subprocess

from shell import until


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Etcd:
    """One server at a fixed address, whose data can be exchanged while it is down."""

    def __init__(self, programs, at):
        self.programs, self.at = programs, at
        self.url, self.peer = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        self.process = None

    def start(self, data):
        log = open(self.at / "etcd.log", "a")
        # A restored server has the peer address that the command gives it, which is the default.
        peer = ["--initial-advertise-peer-urls", "http://localhost:2380", "--listen-peer-urls", self.peer]
        self.process = subprocess.Popen(
            [self.programs / "etcd", "--data-dir", self.at / data, "--listen-client-urls", self.url,
             "--advertise-client-urls", self.url, *peer], stdout=log, stderr=log)
        until(lambda: self.asked("endpoint", "health").returncode == 0, "etcd answers")

    def asked(self, *words):
        return subprocess.run([self.programs / "etcdctl", *words], env={**os.environ, "ETCDCTL_ENDPOINTS": self.url,
                              "ETCDCTL_API": "3"}, capture_output=True, text=True)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
