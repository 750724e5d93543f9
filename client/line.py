"""Law: the socket of a client, and what it says of its connection; nothing here waits but `poll`, nothing is decided.

A line is one connection: the broker knows a session by that. ZeroMQ would connect again by itself; a monitor tells when
the connection has ended, and with it the session, after what has come before was read. ZMQ_IMMEDIATE would tell, too,
but it drops what was received and not read. A request that waits in the socket and reaches a later broker does nothing
there, as it comes without a HELLO.
"""

from __future__ import annotations

from typing import Any, Final, final

import zmq
from zmq.utils.monitor import recv_monitor_message

from broker.wire import ENVELOPE_BYTES, FRAME_BYTES_MAX, PermissionDenied
from broker.wire.keys import Keys

from .errors import ConnectionLost, ProtocolError
from .session import Session

HEARTBEAT_MILLISECONDS: Final = 10_000
HEARTBEAT_TIMEOUT_MILLISECONDS: Final = 60_000
_RECEIVE_FRAMES_MAX: Final = 256
_LAST_MILLISECONDS: Final = 50

# As plain integers: to combine and compare enumerations costs as much as a message.
_NOBLOCK: Final = int(zmq.NOBLOCK)
_MORE: Final = int(zmq.RCVMORE)
_EVENTS: Final = int(zmq.EVENTS)
_READABLE: Final = int(zmq.POLLIN)

_ENDED: Final = int(zmq.EVENT_DISCONNECTED)
_RETRIED: Final = int(zmq.EVENT_CONNECT_RETRIED)
_REFUSED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
_FAILED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)


@final
class Line:
    """A DEALER and its monitor. Raises ConnectionLost for an address that cannot be one.

    `patient`: where nobody listens at the address, ZeroMQ tries again by itself; otherwise that is an end, too.
    """

    __slots__ = ("_address", "_context", "_monitor", "_poller", "_socket")

    def __init__(self, address: str, keys: Keys | None = None, patient: bool = True) -> None:
        self._address = address
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        self._monitor: zmq.Socket[bytes] = self._socket.get_monitor_socket(
            _ENDED | _REFUSED | _FAILED | (0 if patient else _RETRIED)
        )
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        options: dict[int, Any] = {
            zmq.LINGER: 0,
            zmq.MAXMSGSIZE: FRAME_BYTES_MAX + ENVELOPE_BYTES,
            zmq.HEARTBEAT_IVL: HEARTBEAT_MILLISECONDS,
            zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MILLISECONDS,
            zmq.IPV6: int("[" in address),
        }
        if keys is not None and keys.server is not None:
            options[zmq.CURVE_SERVERKEY] = keys.server.encode()
            options[zmq.CURVE_PUBLICKEY] = keys.public.encode()
            options[zmq.CURVE_SECRETKEY] = keys.secret.encode()
        try:
            for option, value in options.items():
                self._socket.setsockopt(option, value)
            self._socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            raise ConnectionLost(f"{address} is no address of a broker: {error.strerror or error}") from None

    @property
    def closed(self) -> bool:
        """Whether it was closed on this side."""
        return self._socket.closed

    @property
    def descriptors(self) -> tuple[int, int]:
        """What becomes readable when something may have come: an edge, after which `receive` is called until 0."""
        return int(self._socket.getsockopt(zmq.FD)), int(self._monitor.getsockopt(zmq.FD))

    def poll(self, seconds: float) -> None:
        """Wait until something has come, at most so long."""
        self._poller.poll(int(seconds * 1_000) + (seconds > 0))

    def poll_room(self, seconds: float) -> None:
        """Wait until something may be sent, at most so long."""
        self._socket.poll(int(seconds * 1_000) + 1, zmq.POLLOUT)

    def send(self, frame: bytes) -> bool:
        """Whether there was room."""
        if self._socket.closed:
            return False
        try:
            self._socket.send(frame, _NOBLOCK)
        except zmq.Again:
            return False
        return True

    def receive(self, session: Session) -> int:
        """Hand what has come to the session, and why there is nothing more to come; how many messages it was."""
        why = self._why_ended()
        if why is not None:
            self._socket.poll(_LAST_MILLISECONDS)  # what came last may be handed over just after the event
        # A window for each subscription at most is on its way, so that this ends; but notice what other calls wait for.
        frames_max = None if why is not None else _RECEIVE_FRAMES_MAX
        received = 0
        while received != frames_max:
            try:
                frame = self._socket.recv(_NOBLOCK)
            except zmq.Again:
                break
            received += 1
            if self._socket.getsockopt(_MORE):
                session.lose(ProtocolError("expected a message of one frame, found several"))
                break
            session.receive(frame)
        if why is not None:
            session.lose(why)
        return received

    def close(self) -> None:
        """Close at once. Does nothing the second time."""
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._socket.close(0)
            self._context.term()

    def _why_ended(self) -> ConnectionLost | PermissionDenied | None:
        why: ConnectionLost | PermissionDenied | None = None
        while int(self._monitor.getsockopt(_EVENTS)) & _READABLE:
            event = int(recv_monitor_message(self._monitor)["event"])
            if event & _REFUSED:
                return PermissionDenied(f"the broker at {self._address} does not know the key of this client")
            if event & _FAILED:
                why = ConnectionLost(
                    f"{self._address} did not finish the handshake: is it a broker, and do both ends use keys, "
                    "and this one the broker's?"
                )
            elif why is None and event & _RETRIED:
                why = ConnectionLost(f"no broker answers at {self._address}")
            elif why is None:
                why = ConnectionLost(f"the connection to the broker at {self._address} has ended: connect again")
        return why
