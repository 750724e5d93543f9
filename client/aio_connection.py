"""The connection of the asyncio client: which task waits for what, and how the loop learns of received messages.

The transport's descriptors wake the loop, which then receives everything without waiting. No receive of a socket is
ever awaited, so that a cancelled task cannot lose a message. The descriptors are edge-triggered and a send may consume
an edge, so the loop also receives after each send. Session, calls and recovery are those of the blocking client.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, final

from broker.wire import Message, Ping, Unsubscribe
from broker.wire.keys import Keys

from .calls import hello
from .errors import ConnectionLost, ForetellError, RequestTimeout
from .flow import FlowEvent, Happening
from .notification import Notification
from .ownership import LoopOwner
from .reconnect_policy import Reconnect, is_passing, session_of
from .session_recovery import Recovery
from .session_renewal import Renewal
from .transport import RECEIVE_FRAMES_MAX, Transport

PING_SECONDS: Final = 5.0
SILENCE_SECONDS_MAX: Final = 60.0
GOODBYE_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 0.01
_RECEIVE_SECONDS: Final = 0.25


@final
class AioConnection:
    """A session and its present transport, in the running loop. Raises ConnectionLost for an invalid address.

    `opened`: the session has begun once, so that a lost one can be restored. `owner`: who may use it; a caller asks.
    """

    def __init__(
        self,
        address: str,
        timeout: float,
        keys: Keys | None,
        reconnect: Reconnect | None,
        on_event: Callable[[FlowEvent], None] | None,
    ) -> None:
        self.session = session_of(reconnect, time.monotonic, timeout)
        self.opened = False
        self._address = address
        self._timeout = timeout
        self._keys = keys
        self._reconnect = reconnect
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self.owner = LoopOwner()
        self._answers: dict[int, asyncio.Future[Message]] = {}
        self._readers: dict[str, list[asyncio.Future[None]]] = {}
        self._restored: asyncio.Future[None] | None = None  # while a lost session is being restored
        self._changed = asyncio.Event()  # frames were received, or the session ended
        self._outgoing: deque[bytes] = deque()
        # unsent credits and acknowledgements; they belong to the session as last renewed
        self._unwaited: deque[bytes] = deque()
        self._retry: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._last_received = self._loop.time()
        self._closed = False
        self._receive_scheduled = False
        self._transport = Transport(address, keys)
        self._listen()
        self._tasks.append(self._loop.create_task(self._keep_alive()))

    # ---- requests ----

    async def exchange(self, correlation: int, frame: bytes, timeout: float | None = None) -> Message:
        """Send a request and wait for its answer, which may be a Failure. Raises RequestTimeout, ConnectionLost.

        A repeatable request is sent again after a loss, as long as there is time. `timeout`: seconds.
        """
        patience = self._timeout if timeout is None else timeout
        deadline = self._loop.time() + patience
        sent = False
        try:
            while True:
                await self._connected(deadline)
                answer = self._answers[correlation] = self._loop.create_future()
                self.session.expect(correlation)
                self._send_unwaited(every=True)  # before the request, which may end what they acknowledge
                self._send(frame)
                sent = True
                await asyncio.wait((answer,), timeout=max(0.0, deadline - self._loop.time()))
                if not answer.done():
                    raise RequestTimeout(
                        f"no answer from {self._address} within {patience:g} s: the outcome of the request is unknown"
                    )
                if self._restored is None or not self.session.repeatable(correlation) or answer.exception() is None:
                    result: Message = answer.result()
                    return result
        except ConnectionLost as error:
            raise ConnectionLost(str(error), unanswered=sent) from None
        finally:
            self._answers.pop(correlation, None)
            self.session.abandon(correlation)

    async def say_goodbye(self, correlation: int, frame: bytes) -> Message:
        """Send the last request, and wait at most GOODBYE_SECONDS for its answer."""
        return await self.exchange(correlation, frame, GOODBYE_SECONDS)

    @property
    def usable(self) -> bool:
        """Whether a request can be answered now."""
        return not self._transport.closed and self.session.lost is None and self._restored is None

    def drop_subscription(self, name: str) -> None:
        """Unsubscribe, now or once the session is restored, and ignore the answer."""
        if self.usable:
            self._notify_broker(partial(Unsubscribe, name=name))
        else:
            self.session.dropped[name] = None

    def _notify_broker(self, make: Callable[[int], Message]) -> None:
        correlation, frame = self.session.request(make)
        self.session.abandon(correlation)
        self._send_unwaited(every=True)
        self._send(frame)

    async def _connected(self, deadline: float) -> None:
        if self._closed:
            raise ConnectionLost("this client is closed")
        if self._restored is not None:
            await asyncio.wait((self._restored,), timeout=max(0.0, deadline - self._loop.time()))
            if self._restored is not None:
                raise ConnectionLost(f"no broker answers at {self._address}: not reconnected in time")
        if self.session.lost is not None:
            raise self.session.lost

    # ---- notifications ----

    async def next_notification(self, name: str, timeout: float | None) -> Notification | None:
        """The next notification; None after `timeout` seconds, and once there is no such subscription."""
        deadline = None if timeout is None else self._loop.time() + timeout
        while self.session.has_inbox(name):
            notification, grant = self.session.take(name)
            if grant is not None:
                self._unwaited.append(grant)
                self._send_unwaited()
            self._report_events()
            if notification is not None:
                return notification
            if self._closed:
                raise ConnectionLost("this client is closed")
            if self.session.lost is not None and self._restored is None:
                raise self.session.lost
            rest = None if deadline is None else deadline - self._loop.time()
            if rest is not None and rest <= 0:
                return None
            arrival: asyncio.Future[None] = self._loop.create_future()
            self._readers.setdefault(name, []).append(arrival)
            try:
                await asyncio.wait((arrival,), timeout=rest)
            finally:
                waiting = self._readers.get(name, [])
                if arrival in waiting:
                    waiting.remove(arrival)
        return None

    def wake(self, name: str) -> None:
        """Wake the tasks that wait for this subscription."""
        for arrival in self._readers.pop(name, ()):
            if not arrival.done():
                arrival.set_result(None)

    # ---- the transport ----

    def _listen(self) -> None:
        for descriptor in self._transport.descriptors:
            self._loop.add_reader(descriptor, self._receive)
        self._receive_soon()

    def _stop_listening(self) -> None:
        if not self._transport.closed:
            for descriptor in self._transport.descriptors:
                self._loop.remove_reader(descriptor)

    def _close_transport(self) -> None:
        self._stop_listening()
        self._transport.close()

    def _send(self, frame: bytes) -> None:
        self._outgoing.append(frame)
        self._flush()

    def send_later(self) -> None:
        """Send acknowledgements for which nobody waits, as far as there is a session for them."""
        self._send_unwaited()

    def _send_unwaited(self, every: bool = False) -> None:
        if self.session.later.due and self.usable:
            self._unwaited.extend(self.session.later.frames(self.session, every))
        while self._unwaited and self.usable:
            self._send(self._unwaited.popleft())

    def _flush(self) -> None:
        while self._outgoing and self._transport.send(self._outgoing[0]):
            self._outgoing.popleft()
        if self._outgoing and self._retry is None and not self._transport.closed:
            self._retry = self._loop.call_later(_RETRY_SECONDS, self._flush_again)
        self._receive_soon()

    def _flush_again(self) -> None:
        self._retry = None
        if not self._transport.closed:
            self._flush()

    def _receive_soon(self) -> None:
        """Schedule one receive for the loop's next iteration, however often this is called before."""
        if not self._receive_scheduled:
            self._receive_scheduled = True
            self._loop.call_soon(self._receive)

    def _receive(self) -> None:
        self._receive_scheduled = False
        session = self.session
        received = 0 if self._transport.closed else self._transport.receive(session)
        if received:
            self._last_received = self._loop.time()
            self._changed.set()
        if received >= RECEIVE_FRAMES_MAX:
            self._receive_soon()  # there may be more, for which no descriptor becomes readable
        for correlation in session.answered():
            waiting = self._answers.get(correlation)
            answer = None if waiting is None else session.answer(correlation)
            if waiting is not None and answer is not None and not waiting.done():
                waiting.set_result(answer)
        for name in list(self._readers):
            inbox = session.inboxes.get(name)
            if inbox is None or inbox.notifications or inbox.refused is not None:
                self.wake(name)
        if session.later.due and self.opened:
            self._send_unwaited()
        if session.lost is not None:
            self._changed.set()
            if self._restored is None:
                self._lose(session.lost)
        self._report_events()

    def _lose(self, error: ForetellError) -> None:
        """Fail the requests in flight, and start to restore the session if the client reconnects."""
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(error)
        self._outgoing.clear()
        if self._reconnect is None or not self.opened or not is_passing(error) or self._transport.closed:
            self._stop_listening()
            for name in list(self._readers):
                self.wake(name)
            return
        self._add_event(FlowEvent(Happening.LOST, str(error)))
        self._restored = self._loop.create_future()
        self._tasks.append(self._loop.create_task(self._restore(self._reconnect, error)))

    async def _restore(self, reconnect: Reconnect, lost: ForetellError) -> None:
        recovery = Recovery(reconnect.waits(random.random, self._timeout), self._timeout)
        try:
            recovery.lose(lost, self._loop.time())
            while not await self._attempt(recovery):
                pass
            self._add_event(FlowEvent(Happening.RESTORED, attempt=recovery.attempt))
        except ForetellError as error:
            self.session.lost = error
        back, self._restored = self._restored, None
        self._send_unwaited()
        if back is not None and not back.done():
            back.set_result(None)
        for name in list(self._readers):
            self.wake(name)

    async def _attempt(self, recovery: Recovery) -> bool:
        """Wait once and try once; whether the session is restored. Raises an error that is final."""
        event = recovery.event()
        if event is not None:
            self._add_event(event)
        await asyncio.sleep(max(0.0, recovery.until - self._loop.time()))
        self._close_transport()
        try:
            self._transport = Transport(self._address, self._keys, patient=False)
        except ConnectionLost as error:  # a socket may be available later
            recovery.lose(error, self._loop.time())
            return False
        self._listen()
        self._unwaited.clear()
        recovery.begin(Renewal(self.session, partial(hello, self.session)), self._loop.time())
        while True:
            try:
                if recovery.advance(self.session, self._transport.send, self._loop.time()):
                    return True
            except ForetellError as error:
                self.session.lost = error
                if not is_passing(error):
                    raise
                recovery.lose(error, self._loop.time())
                return False
            self._changed.clear()
            self._receive_soon()
            with suppress(TimeoutError):
                # A thousand clients of one loop may reconnect at once, so none of them polls every few milliseconds.
                await asyncio.wait_for(self._changed.wait(), _RECEIVE_SECONDS)

    async def _keep_alive(self) -> None:
        """Ping a silent broker. ZeroMQ's heartbeats notice a machine that is gone, but not a loop that hangs."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            silence = self._loop.time() - self._last_received
            if self.usable and self.opened and silence >= SILENCE_SECONDS_MAX:
                reason = f"the broker at {self._address} has not answered for {silence:.0f} s"
                self.session.lose(ConnectionLost(reason))
                self._receive()
            elif self.usable and self.opened and silence >= PING_SECONDS:
                self._notify_broker(Ping)

    # ---- the end ----

    async def close(self) -> None:
        """Close at once. Does nothing the second time."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        self._tasks.clear()
        if self._retry is not None:
            self._retry.cancel()
        self._close_transport()
        self.session.lose(ConnectionLost("this client is closed"))
        self._restored = None
        for name in list(self._readers):
            self.wake(name)

    def _add_event(self, event: FlowEvent) -> None:
        self.session.flow_events.append(event)
        self._report_events()

    def _report_events(self) -> None:
        events = self.session.flow_events
        while events:
            event = events.popleft()
            if self._on_event is not None:
                self._on_event(event)
