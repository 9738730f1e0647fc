#!/usr/bin/env python3
"""consul_operator.py delete|destroy|release KEY PORT...: what an operator of Consul does who does
not ask the holder: deletes the key, destroys the session that has it, or releases it for that
session. The first server that answers does it. Ends with 0 if somebody held the key."""
from __future__ import annotations

import base64
import json
import sys
import urllib.error
import urllib.request

PATIENCE_SECONDS = 2


def call(method: str, url: str, body: bytes = b"") -> bytes:
    request = urllib.request.Request(url, data=body or None, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as reply:
        content = reply.read()
    assert isinstance(content, bytes)
    return content


def operate(what: str, key: str, server: str) -> bool:
    """False if nobody holds the key, or does not any more."""
    pair = json.loads(call("GET", f"{server}/v1/kv/{key}?consistent"))[0]
    session = pair.get("Session")
    if not session:
        return False
    if what == "delete":
        answer = call("DELETE", f"{server}/v1/kv/{key}")
    elif what == "destroy":
        answer = call("PUT", f"{server}/v1/session/destroy/{session}")
    else:
        # A release writes the key: what it was has to be given again.
        value = base64.b64decode(pair["Value"] or "")
        answer = call("PUT", f"{server}/v1/kv/{key}?release={session}&flags={pair['Flags']}", value)
    return answer.strip() == b"true"


def main() -> int:
    what, key, *ports = sys.argv[1:]
    for port in ports:
        try:
            found = operate(what, key, f"http://127.0.0.1:{port}")
            print(f"{what}: {'done' if found else 'nobody holds it'}", flush=True)
            return 0 if found else 1
        except (OSError, urllib.error.HTTPError) as error:
            print(f"{what}: server {port}: {error}", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
