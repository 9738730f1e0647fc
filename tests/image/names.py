"""A name server for the tests, at 127.0.0.1 in a network namespace of their own."""
import socket
import struct
import threading

TYPE_A = 1
FOUND, NO_SUCH_NAME = 0, 3


class NameServer:
    """Answers with 127.0.0.1 for the names that it has, and denies all others."""

    def __init__(self, names):
        self.names = set(names)
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            query, where = self.socket.recvfrom(512)
            if not query:
                return
            self.socket.sendto(self.answer(query), where)

    def close(self):
        # Wakes the thread.
        self.socket.sendto(b"", ("127.0.0.1", 53))
        self.thread.join()
        self.socket.close()

    def answer(self, query):
        number, = struct.unpack_from("!H", query)
        labels, at = [], 12
        while length := query[at]:
            labels.append(query[at + 1:at + 1 + length].decode())
            at += 1 + length
        question = query[12:at + 5]
        kind, = struct.unpack_from("!H", query, at + 1)
        name = ".".join(labels)
        self.asked.append(name)
        has_address = name in self.names and kind == TYPE_A
        code = FOUND if name in self.names else NO_SUCH_NAME
        # A response, with recursion.
        header = struct.pack("!HHHHHH", number, 0x8180 | code, 1, int(has_address), 0, 0)
        # The name is the one of the question, at offset 12; class IN, for a minute.
        address = struct.pack("!HHHIH", 0xC00C, TYPE_A, 1, 60, 4) + socket.inet_aton("127.0.0.1")
        return header + question + (address if has_address else b"")
