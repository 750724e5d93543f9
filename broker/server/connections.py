"""Tracks the TCP connections below the router's socket, counts the bytes under way on each, and ends them.

libzmq has no call that ends a connection, and keeps what was sent to a peer until that takes it or goes. So it is ended
from below: its TCP socket is shut down, libzmq notices and frees all that it holds. A monitor tells which descriptors
were accepted and closed, and each message bears that of its connection. A number may be another connection's by the
time it is used: it is duplicated first, and the peer's address compared.

Under way is what was handed to libzmq and the peer's system has not acknowledged. libzmq takes a thousand messages for
each peer, however large; here UNDER_WAY_BYTES_MAX is the most. What it adds to a message is counted too low, so that
the difference is never too large for long: where more was acknowledged than counted, the count catches up.

A connection over which nobody has a session is of no use to anybody honest for long. It is ended after
SILENT_SECONDS_MAX; where there are more than SILENT_CONNECTIONS_MAX, the address with the most loses its oldest.
"""

from __future__ import annotations

import os
import socket as sockets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from heapq import heapify, heapreplace
from struct import Struct, error
from typing import Any, Final, final

import zmq

UNDER_WAY_BYTES_MAX: Final = 4 * 1024 * 1024
"""To one peer: enough for a fast one that is far away, as a hundredth of a second lies between two looks."""

SILENT_SECONDS_MAX: Final = 10
"""As the loop counts seconds: however long it was busy, that was one."""

SILENT_CONNECTIONS_MAX: Final = 1_000
"""Or as many as there may be sessions, all of which may come at once."""

_ENDPOINT: Final = "inproc://foretell.connections"
_ACCEPTED, _DISCONNECTED = int(zmq.EVENT_ACCEPTED), int(zmq.EVENT_DISCONNECTED)
_EVENT: Final = Struct("=Hi")
_NOBLOCK: Final = int(zmq.NOBLOCK)
_TCP_INFO: Final = getattr(sockets, "TCP_INFO", None)
_TCP_INFO_BYTES: Final = 256
_ACKNOWLEDGED: Final = Struct("=120xQ")
"""`tcpi_bytes_acked` of Linux's `struct tcp_info`: what the peer's system has taken since the connection began."""
_HEAD_BYTES: Final = 2


@final
class _Connection:
    """`silent`: for how many seconds nobody has had a session over it. `handed`, `taken`: bytes, to libzmq and by the
    peer's system when that was last looked at.
    """

    __slots__ = ("descriptor", "handed", "peer", "session", "silent", "taken")

    def __init__(self, descriptor: int) -> None:
        self.descriptor: Final = descriptor
        self.peer: Any = None
        self.session: bytes | None = None
        self.silent = self.handed = self.taken = 0


@final
class Connections:
    """Belongs to the thread of its router. O(1) for each event and message, O(connections) each second."""

    __slots__ = ("_connections", "_events", "_sessions", "_silent_max", "ended")

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        socket: zmq.Socket[bytes],
        silent_max: int = SILENT_CONNECTIONS_MAX,
    ) -> None:
        """To be made before the socket listens. `ended`: how many silent ones were ended."""
        self._silent_max = silent_max
        self._connections: dict[int, _Connection] = {}
        self._sessions: dict[bytes, _Connection] = {}
        self.ended = 0
        socket.monitor(_ENDPOINT, _ACCEPTED | _DISCONNECTED)
        self._events: zmq.Socket[bytes] = context.socket(zmq.PAIR)
        self._events.linger = 0
        self._events.rcvhwm = 0  # or the threads that read and write connections would wait for the loop
        self._events.connect(_ENDPOINT)

    def attend(self) -> None:
        """Take note of all that has happened, without waiting."""
        while True:
            try:
                event, descriptor = _EVENT.unpack(self._events.recv_multipart(_NOBLOCK)[0])
            except zmq.Again:
                return
            before = self._connections.pop(descriptor, None)
            if before is not None and before.session is not None:
                del self._sessions[before.session]
            if event == _ACCEPTED:
                self._connections[descriptor] = _Connection(descriptor)

    def knows(self, session: bytes) -> bool:
        """Whether it was `heard`, and its connection has not ended."""
        return session in self._sessions

    def heard(self, session: bytes, descriptor: int) -> None:
        """The first message of a session came over this descriptor."""
        self.attend()
        connection = self._connections.get(descriptor)
        if connection is None or connection.session is not None:
            return  # it has ended already, and the number may be another one's
        connection.session = session
        connection.peer = connection.peer or _peer(descriptor)
        self._sessions[session] = connection

    # ---- what is under way ----

    def handed(self, session: bytes, size: int) -> None:
        """A message of so many bytes was given to libzmq."""
        connection = self._sessions.get(session)
        if connection is not None:
            connection.handed += size + _HEAD_BYTES

    def has_room(self, session: bytes) -> bool:
        """Whether more may be given to libzmq. Asks the system after each UNDER_WAY_BYTES_MAX at most, else O(1)."""
        connection = self._sessions.get(session)
        if connection is None or connection.handed - connection.taken < UNDER_WAY_BYTES_MAX:
            return True
        taken = self._acknowledged(connection)
        if taken is None:
            return True
        connection.taken = taken
        connection.handed = max(connection.handed, taken)
        return connection.handed - taken < UNDER_WAY_BYTES_MAX

    def _acknowledged(self, connection: _Connection) -> int | None:
        """None where the system does not say."""
        if _TCP_INFO is None:
            return None
        with _held(connection) as held:
            try:
                if held is None:
                    return None
                found = held.getsockopt(sockets.IPPROTO_TCP, _TCP_INFO, _TCP_INFO_BYTES)
                taken: int = _ACKNOWLEDGED.unpack_from(found)[0]
            except (OSError, error):
                return None
        return taken

    # ---- ending ----

    def end(self, session: bytes) -> None:
        """End the connection of this session, if it is known; what libzmq held for it is freed."""
        connection = self._sessions.get(session)
        if connection is not None:
            _shut(connection)

    def tick(self, served: Callable[[bytes], bool]) -> None:
        """Once a second: end what has been silent for too long. `served`: whether this is a session of the broker's."""
        self.attend()
        silent: list[_Connection] = []
        for connection in self._connections.values():
            if connection.session is not None and served(connection.session):
                connection.silent = 0
                continue
            connection.silent += 1
            connection.peer = connection.peer or _peer(connection.descriptor)
            silent.append(connection)
        over = [each for each in silent if each.silent > SILENT_SECONDS_MAX]
        rest = [each for each in silent if each.silent <= SILENT_SECONDS_MAX]
        for connection in (*over, *_crowding(rest, len(rest) - self._silent_max)):
            self.ended += 1
            _shut(connection)

    def close(self) -> None:
        """Nothing is told any more."""
        self._events.close(0)


def _crowding(silent: list[_Connection], count: int) -> Iterator[_Connection]:
    """So many of them: the oldest of whatever address has the most. O(n log n)."""
    waiting: dict[str, list[_Connection]] = {}
    for connection in reversed(silent):  # which are in the order in which they came
        peer = connection.peer
        waiting.setdefault(str(peer[0]) if isinstance(peer, tuple) else "", []).append(connection)
    shares = [(-len(each), host) for host, each in waiting.items()]
    heapify(shares)
    for _ in range(count):
        share, host = shares[0]
        yield waiting[host].pop()
        heapreplace(shares, (share + 1, host))


def _shut(connection: _Connection) -> None:
    with _held(connection) as held, suppress(OSError):
        if held is not None:
            held.shutdown(sockets.SHUT_RDWR)


@contextmanager
def _held(connection: _Connection) -> Iterator[sockets.socket | None]:
    """Its socket under another number, which stays its; None if it is not there any more."""
    held: sockets.socket | None = None
    there = False
    with suppress(OSError):
        held = sockets.socket(fileno=os.dup(connection.descriptor))
        there = connection.peer is not None and held.getpeername() == connection.peer
    try:
        yield held if there else None
    finally:
        if held is not None:
            held.close()


def _peer(descriptor: int) -> Any:
    try:
        with sockets.socket(fileno=os.dup(descriptor)) as held:
            return held.getpeername()
    except OSError:
        return None
