"""Ports for servers that a test or a benchmark starts."""
import random
import socket

_claims: list[socket.socket] = []


def free_port() -> int:
    """Below those that the kernel gives to clients: it stays free while its server is restarted.

    No other test draws it as long as this process lives (tests/servers/server_process.cpp does the same): it has
    bound the name that belongs to the port, which is no file.
    """
    while True:
        port = random.randint(20_000, 31_999)
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0tenure-test-port-{port}")
            with socket.socket() as one:
                one.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return port
