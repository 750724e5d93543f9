"""Law: the one socket: how it is opened, read and written without ever waiting. Bytes only; what they say is not known.

ROUTER with ROUTER_MANDATORY: a message that cannot be sent is told at once, where the default would drop it in silence.
A peer that does not take its messages gets them from a queue here, in order; one whose queue grows over
OUTBOX_BYTES_MAX is given up. Honest clients stay far below: notifications only go out against credits, and each further
message answers a request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import KeysView
from typing import Final, final

import zmq

from ..events import DefinitionError
from ..wire import FRAME_BYTES_MAX

HIGH_WATER_MESSAGES: Final = 1_000
HANDSHAKE_MILLISECONDS_MAX: Final = 1_000
"""A connection that is no ZeroMQ peer by then is closed; libzmq's default is 30 s."""
BACKLOG_CONNECTIONS: Final = 1_024
HEARTBEAT_MILLISECONDS: Final = 30_000
HEARTBEAT_TIMEOUT_MILLISECONDS: Final = 600_000
"""A peer whose machine does not answer for so long is cut off. Long, because a stopped process (a debugger, a suspended
laptop) must not lose its notifications; one that has ended is noticed at once, as its connection is closed."""
OUTBOX_BYTES_MAX: Final = 64 * 1024 * 1024


@final
class Router:
    """Owns its ZeroMQ context. Not thread-safe, as no ZeroMQ socket is."""

    __slots__ = ("_context", "_outboxes", "_sizes", "socket")

    def __init__(self, address: str) -> None:
        """Listen. Raises DefinitionError where the address cannot be had."""
        self._context = zmq.Context()
        self._outboxes: dict[bytes, deque[bytes]] = {}
        self._sizes: dict[bytes, int] = {}
        self.socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        options = {
            zmq.ROUTER_MANDATORY: 1,
            zmq.LINGER: 0,
            zmq.SNDHWM: HIGH_WATER_MESSAGES,
            zmq.RCVHWM: HIGH_WATER_MESSAGES,
            zmq.MAXMSGSIZE: FRAME_BYTES_MAX,
            zmq.HANDSHAKE_IVL: HANDSHAKE_MILLISECONDS_MAX,
            zmq.BACKLOG: BACKLOG_CONNECTIONS,
            zmq.HEARTBEAT_IVL: HEARTBEAT_MILLISECONDS,
            zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MILLISECONDS,
            zmq.IPV6: int("[" in address),
        }
        try:
            for option, value in options.items():
                self.socket.setsockopt(option, value)
            self.socket.bind(address)
        except zmq.ZMQError as error:
            self.close(0)
            if error.errno == zmq.EADDRINUSE:
                raise DefinitionError(f"address {address}: the port is in use already") from None
            raise DefinitionError(f"address {address}: {error.strerror or error}") from None

    @property
    def endpoint(self) -> str:
        """The address with the port that was taken."""
        return self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    @property
    def waiting(self) -> bool:
        """Whether messages wait for peers that do not take them."""
        return bool(self._outboxes)

    @property
    def full(self) -> KeysView[bytes]:
        """The peers for which messages wait."""
        return self._outboxes.keys()

    def receive(self) -> tuple[bytes, list[bytes]] | None:
        """The next message, as its session and its frames; None if there is none."""
        try:
            session, *frames = self.socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None
        return session, frames

    def send(self, session: bytes, frame: bytes) -> bool:
        """Send or queue; False if the peer is gone or was given up."""
        outbox = self._outboxes.get(session)
        if outbox is None:
            match self._attempt(session, frame):
                case True:
                    return True
                case False:
                    return False
            outbox = self._outboxes[session] = deque()
            self._sizes[session] = 0
        outbox.append(frame)
        self._sizes[session] += len(frame)
        if self._sizes[session] > OUTBOX_BYTES_MAX:
            self.forget(session)
            return False
        return True

    def probe(self, session: bytes, frame: bytes) -> bool:
        """Send if there is room; False if the peer is gone. A full peer is there."""
        return session in self._outboxes or self._attempt(session, frame) is not False

    def retry(self) -> list[bytes]:
        """Try again to send what waits; the sessions that are gone."""
        gone: list[bytes] = []
        for session in list(self._outboxes):
            outbox = self._outboxes[session]
            while outbox:
                sent = self._attempt(session, outbox[0])
                if sent is None:
                    break
                if not sent:
                    gone.append(session)
                    outbox.clear()
                    break
                self._sizes[session] -= len(outbox.popleft())
            if not outbox:
                self.forget(session)
        return gone

    def forget(self, session: bytes) -> None:
        """Drop what waits for this session."""
        self._outboxes.pop(session, None)
        self._sizes.pop(session, None)

    def close(self, linger_milliseconds: int) -> None:
        """Close; what libzmq holds may still go out for so long, or until a signal. Does nothing the second time."""
        if not self.socket.closed:
            self.socket.close(linger_milliseconds)
            self._context.term()

    def _attempt(self, session: bytes, frame: bytes) -> bool | None:
        """Whether it was sent, None if the peer is full."""
        try:
            self.socket.send_multipart((session, frame), zmq.NOBLOCK)
        except zmq.Again:
            return None
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return False
            raise
        return True
