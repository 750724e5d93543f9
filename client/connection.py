"""The connection of the blocking client: sends and waits. The session reads frames, the transport has the socket.

Every wait has a timeout: for a connection, for an answer, for a notification. A timeout loses nothing that was
received, because everything goes through the session's inboxes.
"""

from __future__ import annotations

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
from .ownership import ThreadOwner
from .reconnect_policy import Reconnect, is_passing, session_of
from .session_recovery import Recovery
from .session_renewal import Renewal
from .transport import Transport

PING_SECONDS: Final = 5.0
"""A wait for notifications pings the broker after so much silence."""
SILENCE_SECONDS_MAX: Final = 60.0
"""The broker may stay silent so long: a large batch in a slow pattern can take it a while."""
GOODBYE_SECONDS: Final = 1.0
_WAITS: Final = 3
"""A request may wait for a connection, for an answer, and after a loss for both again: in all less than 3 timeouts."""
COLLECT_SECONDS: Final = 0.001
"""A publisher of many small messages collects receipts that it need not wait for at most this often."""


@final
class Connection:
    """A session and its present transport. Raises ConnectionLost for an invalid address.

    `opened`: the session has begun once, so that a lost one can be restored. `owner`: who may use it; a caller asks.
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
        self.owner = ThreadOwner()
        # unsent credits and acknowledgements; they belong to the session as last renewed
        self._unwaited: deque[bytes] = deque()
        self._closed = False
        self._collect_after = 0.0
        self._transport = Transport(address, keys)

    @property
    def usable(self) -> bool:
        """Whether a request can be answered now."""
        alive = self.session.lost is None and self._recovery is None
        return alive and not self._transport.closed

    def exchange(self, correlation: int, frame: bytes, timeout: float | None = None) -> Message:
        """Send a request and wait for its answer, which may be a Failure. Raises RequestTimeout, ConnectionLost.

        A repeatable request is sent again after a loss, as long as there is time. `timeout`: seconds.
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
            self._report_events()

    def say_goodbye(self, correlation: int, frame: bytes) -> Message:
        """Send the last request. Waits at most GOODBYE_SECONDS for its answer, and does not restore a lost session."""
        self._receive(0.0)
        if self.session.lost is not None:
            raise self.session.lost
        return self.exchange(correlation, frame, GOODBYE_SECONDS)

    @property
    def repeats(self) -> bool:
        """Whether a lost session is restored, so that batches can be sent again."""
        return self._reconnect is not None

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None:
        """Send an encoded request. Raises ConnectionLost if it was not sent.

        `begun`: send only if the session has not begun anew since that count.
        """
        deadline = time.monotonic() + self._timeout
        self._connect(deadline, look=begun is None)  # behind others their sender receives by itself
        if begun is not None and self.session.begun != begun:
            raise ConnectionLost("the session has begun anew")
        if correlation:
            self.session.expect(correlation)  # even if the session has begun anew since the request was made
        if self.session.later.due:
            self._unwaited.extend(self.session.later.frames(self.session, every=True))
        while self._unwaited:  # before the request, which may end the subscription that they acknowledge
            self._send(self._unwaited[0], deadline)
            self._unwaited.popleft()
        self._send(frame, deadline)

    def send_later(self) -> None:
        """Send acknowledgements for which nobody waits, as far as there is a session and room for them."""
        self.collect()
        if self.usable:
            self._send_unwaited()
        if self.session.flow_events:
            self._report_events()

    def connected(self) -> int:
        """Wait for a session; how often it has begun. Raises ConnectionLost if there is none in time."""
        self._connect(time.monotonic() + self._timeout, look=True)
        return self.session.begun

    def _connect(self, deadline: float, look: bool) -> None:
        if look and self._reconnect is not None and self.usable:
            self._receive(0.0)  # notices a broker that has gone before a request is sent to it
        if not self._check(deadline):
            raise ConnectionLost(f"no broker answers at {self._address}: not reconnected in time")

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
        """Receive without waiting. The session keeps an error of the connection.

        Does nothing within COLLECT_SECONDS of the last time: it costs as much as to make and send a message of one row.
        """
        now = time.monotonic()
        if now < self._collect_after:
            return
        self._collect_after = now + COLLECT_SECONDS
        if not self._transport.closed:
            self._receive(0.0)

    def drop_subscription(self, name: str) -> None:
        """Unsubscribe, now or once the session is restored, and ignore the answer."""
        if self.usable:
            self._unwaited.extend(self.session.later.frames(self.session, every=True))
            correlation, frame = self.session.request(partial(Unsubscribe, name=name))
            self.session.abandon(correlation)
            self._send_unwaited()
            if not self._unwaited and self._transport.send(frame):
                return
        self.session.dropped[name] = None

    def next_notification(self, name: str, timeout: float | None) -> Notification | None:
        """The next notification; None after `timeout` seconds, and for a name without a subscription."""
        session = self.session
        if not session.has_inbox(name):
            self._check(0.0)
            return None
        notification = self._take(name)
        if notification is not None:
            return notification
        received = pinged = time.monotonic()
        deadline = None if timeout is None else received + timeout
        while True:
            restored = self._recovery is not None or session.lost is not None
            if not self._check(deadline):
                return None
            if restored:
                notification = self._take(name)  # it may have arrived during the recovery
                if notification is not None:
                    return notification
            now = time.monotonic()
            rest = PING_SECONDS if deadline is None else min(PING_SECONDS, max(0.0, deadline - now))
            if self._receive(rest):
                received = pinged = time.monotonic()
            notification = self._take(name)
            if notification is not None:
                return notification
            now = time.monotonic()
            if session.lost is not None:
                received = pinged = now
            elif deadline is not None and now >= deadline:
                return None
            elif now - received >= SILENCE_SECONDS_MAX:
                silence = now - received
                session.lose(ConnectionLost(f"the broker at {self._address} has not answered for {silence:.0f} s"))
            elif now - pinged >= PING_SECONDS:
                pinged = now
                correlation, frame = session.request(Ping)
                session.abandon(correlation)  # any sign of life will do
                self._send(frame, now + self._timeout)

    def close(self) -> None:
        """Close at once. Does nothing the second time."""
        self._closed = True
        self._transport.close()

    def _check(self, deadline: float | None) -> bool:
        """Whether there is a session; a lost one is restored, waiting until `deadline` (None: without limit).

        Raises the reason if the loss is final.
        """
        if self._closed:
            raise ConnectionLost("this client is closed")
        if self._recovery is not None:
            return self._restore(self._recovery, deadline)
        lost = self.session.lost
        if lost is None:
            return True
        if self._reconnect is None or not self.opened or not is_passing(lost):
            raise lost
        self._add_event(FlowEvent(Happening.LOST, str(lost)))
        self._recovery = Recovery(self._reconnect.waits(random.random, self._timeout), self._timeout)
        self._fail(self._recovery, lost, time.monotonic())
        return self._restore(self._recovery, deadline)

    def _restore(self, recovery: Recovery, deadline: float | None) -> bool:
        """Continue the recovery; whether the session is restored before the deadline."""
        while True:
            now = time.monotonic()
            try:
                if recovery.due(now):
                    self._transport.close()
                    self._unwaited.clear()
                    self._transport = Transport(self._address, self._keys, patient=False)
                    recovery.begin(Renewal(self.session, partial(hello, self.session)), now)
                if recovery.trying:
                    self._receive(0.0)  # so that a caller with a timeout of zero also makes progress
                done = recovery.advance(self.session, self._transport.send, now)
            except ForetellError as error:
                self._fail(recovery, error, now)
                done = False
            self._announce(recovery)
            if done:
                self._recovery = None
                self._add_event(FlowEvent(Happening.RESTORED, attempt=recovery.attempt))
                return True
            if deadline is not None and now >= deadline:
                return False
            rest = recovery.until - now if deadline is None else min(recovery.until, deadline) - now
            if recovery.trying:
                self._receive(max(0.0, rest))
            else:
                time.sleep(max(0.0, rest))

    def _fail(self, recovery: Recovery, error: ForetellError, now: float) -> None:
        """Schedule the next attempt, or raise the error: from then on the loss is final."""
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
            self._add_event(event)

    def _add_event(self, event: FlowEvent) -> None:
        self.session.flow_events.append(event)
        self._report_events()

    def _report_events(self) -> None:
        events = self.session.flow_events
        while events:
            event = events.popleft()
            if self._on_event is not None:
                self._on_event(event)

    def _take(self, name: str) -> Notification | None:
        notification, grant = self.session.take(name)
        if grant is not None:
            self._unwaited.append(grant)
        if (self._unwaited or self.session.later.due) and self._recovery is None:
            self._send_unwaited()
        if self.session.flow_events:
            self._report_events()
        return notification

    def _send_unwaited(self) -> None:
        if self.session.later.due and self.session.lost is None:
            self._unwaited.extend(self.session.later.frames(self.session))
        while self._unwaited and self._transport.send(self._unwaited[0]):
            self._unwaited.popleft()

    def _send(self, frame: bytes, deadline: float) -> None:
        while not self._transport.send(frame):
            rest = deadline - time.monotonic()
            if rest <= 0:
                raise self.session.lose(ConnectionLost(f"no broker answers at {self._address}"))
            self._transport.poll_room(rest)

    def _receive(self, patience: float) -> bool:
        """Pass frames received within `patience` seconds to the session; whether there were any."""
        return self._transport.receive(self.session, patience) > 0
