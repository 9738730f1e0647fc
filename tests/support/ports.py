"""Ports for servers that a test or a benchmark starts."""
import contextlib
import random
import socket


def free_port() -> int:
    """Below those that the kernel gives to clients: it stays free while its server is restarted."""
    while True:
        port = random.randint(20_000, 31_999)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
