"""A real agent for tests of its API: on SQLite, started as a user would."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from waiting import PATIENCE, until  # noqa: E402


class Agent:
    """A member that holds the election `db` of its own store."""

    def __init__(self, binary, *more):
        self.folder = tempfile.TemporaryDirectory()
        self.log = os.path.join(self.folder.name, "log")
        self.socket = os.path.join(self.folder.name, "s")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TENURE_")}
        environment["TENURE_RUNTIME_DIR"] = "off"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [binary, "agent", "--store", "sqlite", "--endpoint",
                 os.path.join(self.folder.name, "store"), "--election", "db", "--identity", "a",
                 "--ttl", "6s", "--listen", "127.0.0.1:0", "--probe-listen", "127.0.0.1:0",
                 "--socket", self.socket, *more], stderr=log, env=environment)
        self.port = int(until(lambda: self.said(r"api=127\.0\.0\.1:(\d+)"), "listening"))
        self.probe_port = int(self.said(r"probe=127\.0\.0\.1:(\d+)"))
        until(lambda: self.election()["is_self"], "active")

    def said(self, pattern):
        """The first group of `pattern` in the log; None if no line matches."""
        if self.process.poll() is not None:
            raise AssertionError("the agent has ended:\n" + open(self.log).read())
        found = re.search(pattern, open(self.log).read())
        return found and found.group(1)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def election(self):
        status, _, body = ask(self.port, "GET", "/v1/elections/db")
        assert status == 200, body
        return json.loads(body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.folder.cleanup()


def receive(connection, has_body=True):
    """One answer: its status (0: the connection ended), headers by lower-case name, and body."""
    buffer = b""
    while b"\r\n\r\n" not in buffer:
        piece = connection.recv(65536)
        if not piece:
            return 0, {}, buffer
        buffer += piece
    head, body = buffer.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    length = int(headers.get("content-length", 0)) if has_body else 0
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return int(lines[0].split()[1]), headers, body


def ask(port, method, path, headers="", body=""):
    """One request on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}{headers}\r\n"
                           f"{body}".encode())
        return receive(connection, method != "HEAD")
