"""Requests that no page sends, to the console and to the playground: refused with a short answer, and nobody waits."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from typing import Final

import pytest
from doubles.broker_process import broker_process
from doubles.playground_process import playground_process

SEED: Final = 7
ANSWER_BYTES_MAX: Final = 2_000
PATHS: Final = (
    "/", "/api/session", "/api/sign-in", "/api/sign-out", "/api/subscriptions", "/api/subscriptions/x", "/api/streams",
    "/api/streams/x/events", "/api/sessions", "/playground/session", "/playground/upload", "/playground/ask/run",
    "/playground/ask/why-not", "/playground/ask/nothing", "/playground/journal", "/playground/broker",
    "/playground/subscriptions/x", "/playground/examples/stocks", "/playground/examples/..%2f..%2fetc%2fpasswd",
    "/assets/../../../etc/passwd", "/assets/%2e%2e/guard.py",
    "/metrics", "//", "/%00", "/" + "a" * 5_000,
)  # fmt: skip
METHODS: Final = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "G\x00T", "CONNECT", "")
HEADERS: Final = (
    "Host: 127.0.0.1", "Host: evil.example", "Host: ", "Host: [::1", "Content-Length: 5", "Content-Length: -1",
    "Content-Length: 99999999999999999999", "Content-Length: x", "Transfer-Encoding: chunked", "Cookie: foretell=x",
    "Cookie: foretell=\xff\xfe", "X-Foretell-Token: guessed", "X-Foretell-Token: \xe9", "Origin: null",
    "Origin: http://127.0.0.1", "Content-Type: application/json", "Content-Type: ;;;", "Last-Event-Id: \xb3",
    "Connection: upgrade", "Upgrade: websocket", "Expect: 100-continue", "X: " + "y" * 2_000,
)  # fmt: skip
BODIES: Final = (
    b"", b"{}", b"[1", b"null", b'{"token": 5}', b'{"token": "x"}', b'{"text": "x"}', b"\xff\xfe\x00", b"[" * 9_000,
    b'{"file": "/etc/passwd", "text": ""}', b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b'{"wanted": [true, null]}',
)  # fmt: skip


@pytest.fixture(scope="module", params=["console", "playground"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a server."""
    if request.param == "playground":
        with playground_process() as running:
            yield int(running.address.rpartition(":")[2])
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free: int = probe.getsockname()[1]
    with broker_process(f'address = "tcp://127.0.0.1:0"\n[console]\naddress = "http://127.0.0.1:{free}"\n'):
        yield free


def request(chance: random.Random) -> bytes:
    """A request of random parts; sometimes bytes that are none."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(1, 300))
    head = [f"{chance.choice(METHODS)} {chance.choice(PATHS)} HTTP/1.{chance.choice('0119')}"]
    if chance.random() < 0.8:
        head.append("Host: 127.0.0.1")
    head += chance.sample(HEADERS, chance.randrange(5))
    body = chance.choice(BODIES)
    if chance.random() < 0.5:
        head.append(f"Content-Length: {len(body)}")
    text = "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body
    return text[: chance.randrange(1, len(text))] if chance.random() < 0.1 else text


def answer(port: int, sent: bytes) -> bytes:
    """What comes back, until the server or we end the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            found = b""
            while len(found) < 100_000 and (part := connection.recv(65_536)):
                found += part
        except (ConnectionResetError, BrokenPipeError):
            return b""
        return found


def refuses(port: int, count: int) -> None:
    chance = random.Random(SEED)
    refused = 0
    for _ in range(count):
        sent = request(chance)
        found = answer(port, sent)
        head, _, body = found.partition(b"\r\n\r\n")
        status = head.split(b" ")[1] if head.startswith(b"HTTP/1.1 ") else b""
        assert status[:1] in (b"", b"2", b"4"), (sent[:300], found[:300])
        if status[:1] == b"4":
            refused += 1
            assert len(body) < ANSWER_BYTES_MAX, (sent[:300], found[:300])
        assert b"Traceback" not in body
        assert b"root:" not in body
    assert refused > count // 2
    good = answer(port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert good.startswith(b"HTTP/1.1 200"), good[:200]


def test_malformed_requests_are_refused(port: int) -> None:
    refuses(port, 300)


@pytest.mark.verify
def test_very_many_malformed_requests_are_refused(port: int) -> None:
    refuses(port, 10_000)
