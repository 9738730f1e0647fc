#!/usr/bin/env python3
"""Clients that abuse a real agent: it answers others and keeps its lease.

    abuse_test.py TENURE SOURCE-FOLDER
"""
import contextlib
import random
import re
import resource
import socket
import sys

from agent import PATIENCE, Agent, ask, receive, until

IDLE_CONNECTIONS = 3000
SEED = 4040


def held(agent):
    """The election; fails unless the agent holds it and all is well."""
    seen = agent.election()
    words = r"(does not answer|state=draining)"
    if not seen["is_self"] or agent.said(words):
        raise AssertionError(f"{seen}\n{open(agent.log).read()}")
    return seen


def check_calm(agent, version, after):
    """Checks that the agent works as before the abuse."""
    for _ in range(3):
        assert held(agent)["version"] == version, f"after {after}"
        assert ask(agent.probe_port, "GET", "/leader")[0] == 200, f"after {after}"


def wait_for_a_renewal(agent):
    """Waits until the agent has renewed, by the time left of its lease."""
    left = held(agent)["expires_in_ms"]

    def renewed():
        nonlocal left
        before, left = left, held(agent)["expires_in_ms"]
        return left > before

    until(renewed, "a renewal")


def slowloris(agent):
    """Sends headers a byte at a time, until the agent hangs up."""
    with contextlib.ExitStack() as open_ones:
        drips = [open_ones.enter_context(agent.connect()) for _ in range(200)]
        for _ in range(20):
            for drip in drips:
                with contextlib.suppress(OSError):  # it had to give way to another
                    drip.send(b"X")
            assert ask(agent.port, "GET", "/v1/elections/db")[0] == 200
        wait_for_a_renewal(agent)


def idle_connections(agent):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(IDLE_CONNECTIONS, hard - 200)
    if count < IDLE_CONNECTIONS:
        print(f"only {count} idle connections: the limit of open files here is {hard}")
    with contextlib.ExitStack() as open_ones:
        for number in range(count):
            open_ones.enter_context(agent.connect())
            if number % 100 == 0:
                assert ask(agent.port, "GET", "/v1/elections/db")[0] == 200
        wait_for_a_renewal(agent)


def stalled_readers(agent):
    """Readers of events that read nothing: as many as the agent accepts, then some more."""
    request = b"GET /v1/elections/db/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with contextlib.ExitStack() as open_ones:
        for _ in range(1024):
            reader = open_ones.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            reader.settimeout(PATIENCE)
            reader.connect(("127.0.0.1", agent.port))
            reader.sendall(request)
        # Connections are answered in order: by now all earlier ones are.
        until(lambda: ask(agent.port, "GET", "/v1/events")[0] == 503, "there is no more room")
        assert ask(agent.port, "GET", "/v1/elections/db?index=0")[0] == 200
        wait_for_a_renewal(agent)
    until(lambda: ask(agent.port, "GET", "/v1/events")[0] == 200, "there is room again")


def answers_given(agent):
    """How many pages of metrics the probe port has sent."""
    page = ask(agent.port, "GET", "/metrics")[2].decode()
    return re.search(r'requests_total{listener="probe",code="200"} (\d+)', page).group(1)


def unread_pages(agent):
    """More clients than the probe port serves request page after page and read nothing."""
    requests = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 900
    with contextlib.ExitStack() as open_ones:
        for _ in range(80):
            scraper = open_ones.enter_context(socket.socket())
            scraper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            scraper.connect(("127.0.0.1", agent.probe_port))
            with contextlib.suppress(OSError):  # it had to give way to another
                scraper.sendall(requests)
        last = answers_given(agent)

        def blocked():
            nonlocal last
            before, last = last, answers_given(agent)
            return last == before

        until(blocked, "nobody is sent anything any more")
        for _ in range(20):
            for probe in ("/livez", "/readyz", "/leader"):
                status = ask(agent.probe_port, "GET", probe)[0]
                assert status == 200, f"{probe} is answered {status}"


def pipelining(agent):
    """Two thousand requests at once; nobody reads until all are sent."""
    one = b"GET /v1/elections/db HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with agent.connect() as connection:
        with contextlib.suppress(OSError):  # it is closed after its thousandth request
            connection.sendall(one * 2000)
        everything = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(1 << 20):
                everything += piece
    count = everything.count(b"HTTP/1.1 200 OK\r\n")
    assert 0 < count <= 1000, f"{count} answers"
    assert everything.count(b"HTTP/1.1 ") == count, "one of them was not a 200"


def garbage(agent):
    bytes_of = random.Random(SEED)
    for _ in range(300):
        with agent.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(bytes_of.randbytes(bytes_of.randrange(1, 5000)) + b"\r\n\r\n")
                status, _, _ = receive(connection)
                assert status in (0, 400, 431), status


def huge_headers(agent):
    for size in (9_000, 1_000_000):
        with agent.connect() as connection:
            with contextlib.suppress(OSError):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * size)
            assert receive(connection)[0] == 431


SMUGGLED = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
AMBIGUOUS = {
    "two lengths": "Content-Length: 0\r\nContent-Length: 41\r\n\r\n",
    "two equal lengths": "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
    "a list of lengths": "Content-Length: 0, 0\r\n\r\n",
    "a signed length": "Content-Length: +0\r\n\r\n",
    "length and chunks": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "chunks": "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another coding": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked, identity": "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a folded header": "X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare LF": "X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a bare CR": "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a blank before the colon": "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a null": "X: a\0b\r\n\r\n",
    "two hosts": "Host: other\r\n\r\n",
    "a chunk extension": "Transfer-Encoding: chunked\r\n\r\n0;x=y\r\n\r\n",
    "a signed chunk": "Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n",
    "a chunk in hexadecimal": "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "a chunk that is longer than it says": "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    "a chunk with a bare LF": "Transfer-Encoding: chunked\r\n\r\n0\n\r\n",
    "a chunk without a size": "Transfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n",
    "a trailer": "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: other\r\n\r\n",
}


def smuggling(agent):
    """Ambiguous requests are refused, and nothing after them is read."""
    for what, rest in AMBIGUOUS.items():
        with agent.connect() as connection:
            connection.sendall(f"POST / HTTP/1.1\r\nHost: localhost\r\n{rest}{SMUGGLED}".encode())
            status, headers, _ = receive(connection)
            assert status == 400, f"{what}: {status}"
            assert headers["connection"] == "close", what
            assert connection.recv(4096) == b"", f"{what}: there is another answer"


def main():
    with Agent(sys.argv[1]) as agent:
        version = agent.election()["version"]
        for abuse in (slowloris, idle_connections, stalled_readers, unread_pages, pipelining,
                      garbage, huge_headers, smuggling):
            abuse(agent)
            check_calm(agent, version, abuse.__name__)
        wait_for_a_renewal(agent)
        check_calm(agent, version, "all of it")


if __name__ == "__main__":
    main()
