"""Which of Consul's servers leads, whom its members ask, and what its operator does."""
import base64
import json
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest import mock

import consul
import consul_operator
from network import Network
from releases import Release

LED = "    2026-11-23T19:13:{}.653Z [INFO]  agent.server.raft: entering leader state: leader=x\n"
OTHER = "    2026-11-23T19:13:59.000Z [INFO]  agent.server: New leader elected: payload=consul-1\n"


class Cluster(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        network = mock.Mock(store_address=Network.store_address, store="n")
        self.of = consul.Consul(Release("consul", "today", Path("/x")), network, self.folder)

    def log(self, number: int, text: str) -> None:
        (self.folder / f"consul-{number}.log").write_text(text)

    def test_nobody_is_known_to_lead_before_one_has_said_so(self) -> None:
        self.log(1, OTHER)
        self.assertEqual(list(self.of.leader()), [])

    def test_the_last_that_said_so_leads(self) -> None:
        self.log(0, LED.format(10) + OTHER)
        self.log(1, LED.format(30) + OTHER)
        self.log(2, LED.format(20) + LED.format(40) + OTHER)
        self.assertEqual([server.name for server in self.of.leader()], ["consul-2"])

    def test_each_member_asks_another_server_first_and_knows_all(self) -> None:
        of_each = [self.of.endpoints(member) for member in ("a", "b", "c")]
        ports = [[url.rpartition(":")[2] for url in urls] for urls in of_each]
        self.assertEqual(len({first for first, *_ in ports}), 3)
        self.assertEqual(len({frozenset(all_of_them) for all_of_them in ports}), 1)
        self.assertTrue(all("10.77.1.1" in url for url in of_each[1]))


class Server(BaseHTTPRequestHandler):
    """Holds one key, and keeps what it was asked."""

    asked: list[tuple[str, str, bytes]] = []
    session = ""

    def do(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, body))
        pair = {"Session": self.session, "Flags": 77, "Value": base64.b64encode(b"a-1").decode()}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps([pair]).encode() if self.command == "GET" else b"true")

    do_GET = do_PUT = do_DELETE = do

    def log_message(self, format: str, *args: object) -> None:
        pass


class Operator(unittest.TestCase):
    def setUp(self) -> None:
        Server.asked, Server.session = [], "s"
        server = HTTPServer(("127.0.0.1", 0), Server)
        self.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)

    def do(self, what: str) -> tuple[str, str, bytes]:
        consul_operator.operate(what, "e/.lock", self.url)
        return Server.asked[-1]

    def test_deletes_the_key(self) -> None:
        self.assertEqual(self.do("delete"), ("DELETE", "/v1/kv/e/.lock", b""))

    def test_destroys_the_session_that_has_it(self) -> None:
        self.assertEqual(self.do("destroy"), ("PUT", "/v1/session/destroy/s", b""))

    def test_a_release_leaves_the_key_as_it_was(self) -> None:
        self.assertEqual(self.do("release"), ("PUT", "/v1/kv/e/.lock?release=s&flags=77", b"a-1"))

    def test_does_nothing_if_nobody_holds(self) -> None:
        Server.session = ""
        for what in ("delete", "destroy", "release"):
            self.assertEqual(self.do(what)[0], "GET")
            self.assertFalse(consul_operator.operate(what, "e/.lock", self.url))

    def test_says_that_somebody_held(self) -> None:
        self.assertTrue(consul_operator.operate("delete", "e/.lock", self.url))


if __name__ == "__main__":
    unittest.main()
