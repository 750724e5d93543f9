"""Law: the socket and the waiting of the blocking client; what the frames say is the session's affair.

A call never waits longer than it was told: for a connection, for an answer, for a notification. Nothing that was
received is lost by a timeout, as everything goes through the session's inboxes.

A session is one connection: the broker knows it by that. ZeroMQ would connect again by itself; a monitor tells when the
connection has ended, and with it the session, after what has come before was read. ZMQ_IMMEDIATE would tell, too, but
it drops what was received and not read. A request that waits in the socket and reaches a later broker does nothing
there, as it comes without a HELLO.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar, final

import zmq

from broker.wire import FRAME_BYTES_MAX, Failure, Message, Ping

from .errors import ConnectionLost, ProtocolError, RequestTimeout, remote_error
from .notification import Notification
from .session import Session

PING_SECONDS: Final = 5.0
"""How long a wait for notifications goes on in silence before the broker is asked whether it is there."""
SILENCE_SECONDS_MAX: Final = 60.0
"""How long the broker may leave that unanswered: a large batch in a slow pattern may take it a while."""
HEARTBEAT_MILLISECONDS: Final = 10_000
HEARTBEAT_TIMEOUT_MILLISECONDS: Final = 60_000
_RECEIVE_FRAMES_MAX: Final = 256
_LAST_MILLISECONDS: Final = 50

_Answer = TypeVar("_Answer", bound=Message)


def expected(answer: Message, kind: type[_Answer]) -> _Answer:
    """The answer, if it is of the kind that its request asks for. Raises ProtocolError."""
    if type(answer) is not kind:
        raise ProtocolError(f"expected {kind.__name__} as the answer, found {type(answer).__name__}")
    return answer


@final
class Connection:
    """A DEALER and its session. Raises ConnectionLost for an address that cannot be one."""

    def __init__(self, address: str, timeout: float) -> None:
        self.session = Session()
        self._address = address
        self._timeout = timeout
        self._process = os.getpid()
        self._grants: deque[bytes] = deque()
        self._context = zmq.Context()
        self._socket: zmq.Socket[bytes] = self._context.socket(zmq.DEALER)
        self._monitor: zmq.Socket[bytes] = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)
        options = {
            zmq.LINGER: 0,
            zmq.MAXMSGSIZE: FRAME_BYTES_MAX,
            zmq.HEARTBEAT_IVL: HEARTBEAT_MILLISECONDS,
            zmq.HEARTBEAT_TIMEOUT: HEARTBEAT_TIMEOUT_MILLISECONDS,
            zmq.IPV6: int("[" in address),
        }
        try:
            for option, value in options.items():
                self._socket.setsockopt(option, value)
            self._socket.connect(address)
        except zmq.ZMQError as error:
            self.close()
            raise ConnectionLost(f"{address} is no address of a broker: {error.strerror or error}") from None

    @property
    def usable(self) -> bool:
        """Whether a request may still be answered."""
        return not self._socket.closed and self.session.lost is None and os.getpid() == self._process

    def ask(self, make: Callable[[int], Message], timeout: float | None = None) -> Message:
        """Send a request and wait for its answer. Raises what the answer says, RequestTimeout, ConnectionLost."""
        self._check()
        return self.exchange(*self.session.request(make), timeout)

    def exchange(self, correlation: int, frame: bytes, timeout: float | None = None) -> Message:
        """The same for a request that the session has made already."""
        try:
            self.send(frame)
            answer = self.answer(correlation, timeout)
        except RequestTimeout as error:
            raise RequestTimeout(f"{error}: the outcome of the request is unknown") from None
        finally:
            self.session.abandon(correlation)
        if isinstance(answer, Failure):
            raise remote_error(answer)
        return answer

    def send(self, frame: bytes) -> None:
        """Send what the session made of a request. Raises ConnectionLost, and then it was not sent."""
        self._check()
        self._send(frame, time.monotonic() + self._timeout)

    def answer(self, correlation: int, timeout: float | None = None) -> Message:
        """Wait for an answer, which may be a Failure. Raises RequestTimeout, ConnectionLost."""
        patience = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + patience
        while True:
            answer = self.session.answer(correlation)
            if answer is not None:
                return answer
            if self.session.lost is not None:
                raise self.session.lost
            rest = deadline - time.monotonic()
            if rest <= 0:
                raise RequestTimeout(f"no answer from {self._address} within {patience:g} s")
            self._receive(rest)

    def collect(self) -> None:
        """Take what has come, without waiting. What is wrong with the connection is kept in the session."""
        self._check_process()
        if not self._socket.closed:
            self._receive(0.0)

    def tell(self, make: Callable[[int], Message]) -> None:
        """Send a request if that is possible at once, and do not care for the answer."""
        if self.usable:
            correlation, frame = self.session.request(make)
            self.session.abandon(correlation)
            self._attempt(frame)

    def next_notification(self, name: str, timeout: float | None) -> Notification | None:
        """The next notification, None after `timeout` seconds or where there is no such subscription."""
        session = self.session
        if not session.has_inbox(name):
            self._check()
            return None
        # What is here already is handed out at once: to ask for the process costs more than the rest.
        notification = self._take(name)
        if notification is not None:
            return notification
        self._check()
        heard = pinged = time.monotonic()
        deadline = None if timeout is None else heard + timeout
        while True:
            now = time.monotonic()
            rest = PING_SECONDS if deadline is None else min(PING_SECONDS, max(0.0, deadline - now))
            if self._receive(rest):
                heard = pinged = time.monotonic()
            notification = self._take(name)
            if notification is not None:
                return notification
            if session.lost is not None:
                raise session.lost
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                return None
            if now - heard >= SILENCE_SECONDS_MAX:
                session.lost = ConnectionLost(f"the broker at {self._address} has not answered for {now - heard:.0f} s")
            elif now - pinged >= PING_SECONDS:
                pinged = now
                correlation, frame = session.request(Ping)
                session.abandon(correlation)  # any sign of life will do
                self._send(frame, now + self._timeout)

    def close(self) -> None:
        """Close at once. Does nothing the second time."""
        if not self._socket.closed and os.getpid() == self._process:
            self._socket.disable_monitor()
            self._monitor.close(0)
            self._socket.close(0)
            self._context.term()

    def _check(self) -> None:
        self._check_process()
        if self._socket.closed:
            raise ConnectionLost("this client is closed")
        if self.session.lost is not None:
            raise self.session.lost

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ConnectionLost(f"this client belongs to process {self._process}, which opened it")

    def _take(self, name: str) -> Notification | None:
        notification, grant = self.session.take(name)
        if grant is not None:
            self._check_process()
            self._grants.append(grant)
        while self._grants and self._attempt(self._grants[0]):
            self._grants.popleft()
        return notification

    def _attempt(self, frame: bytes) -> bool:
        if self._socket.closed:
            return False
        try:
            self._socket.send(frame, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def _send(self, frame: bytes, deadline: float) -> None:
        while not self._attempt(frame):
            rest = deadline - time.monotonic()
            if rest <= 0:
                self.session.lost = ConnectionLost(f"no broker answers at {self._address}")
                raise self.session.lost
            self._socket.poll(int(rest * 1_000) + 1, zmq.POLLOUT)

    def _receive(self, patience: float) -> bool:
        """Whether anything has come within `patience` seconds; all of it is in the session then."""
        ready = dict(self._poller.poll(int(patience * 1_000) + (patience > 0)))
        ended = self._monitor in ready
        if ended:
            self._socket.poll(_LAST_MILLISECONDS)  # what came last may be handed over just after the event
        # A window for each subscription at most is on its way, so that this ends; but notice what other calls wait for.
        frames_max = None if ended else _RECEIVE_FRAMES_MAX
        received = 0
        while received != frames_max:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            received += 1
            if len(frames) != 1:
                self.session.lost = ProtocolError(f"expected a message of one frame, found {len(frames)}")
                break
            self.session.receive(frames[0])
        if ended and self.session.lost is None:
            self.session.lost = ConnectionLost(
                f"the connection to the broker at {self._address} has ended: connect again"
            )
        return received > 0
