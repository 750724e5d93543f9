"""The ROUTER socket: opens, reads and writes it without ever waiting. It moves bytes and does not decode them.

ROUTER_MANDATORY makes ROUTER report at once a message that cannot be sent; by default it would drop it silently.

Messages for a slow peer wait in an outbox here, in order. A peer whose outbox exceeds OUTBOX_BYTES_MAX is dropped, and
so is the one with the largest outbox if all together exceed OUTBOXES_BYTES_MAX. Its connection is then ended, which
frees what libzmq holds for it. Honest clients stay far below these limits: notifications need credits, and every other
message answers a request.

With keys, each message comes with the public key that its connection has proved, which identifies the sender. The
routing id only says where answers go; security/routing_ids.py explains why a peer must not choose one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, KeysView
from typing import Final, final

import zmq

from ..events import DefinitionError
from ..wire import ENVELOPE_BYTES, FRAME_BYTES_MAX
from ..wire.keys import Keys
from .connections import SILENT_CONNECTIONS_MAX, Connections
from .security import DOMAIN, Assigned, Authenticator, check_strangers_fail, scatter
from .security.rates import AT_ONCE

HIGH_WATER_MESSAGES: Final = 1_000
HANDSHAKE_MILLISECONDS_MAX: Final = 1_000
"""A connection that has not finished the ZeroMQ handshake by then is closed; libzmq's default is 30 s."""
BACKLOG_CONNECTIONS: Final = 1_024
HEARTBEAT_MILLISECONDS: Final = 30_000
HEARTBEAT_TIMEOUT_MILLISECONDS: Final = 600_000
"""A peer whose machine does not answer for so long is disconnected. It is long because a stopped process (in a
debugger, on a suspended laptop) must not lose its notifications. A process that ends is noticed at once by its closed
connection."""
OUTBOX_BYTES_MAX: Final = 64 * 1024 * 1024
OUTBOXES_BYTES_MAX: Final = 256 * 1024 * 1024
_IDENTITY: Final = "User-Id"
_DESCRIPTOR: Final = int(zmq.SRCFD)
# Plain integers, because combining and comparing enumerations costs as much as a message.
_NOBLOCK: Final = int(zmq.NOBLOCK)
_FIRST: Final = int(zmq.NOBLOCK | zmq.SNDMORE)
_MORE: Final = int(zmq.RCVMORE)


@final
class Router:
    """The ROUTER socket with its own ZeroMQ context. Not thread-safe, as no ZeroMQ socket is."""

    __slots__ = (
        "_assigned", "_context", "_given_up", "_keyed", "_outbox_bytes", "_outboxes", "_outboxes_bytes", "_sizes",
        "_waiting_bytes", "authenticator", "connections", "socket",
    )  # fmt: skip

    def __init__(
        self,
        address: str,
        keys: Keys | None = None,
        allowed: Container[str] = (),
        io_threads: int = 1,
        sessions: int = 0,
        outbox_bytes: int = OUTBOX_BYTES_MAX,
        outboxes_bytes: int = OUTBOXES_BYTES_MAX,
    ) -> None:
        """Listen; with `keys` only to clients whose public key is in `allowed`, which is tested first.

        Clients are admitted only while `authenticator` answers. libzmq spreads connections over `io_threads`. At least
        `sessions` clients may connect at once. Raises DefinitionError if the address cannot be used, or if the test
        shows that strangers are not refused.
        """
        scatter()
        self._context = zmq.Context(io_threads)
        self.authenticator: Final = Authenticator(
            self._context, None if keys is None else allowed, max(AT_ONCE, 2 * sessions)
        )
        self._keyed: Final = keys is not None
        self._outboxes: dict[bytes, deque[bytes]] = {}
        self._sizes: dict[bytes, int] = {}
        self._waiting_bytes = 0
        self._outbox_bytes: Final = outbox_bytes
        self._outboxes_bytes: Final = outboxes_bytes
        self._given_up: list[bytes] = []
        self.socket: zmq.Socket[bytes] = self._context.socket(zmq.ROUTER)
        self._assigned: Final = Assigned(self._context, self.socket)
        self.connections: Final = Connections(self._context, self.socket, max(SILENT_CONNECTIONS_MAX, sessions))
        options: dict[int, int | bytes] = {
            zmq.ROUTER_MANDATORY: 1,
            zmq.LINGER: 0,
            zmq.SNDHWM: HIGH_WATER_MESSAGES,
            zmq.RCVHWM: HIGH_WATER_MESSAGES,
            zmq.MAXMSGSIZE: FRAME_BYTES_MAX + ENVELOPE_BYTES,
            zmq.HANDSHAKE_IVL: HANDSHAKE_MILLISECONDS_MAX,
            zmq.BACKLOG: BACKLOG_CONNECTIONS,
            zmq.HEARTBEAT_IVL: HEARTBEAT_MILLISECONDS,
            zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MILLISECONDS,
            zmq.IPV6: int("[" in address),
            zmq.ZAP_DOMAIN: DOMAIN,
            zmq.ZAP_ENFORCE_DOMAIN: 1,  # without an answer by the authenticator every client is refused
        }
        secrets = {} if keys is None else _curve(keys)
        try:
            for option, value in (options | secrets).items():
                self.socket.setsockopt(option, value)
            self.socket.bind(address)
        except zmq.ZMQError as error:
            self.close(0)
            if error.errno == zmq.EADDRINUSE:
                raise DefinitionError(f"address {address}: the port is in use already") from None
            raise DefinitionError(f"address {address}: {error.strerror or error}") from None
        if keys is not None:
            try:
                check_strangers_fail(self.endpoint, keys.public, self.authenticator.answer)
                self.authenticator.denied = 0  # do not count the test's clients
            except BaseException:
                self.close(0)
                raise

    @property
    def endpoint(self) -> str:
        """The address with the actual port."""
        return self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    @property
    def waiting(self) -> bool:
        """Whether messages wait in outboxes."""
        return bool(self._outboxes)

    @property
    def full(self) -> KeysView[bytes]:
        """The peers with messages in outboxes."""
        return self._outboxes.keys()

    def receive(self) -> tuple[bytes, str, list[bytes]] | None:
        """The next message, as its session, the key of its sender and its frames; None if there is none."""
        try:
            if not self._keyed:
                receive = self.socket.recv
                session = receive(_NOBLOCK)
                if not self.connections.knows(session):
                    first = receive(_NOBLOCK, copy=False)
                    self.connections.heard(session, first.get(_DESCRIPTOR))
                    frames = [first.bytes]
                else:
                    frames = [receive(_NOBLOCK)]  # a ROUTER puts the routing id before the sent frames
                while self.socket.getsockopt(_MORE):
                    frames.append(receive(_NOBLOCK))
                return session, "", frames
            parts = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None
        session, *frames = [part.bytes for part in parts]
        if not self.connections.knows(session):
            self.connections.heard(session, parts[-1].get(_DESCRIPTOR))
        return session, str(parts[-1].get(_IDENTITY)), frames

    def assigned(self, session: bytes) -> bool:
        """Whether libzmq assigned this routing id; otherwise its peer chose it."""
        return self._assigned.holds(session, self.authenticator.admitted)

    def send(self, session: bytes, frame: bytes) -> bool:
        """Send or queue a message; False if the peer is gone or was dropped."""
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
        self._waiting_bytes += len(frame)
        if self._sizes[session] > self._outbox_bytes:
            self.give_up(session)
            return False
        if self._waiting_bytes > self._outboxes_bytes:
            longest = max(self._sizes, key=self._sizes.__getitem__)
            self.give_up(longest)
            if longest == session:
                return False
            self._given_up.append(longest)
        return True

    def give_up(self, session: bytes) -> None:
        """Drop a session's outbox, and end its connection."""
        self.forget(session)
        self.connections.end(session)

    def probe(self, session: bytes, frame: bytes) -> bool:
        """Send if there is room; False if the peer is gone. A full peer counts as present."""
        return session in self._outboxes or self._attempt(session, frame) is not False

    def retry(self) -> list[bytes]:
        """Try again to send the outboxes; the sessions that are gone."""
        gone, self._given_up = self._given_up, []
        if self._outboxes:
            self.connections.attend()
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
                size = len(outbox.popleft())
                self._sizes[session] -= size
                self._waiting_bytes -= size
            if not outbox:
                self.forget(session)
        return gone

    def forget(self, session: bytes) -> None:
        """Drop a session's outbox."""
        self._outboxes.pop(session, None)
        self._waiting_bytes -= self._sizes.pop(session, 0)

    def close(self, linger_milliseconds: int) -> None:
        """Close; libzmq may send remaining messages for so long, or until a signal. Does nothing the second time."""
        if not self.socket.closed:
            self.socket.close(linger_milliseconds)
            self.connections.close()
            self.authenticator.close()
            self._context.term()

    def _attempt(self, session: bytes, frame: bytes) -> bool | None:
        """Whether it was sent, None if the peer is full."""
        if not self.connections.has_room(session):
            return None
        try:
            # Only the first frame can be refused: once it was sent, the second one is accepted.
            self.socket.send(session, _FIRST)
            self.socket.send(frame, _NOBLOCK)
        except zmq.Again:
            return None
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return False
            raise
        self.connections.handed(session, len(frame))
        return True


def _curve(keys: Keys) -> dict[int, int | bytes]:
    return {
        zmq.CURVE_SERVER: 1,
        zmq.CURVE_PUBLICKEY: keys.public.encode(),
        zmq.CURVE_SECRETKEY: keys.secret.encode(),
    }
