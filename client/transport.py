"""The socket of a client and the events of its connection. It decides nothing.

A transport is one connection, by which the broker identifies a session. ZeroMQ would reconnect by itself. A monitor
reports when the connection ends, and with it the session, after all received messages were read. ZMQ_IMMEDIATE would
report that too, but it drops messages that were received and not read. A request that waits in the socket and reaches a
later broker has no effect there, because no HELLO precedes it.

ZeroMQ reports the end of a connection just before it hands over the last messages, and then a retry as it starts to
reconnect. By then all messages are readable. So the transport waits for the retry, which follows within microseconds,
and not for a fixed time: a thousand clients of one loop could not afford that.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Final, final

import zmq
from zmq.utils.monitor import parse_monitor_message

from broker.wire import ENVELOPE_BYTES, FRAME_BYTES_MAX, PermissionDenied
from broker.wire.keys import Keys

from .contexts import shared_context
from .errors import ConnectionLost, ProtocolError
from .session import Session

HEARTBEAT_MILLISECONDS: Final = 10_000
HEARTBEAT_TIMEOUT_MILLISECONDS: Final = 60_000
RECEIVE_FRAMES_MAX: Final = 256
_RETRY_MILLISECONDS_MAX: Final = 1_000
"""Where the other end violates the protocol, ZeroMQ gives up the connection without a retry; the wait ends then."""

_NOBLOCK: Final = int(zmq.NOBLOCK)
"""A plain integer, because combining and comparing enumerations costs as much as a message."""

_ENDED: Final = int(zmq.EVENT_DISCONNECTED)
_RETRIED: Final = int(zmq.EVENT_CONNECT_RETRIED)
_REFUSED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
_FAILED: Final = int(zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
_NUMBERS: Final = count()


def _invalid(address: str, error: zmq.ZMQError) -> str:
    if "://" not in address and ":" in address:
        return f"expected an address such as tcp://127.0.0.1:5570, found {address!r}; did you mean 'tcp://{address}'?"
    why = error.strerror or error
    return f"expected the address of a broker, such as tcp://127.0.0.1:5570, found {address!r}: {why}"


@final
class Transport:
    """A DEALER socket and its monitor. Raises ConnectionLost for an invalid address.

    `patient`: if nobody listens at the address, ZeroMQ tries again by itself; otherwise the connection ends.
    """

    __slots__ = ("_address", "_monitor", "_patient", "_poller", "_shared", "_socket")

    def __init__(self, address: str, keys: Keys | None = None, patient: bool = True) -> None:
        self._address = address
        self._patient = patient
        self._shared = shared_context()
        try:
            self._socket: zmq.Socket[bytes] = self._shared.context.socket(zmq.DEALER)
            try:
                self._monitor: zmq.Socket[bytes] = self._socket.get_monitor_socket(
                    _ENDED | _RETRIED | _REFUSED | _FAILED, f"inproc://line-{next(_NUMBERS)}"
                )
            except zmq.ZMQError:
                self._socket.close(0)
                raise
        except zmq.ZMQError as error:
            self._shared.release()
            raise ConnectionLost(f"{address}: cannot open a socket: {error.strerror or error}") from None
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
            raise ConnectionLost(_invalid(address, error)) from None

    @property
    def closed(self) -> bool:
        """Whether this side has closed it."""
        return self._socket.closed

    @property
    def descriptors(self) -> tuple[int, int]:
        """The descriptors that become readable when messages may have arrived.

        They are edge-triggered: after an edge, call `receive` until it returns 0.
        """
        return int(self._socket.getsockopt(zmq.FD)), int(self._monitor.getsockopt(zmq.FD))

    def poll_room(self, seconds: float) -> None:
        """Wait until there is room to send, at most so many seconds."""
        self._socket.poll(int(seconds * 1_000) + 1, zmq.POLLOUT)

    def send(self, frame: bytes) -> bool:
        """Send a frame if there is room; whether there was."""
        if self._socket.closed:
            return False
        try:
            self._socket.send(frame, _NOBLOCK)
        except zmq.Again:
            return False
        return True

    def receive(self, session: Session, patience: float = 0.0) -> int:
        """Pass messages received within `patience` seconds to the session, and the reason if the connection has ended.

        Returns the number of messages: all of them, or RECEIVE_FRAMES_MAX, and then there may be more.
        """
        ready = self._poller.poll(int(patience * 1_000) + (patience > 0))
        if not ready:
            return 0
        why = self._why_closed() if any(socket is self._monitor for socket, _ in ready) else None
        # After the end all remaining messages are read: at most a window for each subscription. Before, the bound lets
        # other calls proceed.
        frames_max = None if why is not None else RECEIVE_FRAMES_MAX
        received = 0
        while received != frames_max:
            try:
                frame = self._socket.recv(_NOBLOCK, copy=False)
            except zmq.Again:
                break
            received += 1
            if frame.more:
                parts = [frame, *self._socket.recv_multipart(_NOBLOCK)]
                session.lose(ProtocolError(f"expected a message of one frame, found {len(parts)}"))
                break
            session.receive(frame.bytes)
        if why is not None:
            session.lose(why)
        return received

    def close(self) -> None:
        """Close at once. Does nothing the second time."""
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._socket.close(0)
            self._shared.release()

    def _why_closed(self) -> ConnectionLost | PermissionDenied | None:
        """The monitor's reason for the end, None while connected. After a disconnection it waits for the retry."""
        why: ConnectionLost | None = None
        patience = 0
        while self._monitor.poll(patience):
            event = int(parse_monitor_message(self._monitor.recv_multipart())["event"])
            if event & _REFUSED:
                return PermissionDenied(f"the broker at {self._address} does not know the key of this client")
            if event & _FAILED:
                return ConnectionLost(
                    f"{self._address} did not finish the handshake: check that it is a broker, that both ends use "
                    "keys, and that the client has the broker's public key"
                )
            if event & _ENDED:
                why = ConnectionLost(f"the connection to the broker at {self._address} has ended: connect again")
                patience = _RETRY_MILLISECONDS_MAX
            elif why is not None:
                break
            elif not self._patient:
                return ConnectionLost(f"no broker answers at {self._address}")
        return why
