"""Tracks the TCP connections below the router's socket, counts the bytes in flight on each, and ends connections.

libzmq has no call that ends a connection, and keeps messages for a peer until the peer takes them or disconnects. So
this module shuts down the TCP socket itself; libzmq notices, and frees all that it holds. A monitor reports which
descriptors were accepted and closed, and each message carries that of its connection. A descriptor's number may belong
to another connection by the time it is used, so it is duplicated first, and the peer's address compared.

Bytes in flight were handed to libzmq and not acknowledged by the peer's system. libzmq takes a thousand messages for
each peer, however large; the limit here is IN_FLIGHT_BYTES_MAX. The framing that libzmq adds is not counted, so more
bytes may be acknowledged than were counted; the count then catches up, and errors do not accumulate.

An honest client begins a session soon after it has connected. A connection without a session is ended after
SILENT_SECONDS_MAX. With more than SILENT_CONNECTIONS_MAX of them, the address with the most loses its oldest.
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

IN_FLIGHT_BYTES_MAX: Final = 4 * 1024 * 1024
"""The limit for one peer. It is enough for a fast and distant one, which is checked every hundredth of a second."""

SILENT_SECONDS_MAX: Final = 10
"""Measured in ticks of the loop: a tick counts as one second, however long the loop was busy."""

SILENT_CONNECTIONS_MAX: Final = 1_000
"""Connections without a session. The limit is at least the number of sessions, which may all begin at once."""

_ENDPOINT: Final = "inproc://foretell.connections"
_ACCEPTED, _DISCONNECTED = int(zmq.EVENT_ACCEPTED), int(zmq.EVENT_DISCONNECTED)
_EVENT: Final = Struct("=Hi")
_NOBLOCK: Final = int(zmq.NOBLOCK)
_TCP_INFO: Final = getattr(sockets, "TCP_INFO", None)
_TCP_INFO_BYTES: Final = 256
_ACKNOWLEDGED: Final = Struct("=120xQ")
"""`tcpi_bytes_acked` of Linux's `struct tcp_info`: bytes that the peer's system has acknowledged."""
_HEAD_BYTES: Final = 2


@final
class _Connection:
    """A connection. `silent`: for how many seconds it has had no session. `handed`: bytes given to libzmq; `taken`:
    bytes acknowledged by the peer's system when that was last checked.
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

    __slots__ = ("_connections", "_gone", "_sessions", "_silent_max", "ended", "events")

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        socket: zmq.Socket[bytes],
        silent_max: int = SILENT_CONNECTIONS_MAX,
    ) -> None:
        """Must be constructed before the socket listens. `ended`: how many silent connections were ended; `events`:
        readable when there is something to `attend` to.
        """
        self._silent_max = silent_max
        self._connections: dict[int, _Connection] = {}
        self._sessions: dict[bytes, _Connection] = {}
        self._gone: list[bytes] = []
        self.ended = 0
        socket.monitor(_ENDPOINT, _ACCEPTED | _DISCONNECTED)
        self.events: zmq.Socket[bytes] = context.socket(zmq.PAIR)
        self.events.linger = 0
        self.events.rcvhwm = 0  # with a limit, libzmq's I/O threads would wait for the loop
        self.events.connect(_ENDPOINT)

    def attend(self) -> None:
        """Process all events of the monitor, without waiting."""
        while True:
            try:
                event, descriptor = _EVENT.unpack(self.events.recv_multipart(_NOBLOCK)[0])
            except zmq.Again:
                return
            before = self._connections.pop(descriptor, None)
            if before is not None and before.session is not None:
                del self._sessions[before.session]
                self._gone.append(before.session)
            if event == _ACCEPTED:
                self._connections[descriptor] = _Connection(descriptor)

    def gone(self) -> list[bytes]:
        """The sessions whose connections have ended, each once. What they have sent may still wait to be read."""
        gone, self._gone = self._gone, []
        return gone

    def knows(self, session: bytes) -> bool:
        """Whether the session has sent a message and its connection still exists."""
        return session in self._sessions

    def heard(self, session: bytes, descriptor: int) -> None:
        """Note the descriptor over which the first message of a session came."""
        self.attend()
        connection = self._connections.get(descriptor)
        if connection is None or connection.session is not None:
            return  # the connection has ended already, and the number may belong to another one
        connection.session = session
        connection.peer = connection.peer or _peer(descriptor)
        self._sessions[session] = connection

    # ---- bytes in flight ----

    def handed(self, session: bytes, size: int) -> None:
        """Count a message of `size` bytes that was given to libzmq."""
        connection = self._sessions.get(session)
        if connection is not None:
            connection.handed += size + _HEAD_BYTES

    def has_room(self, session: bytes) -> bool:
        """Whether libzmq may get more messages. Asks the system at most once per IN_FLIGHT_BYTES_MAX; else O(1)."""
        connection = self._sessions.get(session)
        if connection is None or connection.handed - connection.taken < IN_FLIGHT_BYTES_MAX:
            return True
        taken = self._acknowledged(connection)
        if taken is None:
            return True
        connection.taken = taken
        connection.handed = max(connection.handed, taken)
        return connection.handed - taken < IN_FLIGHT_BYTES_MAX

    def _acknowledged(self, connection: _Connection) -> int | None:
        """The bytes acknowledged so far; None if the system does not report them."""
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
        """End the connection of a session, if it is known; libzmq frees all that it holds for it."""
        connection = self._sessions.get(session)
        if connection is not None:
            _shut(connection)

    def tick(self, served: Callable[[bytes], bool]) -> None:
        """End connections without a session; called once a second. `served`: whether the broker has this session."""
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
        """Stop monitoring."""
        self.events.close(0)


def _crowding(silent: list[_Connection], count: int) -> Iterator[_Connection]:
    """Choose `count` of them: each time the oldest of the address with the most. O(n log n)."""
    waiting: dict[str, list[_Connection]] = {}
    for connection in reversed(silent):  # they are sorted by arrival
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
    """A duplicate of the connection's socket; None if the connection has ended."""
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
