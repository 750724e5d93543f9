"""Malformed requests to the console of a running broker: lines, headers and bodies that nobody should send.

Each is refused or answered in one of the ways that HTTP has, the broker goes on, and no answer tells what it should
not. The requests are the same for the same seed. Not here: frames of the protocol (frames), connections (connections).
"""

from __future__ import annotations

import json
import random
import re
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

ANSWER_SECONDS_MAX: Final = 60.0
PATHS: Final = (
    "/", "/streams", "/subscriptions", "/subscriptions/a", "/subscribe", "/program", "/clients", "/users", "/metrics",
    "/livez", "/readyz",
    "/assets/console.js", "/api/session", "/api/sign-in", "/api/sign-out", "/api/streams", "/api/streams/S/events",
    "/api/streams/S/refused", "/api/subscriptions", "/api/subscriptions/kept", "/api/subscriptions/kept/text",
    "/api/subscriptions/kept/arcs", "/api/subscriptions/kept/end", "/api/subscriptions/kept/changes", "/api/check",
    "/api/users", "/api/cursors", "/api/sessions", "/api/program", "/api/program/picture", "/api/costs",
)  # fmt: skip
METHODS: Final = (
    "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "G\x00T", "",
    "X" * 300,
)  # fmt: skip
PARTS: Final = (
    "..", "%2e%2e", "%00", "%", "%zz", "\x00", "\xff", "'", '"', "<script>", "etc/passwd", "console.tokens",
    "%ff%fe", "a" * 9_000,
    "?search=", "?page=", "?page=-1", "?page=" + "9" * 400, "?name=kept&name=none", "?language=sase", "#", ";",
    "//", "\\",
)  # fmt: skip
FIELDS: Final = (
    "time", "values", "dry", "name", "language", "query", "cursor", "keep_runs", "insert", "delete", "start", "end",
    "how", "token", "__proto__",
)  # fmt: skip
WORDS: Final = (
    "S", "kept", "cayuga", "afa", "own", "everybody", "x", "1", "-1", "", "FILTER{x > 1}(S)", "\u0000", "\ud83d", "💥",
    "../..",
)  # fmt: skip
SUBSCRIBING: Final = {"name": "kept", "language": "cayuga", "dry": True}
LEAKS: Final = re.compile(rb"Traceback|\.py\b|site-packages|File \"|/tmp/|/home/|/usr/|line \d+, in ")
"""What no answer may tell: a trace, or a path of the machine."""


@final
@dataclass(frozen=True, slots=True)
class Site:
    """Whom the requests are sent to. `cookie` and `token`: of a browser that is signed in; `secrets`: never told."""

    host: str
    port: int
    cookie: str
    token: str
    secrets: Sequence[bytes]


def attack(site: Site, count: int, seed: int) -> Counter[str]:
    """Send so many requests; how often each status came. Raises AssertionError for an answer that tells too much."""
    chance, met = random.Random(seed), Counter[str]()
    makers = (noise, line, headers, truncated, questioned, asked, asked, asked)
    for _ in range(count):
        made = chance.choice(makers)(chance, site)
        answer = sent(site, made)
        status = answer.split(b" ", 2)[1].decode("latin1") if answer.startswith(b"HTTP/1.1 ") else "closed"
        met[status] += 1
        assert status in ("closed", "503") or status < "500", (made[:500], answer[:500])
        told = LEAKS.search(answer) if b"text/javascript" not in answer[:400] else None
        assert told is None, (made[:500], told)
        if not made.startswith(b"GET /api/session"):  # which gives the token of forms to its own page
            assert not any(secret in answer for secret in site.secrets), made[:500]
    return met


def sent(site: Site, request: bytes) -> bytes:
    """What comes back, until the connection is closed; of an endless answer its beginning."""
    found = b""
    with socket.create_connection((site.host, site.port), ANSWER_SECONDS_MAX) as connection:
        connection.settimeout(ANSWER_SECONDS_MAX)
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while len(found) < 1_000_000 and (more := connection.recv(65_536)):
                found += more
        except OSError:
            pass
    return found


# ---- requests ----


def noise(chance: random.Random, site: Site) -> bytes:
    """Bytes."""
    return chance.randbytes(chance.choice((0, 1, 3, 50, 5_000))) + chance.choice((b"", b"\r\n\r\n"))


def line(chance: random.Random, site: Site) -> bytes:
    """A first line that is none, or nearly one."""
    version = chance.choice(("HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "http/1.1", "", "\x00"))
    path = _path(chance) if chance.random() < 0.7 else chance.choice(("*", "", "http://elsewhere/", "//elsewhere", "x"))
    return _bytes(f"{chance.choice(METHODS)} {path} {version}\r\nHost: {site.host}\r\n\r\n")


def headers(chance: random.Random, site: Site) -> bytes:
    """Headers that contradict, are too many, or hold what none may."""
    odd = (
        "Host: elsewhere.example", "Host:", "Host: a\r\nHost: b", "Content-Length: -1",
        "Content-Length: 10\r\nContent-Length: 11",
        "Content-Length: " + "9" * 60, "Content-Length: ١", "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Expect: 100-continue", "Upgrade: websocket\r\nConnection: Upgrade", "Upgrade: h2c", "Cookie: " + "x" * 20_000,
        "Cookie: foretell=\xff; foretell=" + "y" * 300, "X: " + "z" * 100_000, "X" * 3_000 + ": 1", "no colon",
        " folded",
        "Last-Event-ID: " + "9" * 50, "Origin: http://evil.example", "X-Foretell-Token: ", "X-Foretell-Token: \xff",
        "\x00: 1",
        "Content-Type: application/json", "Content-Type: " + ";" * 1_000, *[f"X-{n}: {n}" for n in range(3)],
    )  # fmt: skip
    chosen = "\r\n".join(chance.choice(odd) for _ in range(chance.choice((1, 2, 5, 150))))
    return _bytes(f"{chance.choice(METHODS[:3])} {_path(chance)} HTTP/1.1\r\n{chosen}\r\n\r\n") + chance.randbytes(20)


def truncated(chance: random.Random, site: Site) -> bytes:
    """The beginning of a request that would be right."""
    whole = asked(chance, site)
    return whole[: chance.randrange(len(whole))]


def questioned(chance: random.Random, site: Site) -> bytes:
    """A question of somebody who may look, for something odd."""
    return _head(site, "GET", _path(chance), "")


def asked(chance: random.Random, site: Site) -> bytes:
    """A body that is none, or has wrong fields, on a right path with a right token."""
    some = chance.randrange(6)
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: chance.randbytes(chance.choice((0, 5, 500))),
        lambda: b"[" * chance.choice((1, 1_000, 90_000)),
        lambda: json.dumps({**SUBSCRIBING, "query": "(" * chance.choice((10, 100_000))}).encode(),
        lambda: json.dumps(_value(chance, 0)).encode(),
        lambda: json.dumps({name: _value(chance, 0) for name in chance.sample(FIELDS, some)}).encode(),
        lambda: json.dumps({name: chance.choice(WORDS) for name in chance.sample(FIELDS, some)}).encode(),
        lambda: b"\xff\xfe" + chance.randbytes(40),
        lambda: b"x" * 300_000,
    )
    body = chance.choice(kinds)()
    length = len(body) if chance.random() < 0.9 else chance.choice((0, len(body) + 50, 10**9))
    post = [each for each in PATHS if each.startswith("/api/") and each != "/api/sign-out"]
    more = f"Content-Type: application/json\r\nX-Foretell-Token: {site.token}\r\nContent-Length: {length}\r\n"
    return _head(site, "POST", chance.choice(post), more) + body


def _head(site: Site, method: str, path: str, more: str) -> bytes:
    cookie = f"Cookie: foretell={site.cookie}\r\n" if site.cookie else ""
    return _bytes(f"{method} {path} HTTP/1.1\r\nHost: {site.host}\r\n{cookie}{more}\r\n")


def _path(chance: random.Random) -> str:
    path = chance.choice(PATHS)
    for _ in range(chance.randrange(3)):
        path += chance.choice(("", "/")) + chance.choice(PARTS)
    return path


def _value(chance: random.Random, depth: int) -> Any:
    plain = (None, True, 0, -1, 2**70, 1e400, 0.5, "", "x" * 5_000, *WORDS)
    kind = chance.randrange(4 if depth < 3 else 1)
    if kind == 1:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 2:
        return {chance.choice(FIELDS): _value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return chance.choice(plain)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
