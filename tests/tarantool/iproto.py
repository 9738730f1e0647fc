"""A small client of IPROTO, Tarantool's protocol: msgpack, chap-sha1, CALL and the requests that the user may not make.

One thread may use a connection at a time. `send` and `receive` are apart, so that a test can lose a reply or
have many requests under way."""
import base64
import hashlib
import socket
import struct

# Types of requests and keys of maps, as Tarantool's documentation names them.
SELECT, INSERT, REPLACE, UPDATE, DELETE, AUTH, EVAL, UPSERT, CALL, EXECUTE, PING = 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 64
TYPE, SYNC, SPACE, INDEX, LIMIT, OFFSET, ITERATOR, KEY, TUPLE, NAME, USER, EXPRESSION, SQL, BIND, DATA, ERROR = (
    0x00, 0x01, 0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x21, 0x22, 0x23, 0x27, 0x40, 0x41, 0x30, 0x31)
FAILED = 0x8000
GREETING = 128


class ServerError(Exception):
    """The server answers with an error of its own: `code` as in Tarantool's table of errors."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


def pack(value) -> bytes:
    if value is None:
        return b"\xc0"
    if value is True or value is False:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return pack_int(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogateescape")
        return sized(len(raw), 0xA0, 31, 0xD9, 0xDA, 0xDB) + raw
    if isinstance(value, (list, tuple)):
        return sized(len(value), 0x90, 15, None, 0xDC, 0xDD) + b"".join(map(pack, value))
    if isinstance(value, dict):
        return sized(len(value), 0x80, 15, None, 0xDE, 0xDF) + b"".join(pack(k) + pack(v) for k, v in value.items())
    raise TypeError(type(value))


def pack_int(value: int) -> bytes:
    if value >= 0:
        for most, head, form in ((0x7F, b"", "B"), (0xFF, b"\xcc", "B"), (0xFFFF, b"\xcd", ">H"),
                                 (0xFFFFFFFF, b"\xce", ">I"), (0xFFFFFFFFFFFFFFFF, b"\xcf", ">Q")):
            if value <= most:
                return head + struct.pack(form, value)
    return b"\xd3" + struct.pack(">q", value)


def sized(length, fixed, most_fixed, one, two, four) -> bytes:
    if length <= most_fixed:
        return bytes([fixed | length])
    if one is not None and length <= 0xFF:
        return bytes([one, length])
    if length <= 0xFFFF:
        return bytes([two]) + struct.pack(">H", length)
    return bytes([four]) + struct.pack(">I", length)


NUMBERS = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q", 0xCA: ">f",
           0xCB: ">d"}
TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
LISTS = {0xDC: ">H", 0xDD: ">I"}
MAPS = {0xDE: ">H", 0xDF: ">I"}
PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}


def unpack(raw: bytes, at: int = 0):
    """The value that begins at `at`, and where the next one begins."""
    head = raw[at]
    at += 1
    if head <= 0x7F:
        return head, at
    if head >= 0xE0:
        return head - 0x100, at
    if head <= 0x8F:
        return unpack_map(raw, at, head & 0x0F)
    if head <= 0x9F:
        return unpack_list(raw, at, head & 0x0F)
    if head <= 0xBF:
        return unpack_text(raw, at, head & 0x1F)
    if head in PLAIN:
        return PLAIN[head], at
    if head in NUMBERS:
        return unpack_number(raw, at, NUMBERS[head])
    for table, read in ((TEXTS, unpack_text), (LISTS, unpack_list), (MAPS, unpack_map)):
        if head in table:
            size, at = unpack_number(raw, at, table[head])
            return read(raw, at, size)
    raise ValueError(f"msgpack: 0x{head:02x}")


def unpack_number(raw, at, form):
    return struct.unpack_from(form, raw, at)[0], at + struct.calcsize(form)


def unpack_text(raw, at, size):
    return raw[at:at + size].decode("utf-8", "surrogateescape"), at + size


def unpack_list(raw, at, size):
    out = []
    for _ in range(size):
        value, at = unpack(raw, at)
        out.append(value)
    return out, at


def unpack_map(raw, at, size):
    out = {}
    for _ in range(size):
        key, at = unpack(raw, at)
        out[key], at = unpack(raw, at)
    return out, at


class Connection:
    """Closed by `close`, or at the end of a `with`. Every wait ends after `patience` seconds with TimeoutError."""

    def __init__(self, path: str, user: str | None = None, password: str = "", patience: float = 30):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(patience)
        self.sync = 0
        self.answers = {}
        try:
            self.socket.connect(path)
            greeting = self.read(GREETING)
            if user is not None:
                self.authenticate(user, password, base64.b64decode(greeting[64:108])[:20])
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def read(self, size: int) -> bytes:
        parts = []
        while size > 0:
            part = self.socket.recv(min(size, 1 << 20))
            if not part:
                raise ConnectionError("the server has closed the connection")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def authenticate(self, user, password, salt):
        once = hashlib.sha1(password.encode()).digest()
        twice = hashlib.sha1(once).digest()
        mask = hashlib.sha1(salt + twice).digest()
        proof = bytes(a ^ b for a, b in zip(once, mask))
        # The proof is binary, but the server wants it as a text.
        body = b"\x82" + pack(USER) + pack(user) + pack(TUPLE) + b"\x92" + pack("chap-sha1") + b"\xb4" + proof
        self.socket.sendall(self.frame(AUTH, body))
        self.receive(self.sync)

    def frame(self, kind: int, body: bytes) -> bytes:
        self.sync += 1
        whole = pack({TYPE: kind, SYNC: self.sync}) + body
        return b"\xce" + struct.pack(">I", len(whole)) + whole

    def send(self, kind: int, body: dict) -> int:
        """The number by which `receive` knows the answer."""
        self.socket.sendall(self.frame(kind, pack(body)))
        return self.sync

    def begin_together(self, *calls) -> list[int]:
        """Calls that the server reads at once: the second one begins while the first waits for the disk."""
        frames = [self.frame(CALL, pack({NAME: function, TUPLE: arguments})) for function, *arguments in calls]
        self.socket.sendall(b"".join(frames))
        return list(range(self.sync - len(calls) + 1, self.sync + 1))

    def receive(self, sync: int):
        """What the server answers to this request, even if other answers come first."""
        while sync not in self.answers:
            size, _ = unpack(self.read(5))
            frame = self.read(size)
            header, at = unpack(frame)
            body = unpack(frame, at)[0] if at < len(frame) else {}
            self.answers[header[SYNC]] = (header[TYPE], body)
        kind, body = self.answers.pop(sync)
        if kind & FAILED:
            raise ServerError(kind & ~FAILED, body.get(ERROR))
        return body.get(DATA)

    def begin(self, function: str, *arguments) -> int:
        return self.send(CALL, {NAME: function, TUPLE: list(arguments)})

    def call(self, function: str, *arguments):
        """The first value that the function returns."""
        answer = self.receive(self.begin(function, *arguments))
        return answer[0] if answer else None
