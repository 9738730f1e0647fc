"""Stands in for an agent where a test needs what a real one cannot be brought to say at will: ten
thousand elections, days of history, events one by one. The page that it serves is the real one."""
from __future__ import annotations

import json
import queue
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


def rfc3339(seconds_ago: float = 0) -> str:
    then = datetime.fromtimestamp(time.time() - seconds_ago, timezone.utc)
    return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def term(holder: str, version: int, began: float, ended: float | None = None,
         reason: str | None = None, outage: float | None = None) -> Json:
    """`began` and `ended` are seconds ago; `outage`: how many seconds no member was active after it."""
    return {"holder": holder, "version": version, "version_text": str(version), "is_self": False,
            "from": rfc3339(began), "to": None if ended is None else rfc3339(ended),
            "ended": ended is not None, "reason": reason,
            "outage_after": None if outage is None or ended is None else
            {"from": rfc3339(ended), "lasted_ms": round(outage * 1000), "at_most": False}}


def election(name: str, identity: str, holder: str | None, version: int, **more: Any) -> Json:
    is_self = holder == identity
    holders = [] if holder is None else [{"identity": holder, "version": version}]
    return {"election": name, "identity": identity, "state": "active" if is_self else "candidate",
            "is_self": is_self, "holder": holder, "version": version if holder else None,
            "version_text": str(version) if holder else None, "holders": holders,
            "sequencer": None, "expires_in_ms": 9_400 if holder else None,
            "since": rfc3339(3_600), "as_of": rfc3339(), "last_loss": None, "last_term": None,
            "slots": 1, "next": None, "members": None, "gone": [], "paused": False,
            "aside_for_ms": None, "not_campaigning": None,
            "workload_running": is_self, "holder_known": True, "holder_age_ms": 0,
            "store": {"kind": "etcd", "reachable": True, "last_answer_ms": 120, "why": None},
            "cluster_id": "14841639068965178418",
            "agent": "run-1", "index": 1, **more}


def member(identity: str, state: str, is_self: bool = False, ready: bool | None = None,
           priority: int = 0) -> Json:
    return {"identity": identity, "is_self": is_self, "state": state, "ready": ready,
            "priority": priority, "ready_since": rfc3339(600) if ready else None}


def silent(one: Json, for_ms: int = 12_000) -> Json:
    """The same election as its agent shows it whose store does not answer any more."""
    members = one["members"] and [
        m if m["is_self"] else {**m, "state": "unknown", "ready": None, "ready_since": None}
        for m in one["members"]]
    return {**one, "next": None, "members": members, "holder_known": False, "holder_age_ms": for_ms,
            "index": one["index"] + 1,
            "store": {**one["store"], "reachable": False, "last_answer_ms": for_ms,
                      "why": "POST /v3/kv/txn at http://10.0.0.7:2379: Connection refused"}}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def hang_up(self) -> None:
        """As the kernel does for a process that has ended."""
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it was closed before

    def handle_error(self, *_: Any) -> None:
        """Readers hang up whenever they like."""


class StandIn:
    """`page` is the text and the headers of the real page. Without `events`, as an agent of before
    there were any."""

    def __init__(self, page: tuple[bytes, dict[str, str]], elections: list[Json],
                 histories: dict[str, list[Json]] | None = None, events: bool = True) -> None:
        self._elections = {one["election"]: one for one in elections}
        self._histories = histories or {}
        self._page = page
        self._events = events
        self._lock = threading.Lock()
        self._readers: list[queue.Queue[Json]] = []
        self.asked: list[str] = []
        self.answers = threading.Event()  # while it is not set, reads of an election are held back
        self.answers.set()
        self.held_back = 0

    def readers(self) -> int:
        with self._lock:
            return len(self._readers)

    def publish(self, one: Json, tell: bool = True) -> None:
        """`tell`: those who follow events hear of it."""
        with self._lock:
            self._elections[one["election"]] = one
            for reader in self._readers if tell else []:
                reader.put(one)

    @contextmanager
    def listening(self) -> Iterator[str]:
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:  # noqa: N802
                stand_in.asked.append(self.path)
                stand_in._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        server = _Server(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
            server.hang_up()

    def _answer(self, to: BaseHTTPRequestHandler) -> None:
        path = [urllib.parse.unquote(part) for part in to.path.split("/") if part]
        with self._lock:
            known = self._elections.get(path[2]) if len(path) > 2 else None
            everything = list(self._elections.values())
        if not path:
            self._send(to, 200, *self._page)
        elif path == ["livez"]:
            self._send_json(to, {"status": "ok"})
        elif path == ["v1", "elections"]:
            self._send_json(to, {"elections": everything, "as_of": rfc3339()})
        elif path[-1] == "events" and self._events:
            self._stream(to, [known] if known else everything)
        elif known and len(path) == 3:
            self.held_back += not self.answers.is_set()
            self.answers.wait()
            self._send_json(to, known)
        elif known and path[3] == "history":
            self._send_json(to, {"election": path[2], "identity": known["identity"],
                                 "agent": known["agent"], "complete_since": rfc3339(500_000),
                                 "terms": self._histories.get(path[2], []),
                                 "holder_known": known["holder_known"],
                                 "store": known["store"],
                                 "as_of": rfc3339()})
        else:
            self._send_json(to, {"error": {"code": "not_found", "message": "there is nothing",
                                           "action": "begin at /v1/elections"}}, 404)

    def _send_json(self, to: BaseHTTPRequestHandler, body: Json, status: int = 200) -> None:
        self._send(to, status, json.dumps(body).encode(), {"Content-Type": "application/json"})

    @staticmethod
    def _send(to: BaseHTTPRequestHandler, status: int, body: bytes,
              headers: dict[str, str]) -> None:
        to.send_response(status)
        for name, value in headers.items():
            to.send_header(name, value)
        to.send_header("Content-Length", str(len(body)))
        to.end_headers()
        to.wfile.write(body)

    def _stream(self, to: BaseHTTPRequestHandler, first: list[Json]) -> None:
        to.close_connection = True
        to.send_response(200)
        to.send_header("Content-Type", "text/event-stream")
        to.end_headers()
        mine: queue.Queue[Json] = queue.Queue()
        with self._lock:
            self._readers.append(mine)
        try:
            to.wfile.write(b"retry: 2000\n\n")
            for one in first:
                self._event(to, one)
            while True:
                self._event(to, mine.get())
        except OSError:
            pass  # the reader is gone
        finally:
            with self._lock:
                self._readers.remove(mine)

    @staticmethod
    def _event(to: BaseHTTPRequestHandler, one: Json) -> None:
        text = f"id: {one['agent']}-{one['index']}\nevent: election\ndata: {json.dumps(one)}\n\n"
        to.wfile.write(text.encode())
