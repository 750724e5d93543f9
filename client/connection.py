"""The connection of the blocking client: waits for frames. The session reads them, the transport has the socket.

A call never waits longer than it was told: for a connection, for an answer, for a notification. Nothing that was
received is lost by a timeout, as everything goes through the session's inboxes.
"""

from __future__ import annotations

import os
import random
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, final

from broker.wire import Message, Ping, Unsubscribe
from broker.wire.keys import Keys

from .calls import hello
from .errors import ConnectionLost, ForetellError, RequestTimeout
from .flow import FlowEvent, Happening
from .notification import Notification
from .reconnect_policy import Reconnect, is_passing, session_of
from .session_recovery import Recovery
from .session_renewal import Renewal
from .transport import Transport

PING_SECONDS: Final = 5.0
"""How long a wait for notifications goes on in silence before the broker is asked whether it is there."""
SILENCE_SECONDS_MAX: Final = 60.0
"""How long the broker may leave that unanswered: a large batch in a slow pattern may take it a while."""
GOODBYE_SECONDS: Final = 1.0
_WAITS: Final = 3
"""A request may wait for a connection, for an answer, and after a loss for both again: less than three timeouts."""
LOOK_SECONDS: Final = 0.001
"""A publisher of many small messages looks at most so often for receipts that it need not wait for."""


@final
class Connection:
    """A session and the line that it has at the moment. Raises ConnectionLost for an address that cannot be one.

    `opened`: there was a session, so that a lost one may be had again.
    """

    def __init__(
        self,
        address: str,
        timeout: float,
        keys: Keys | None = None,
        reconnect: Reconnect | None = None,
        on_event: Callable[[FlowEvent], None] | None = None,
    ) -> None:
        self.session = session_of(reconnect, time.monotonic, timeout if reconnect is None else _WAITS * timeout)
        self.opened = False
        self._address = address
        self._timeout = timeout
        self._keys = keys
        self._reconnect = reconnect
        self._on_event = on_event
        self._recovery: Recovery | None = None
        self._process = os.getpid()
        self._grants: deque[bytes] = deque()  # that belong to the session as it was last asked for
        self._closed = False
        self._look_again = 0.0
        self._line = Transport(address, keys)

    @property
    def usable(self) -> bool:
        """Whether a request may still be answered."""
        alive = self.session.lost is None and self._recovery is None
        return alive and not self._line.closed and os.getpid() == self._process

    def exchange(self, correlation: int, frame: bytes, timeout: float | None = None) -> Message:
        """Send a request and wait for its answer, which may be a Failure. Raises RequestTimeout, ConnectionLost.

        One that the broker would know again is sent again after a loss, as long as there is time.
        """
        sent = False
        until = time.monotonic() + (self._timeout if timeout is None else timeout)
        try:
            while True:
                try:
                    self.send(frame, correlation)
                    sent = True
                    return self.answer(correlation, timeout)
                except ConnectionLost:
                    repeating = sent and self.repeats and self.session.repeatable(correlation)
                    if not repeating or time.monotonic() >= until:
                        raise
        except RequestTimeout as error:
            raise RequestTimeout(f"{error}: the outcome of the request is unknown") from None
        except ConnectionLost as error:
            raise ConnectionLost(str(error), unanswered=sent) from None
        finally:
            self.session.abandon(correlation)
            self._tell()

    def farewell(self, correlation: int, frame: bytes) -> Message:
        """The last request: nobody waits long for its answer, nor for a session to end."""
        self._receive(0.0)
        if self.session.lost is not None:
            raise self.session.lost
        return self.exchange(correlation, frame, GOODBYE_SECONDS)

    @property
    def repeats(self) -> bool:
        """Whether there may be another session after this one, in which batches can be said again."""
        return self._reconnect is not None

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None:
        """Send what the session made of a request. Raises ConnectionLost, and then it was not sent.

        `begun`: only if the session has not begun anew since.
        """
        deadline = time.monotonic() + self._timeout
        self._connect(deadline, look=begun is None)  # behind others: whoever sent those looks by itself
        if begun is not None and self.session.begun != begun:
            raise ConnectionLost("the session has begun anew")
        if correlation:
            self.session.expect(correlation)  # also where the session has begun anew in between
        self._send(frame, deadline)

    def connected(self) -> int:
        """How often the session has begun, once there is one. Raises ConnectionLost where there is none in time."""
        self._connect(time.monotonic() + self._timeout, look=True)
        return self.session.begun

    def _connect(self, deadline: float, look: bool) -> None:
        if look and self._reconnect is not None and self.usable:
            self._receive(0.0)  # so that a request does not go to a broker that is known to be gone
        if not self._check(deadline):
            raise ConnectionLost(f"no broker answers at {self._address}: not connected again in time")

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
        """Take what has come, without waiting. What is wrong with the connection is kept in the session.

        Does nothing where that was done just now: to look costs as much as to make and send a message of one row.
        """
        now = time.monotonic()
        if now < self._look_again:
            return
        self._look_again = now + LOOK_SECONDS
        self._check_process()
        if not self._line.closed:
            self._receive(0.0)

    def give_up(self, name: str) -> None:
        """Unsubscribe, at once or when there is a session again, and do not care for the answer."""
        if self.usable:
            correlation, frame = self.session.request(partial(Unsubscribe, name=name))
            self.session.abandon(correlation)
            if self._line.send(frame):
                return
        self.session.dropped[name] = None

    def next_notification(self, name: str, timeout: float | None) -> Notification | None:
        """The next notification, None after `timeout` seconds or where there is no such subscription."""
        session = self.session
        if not session.has_inbox(name):
            self._check(0.0)
            return None
        # What is here already is handed out at once: to ask for the process costs more than the rest.
        notification = self._take(name)
        if notification is not None:
            return notification
        heard = pinged = time.monotonic()
        deadline = None if timeout is None else heard + timeout
        while True:
            restored = self._recovery is not None or session.lost is not None
            if not self._check(deadline):
                return None
            if restored:
                notification = self._take(name)  # it may have come on the way back
                if notification is not None:
                    return notification
            now = time.monotonic()
            rest = PING_SECONDS if deadline is None else min(PING_SECONDS, max(0.0, deadline - now))
            if self._receive(rest):
                heard = pinged = time.monotonic()
            notification = self._take(name)
            if notification is not None:
                return notification
            now = time.monotonic()
            if session.lost is not None:
                heard = pinged = now
            elif deadline is not None and now >= deadline:
                return None
            elif now - heard >= SILENCE_SECONDS_MAX:
                session.lose(ConnectionLost(f"the broker at {self._address} has not answered for {now - heard:.0f} s"))
            elif now - pinged >= PING_SECONDS:
                pinged = now
                correlation, frame = session.request(Ping)
                session.abandon(correlation)  # any sign of life will do
                self._send(frame, now + self._timeout)

    def close(self) -> None:
        """Close at once. Does nothing the second time."""
        if os.getpid() == self._process:
            self._closed = True
            self._line.close()

    def _check(self, deadline: float | None) -> bool:
        """Whether there is a session, which is had again until `deadline` where it is lost.

        Raises why it is lost where that is final.
        """
        self._check_process()
        if self._closed:
            raise ConnectionLost("this client is closed")
        if self._recovery is not None:
            return self._restore(self._recovery, deadline)
        lost = self.session.lost
        if lost is None:
            return True
        if self._reconnect is None or not self.opened or not is_passing(lost):
            raise lost
        self._happens(FlowEvent(Happening.LOST, str(lost)))
        self._recovery = Recovery(self._reconnect.waits(random.random), self._timeout)
        self._fail(self._recovery, lost, time.monotonic())
        return self._restore(self._recovery, deadline)

    def _restore(self, recovery: Recovery, deadline: float | None) -> bool:
        """Go on where the last call has stopped; whether there is a session, or else the time is over."""
        while True:
            now = time.monotonic()
            try:
                if recovery.due(now):
                    self._line.close()
                    self._grants.clear()
                    self._line = Transport(self._address, self._keys, patient=False)
                    recovery.begin(Renewal(self.session, partial(hello, self.session)), now)
                if recovery.trying:
                    self._receive(0.0)  # also for a caller who has no time
                done = recovery.advance(self.session, self._line.send, now)
            except ForetellError as error:
                self._fail(recovery, error, now)
                done = False
            self._announce(recovery)
            if done:
                self._recovery = None
                self._happens(FlowEvent(Happening.RESTORED, attempt=recovery.attempt))
                return True
            if deadline is not None and now >= deadline:
                return False
            rest = recovery.until - now if deadline is None else min(recovery.until, deadline) - now
            if recovery.trying:
                self._receive(max(0.0, rest))
            else:
                time.sleep(max(0.0, rest))

    def _fail(self, recovery: Recovery, error: ForetellError, now: float) -> None:
        """Wait for the next attempt, or raise why there is none: from then on the loss is final."""
        self.session.lost = error
        try:
            if not is_passing(error):
                raise error
            recovery.lose(error, now)
        except ForetellError:
            self._recovery = self._reconnect = None
            raise

    def _announce(self, recovery: Recovery) -> None:
        event = recovery.event()
        if event is not None:
            self._happens(event)

    def _happens(self, event: FlowEvent) -> None:
        self.session.happened.append(event)
        self._tell()

    def _tell(self) -> None:
        happened = self.session.happened
        while happened:
            event = happened.popleft()
            if self._on_event is not None:
                self._on_event(event)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ConnectionLost(f"this client belongs to process {self._process}, which opened it")

    def _take(self, name: str) -> Notification | None:
        notification, grant = self.session.take(name)
        if grant is not None:
            self._check_process()
            self._grants.append(grant)
        while self._grants and self._recovery is None and self._line.send(self._grants[0]):
            self._grants.popleft()
        if self.session.happened:
            self._tell()
        return notification

    def _send(self, frame: bytes, deadline: float) -> None:
        while not self._line.send(frame):
            rest = deadline - time.monotonic()
            if rest <= 0:
                raise self.session.lose(ConnectionLost(f"no broker answers at {self._address}"))
            self._line.poll_room(rest)

    def _receive(self, patience: float) -> bool:
        """Whether anything has come within `patience` seconds; it is in the session then."""
        return self._line.receive(self.session, patience) > 0
