"""Answers libzmq's question, for each handshake, whether the client may connect: by the list of allowed keys.

Without keys every client may connect, within a rate. libzmq asks on an inproc socket of the context, with the key that
the handshake has proved. The server's socket enforces its domain, so that without an answer every client is refused.
(Without an enforced domain libzmq would accept every key if nothing answers.) The answer names the key as the user's
id, which each later message of the connection carries. It identifies the client; the routing id does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container
from typing import Final, final

import zmq
from zmq.utils import z85

from .rates import AT_ONCE, PER_SECOND, Rates

DOMAIN: Final = b"foretell"

_ENDPOINT: Final = "inproc://zeromq.zap.01"
_VERSION: Final = b"1.0"
_REQUEST_FRAMES: Final = 7
_ADDRESS: Final = 3
_KEY_BYTES: Final = 32


@final
class Authenticator:
    """The socket that libzmq asks. It must exist before the server's socket is bound; the loop's thread uses it."""

    __slots__ = ("_rates", "admitted", "allowed", "denied", "postponed", "socket")

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        allowed: Container[str] | None,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`allowed`: public keys; None: without keys. `at_once`: as in Rates.

        `admitted`, `denied`, `postponed`: counts of handshakes.
        """
        self.allowed = allowed
        self.admitted = self.denied = self.postponed = 0
        self._rates = Rates(clock, at_once)
        self.socket: zmq.Socket[bytes] = context.socket(zmq.ROUTER)
        self.socket.linger = 0
        self.socket.bind(_ENDPOINT)

    def answer(self) -> list[str]:
        """Answer all waiting questions; the reasons of refusals, for the log."""
        refused: list[str] = []
        while True:
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return refused
            at = frames.index(b"") + 1 if b"" in frames else len(frames)
            reply, reason = answered(frames[at:], self.allowed)
            if reason:
                self.denied += 1
                refused.append(reason)
            elif self._rates.admit(_shown(frames[at + _ADDRESS])):
                self.admitted += 1
            else:
                reply = _reply(reply[1], b"300", "too many connections")  # libzmq tries again after a code of 300
                self.postponed += 1
                refused.append(f"{_shown(frames[at + _ADDRESS])}: more connections than {PER_SECOND} a second")
            self.socket.send_multipart([*frames[:at], *reply], zmq.NOBLOCK)

    def close(self) -> None:
        """Close; from now on every client is refused."""
        self.socket.close(0)


def answered(request: list[bytes], allowed: Container[str] | None) -> tuple[list[bytes], str]:
    """The reply to one ZAP request, and the reason if it is a refusal. `allowed`: as in Authenticator."""
    number = request[1] if len(request) > 1 else b""
    if len(request) < _REQUEST_FRAMES - 1 or request[0] != _VERSION:
        return _reply(number, b"400", "expected a request of ZAP 1.0"), "a request that is not ZAP 1.0"
    domain, address, mechanism = request[2], _shown(request[3]), request[5]
    if domain != DOMAIN:
        return _reply(number, b"400", "expected another domain"), f"{address}: another domain"
    if allowed is None:
        if mechanism != b"NULL" or len(request) != _REQUEST_FRAMES - 1:
            return _reply(number, b"400", "expected no keys"), f"{address}: another mechanism than NULL"
        return _reply(number, b"200", "OK"), ""
    if mechanism != b"CURVE" or len(request) != _REQUEST_FRAMES or len(request[6]) != _KEY_BYTES:
        return _reply(number, b"400", "expected CURVE"), f"{address}: no CURVE key"
    key = z85.encode(request[6]).decode()
    if key not in allowed:
        return _reply(number, b"400", "unknown key"), f"{address}: the unknown key {key}"
    return _reply(number, b"200", "OK", key), ""


def _reply(number: bytes, status: bytes, text: str, user: str = "") -> list[bytes]:
    return [_VERSION, number, status, text.encode(), user.encode(), b""]


def _shown(address: bytes) -> str:
    return address[:64].decode("ascii", "replace")
