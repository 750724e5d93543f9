"""Law: the loop that carries inputs to the kernel and effects to the socket, in one thread and in bounded passes.

Whoever wants it to stop writes a byte into a socket pair that the loop listens to: that is safe from a signal and from
another thread, and wakes the loop. The first byte stops in order, the second at once.
"""

from __future__ import annotations

import socket
import sys
import time
import traceback
from collections.abc import Iterable
from typing import Final, Self, final

import zmq

from ..kernel import Garbled, Gone, Input, Kernel, Limits, Matcher, Received, Send, Stop, Tick, Turn
from ..wire import Failure, Message, Probe, Publish, WireError, decode, encode
from .router import Router

TICK_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 0.01
"""How soon a full peer is tried again."""
PASS_MESSAGES_MAX: Final = 256
FLUSH_SECONDS_MAX: Final = 5.0


def wall_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1_000


@final
class Broker:
    """A kernel behind a socket: a context manager. Listens from its construction on; `run` returns when it is stopped.

    Raises DefinitionError where the address cannot be had.
    """

    def __init__(self, matcher: Matcher, address: str, limits: Limits | None = None) -> None:
        self._kernel = Kernel(matcher, limits)
        self._router = Router(address)
        self._wake, self._waker = socket.socketpair()
        self._wake.setblocking(False)
        self._waker.setblocking(False)
        self._failed: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._router.close(0)
        self._wake.close()
        self._waker.close()

    @property
    def endpoint(self) -> str:
        """The address that clients connect to."""
        return self._router.endpoint

    @property
    def waker(self) -> socket.socket:
        """Every byte written here is a request to stop."""
        return self._waker

    def stop(self) -> None:
        """Ask the loop to end, from any thread."""
        self._waker.send(b"\0")

    def run(self) -> None:
        """Serve until told to stop, then say so to the clients. May be called once.

        Raises what the engine raised where it is not known any more what it has taken of a batch.
        """
        poller = zmq.Poller()
        poller.register(self._router.socket, zmq.POLLIN)
        poller.register(self._wake, zmq.POLLIN)
        next_tick = time.monotonic() + TICK_SECONDS
        while self._failed is None:
            patience = next_tick - time.monotonic()
            if self._router.waiting:
                patience = min(patience, RETRY_SECONDS)
            milliseconds = 0 if self._kernel.has_work(self._router.full) else max(0, int(patience * 1_000) + 1)
            ready = dict(poller.poll(milliseconds))
            if self._wake.fileno() in ready:
                break
            if self._router.socket in ready:
                self._take_messages()
            for session in self._router.retry():
                self._step(Gone(session))
            if self._kernel.has_work(self._router.full):
                self._turn()
            if time.monotonic() >= next_tick:
                self._step(Tick())
                next_tick = time.monotonic() + TICK_SECONDS
        self._router.close(self._flush())
        if self._failed is not None:
            raise self._failed

    def _take_messages(self) -> None:
        for _ in range(PASS_MESSAGES_MAX):
            received = self._router.receive()
            if received is None or self._failed is not None:
                return
            session, frames = received
            try:
                if len(frames) != 1:
                    raise WireError(f"expected a message of one frame, found {len(frames)}")
                message = decode(frames[0])
            except WireError as error:
                self._step(Garbled(session, error))
            else:
                self._request(session, message)

    def _request(self, session: bytes, message: Message) -> None:
        try:
            self._step(Received(session, message))
        except Exception as error:
            # A mistake of ours. Whoever asked is told; the others keep their broker unless events are concerned: a
            # batch that was taken in part would make every later answer doubtful.
            traceback.print_exc(file=sys.stderr)
            reason = f"the broker failed at this request, which is a mistake in the broker: {type(error).__name__}"
            self._perform([Send(session, Failure(message.correlation, "internal", reason, None, None, None))])
            if isinstance(message, Publish):
                self._failed = error

    def _turn(self) -> None:
        try:
            self._step(Turn(self._router.full))
        except Exception as error:
            # A mistake of ours again, and results are lost that nobody would be told of.
            traceback.print_exc(file=sys.stderr)
            self._failed = error

    def _step(self, happening: Input) -> None:
        self._perform(self._kernel.step(happening, wall_clock()))

    def _perform(self, effects: Iterable[Send]) -> None:
        gone: list[bytes] = []
        for effect in effects:
            session = effect.session
            if session not in gone and not self._send(session, effect.message):
                gone.append(session)
        for session in gone:
            self._router.forget(session)
            self._kernel.step(Gone(session), wall_clock())

    def _send(self, session: bytes, message: Message) -> bool:
        try:
            frame = encode(message)
        except WireError as error:
            frame = encode(Failure(message.correlation, error.code, str(error), None, None, None))
        if isinstance(message, Probe):
            return self._router.probe(session, frame)
        return self._router.send(session, frame)

    def _flush(self) -> int:
        """Tell everyone, and send what waits, for at most FLUSH_SECONDS_MAX; how long libzmq may go on, in ms."""
        deadline = time.monotonic() + FLUSH_SECONDS_MAX
        self._swallow_request()
        reason = "the broker is stopping" if self._failed is None else "the broker failed and is stopping"
        self._step(Stop(reason))
        while self._router.waiting and time.monotonic() < deadline:
            if self._swallow_request():
                return 0
            self._router.retry()
            time.sleep(RETRY_SECONDS)
        return max(1, int((deadline - time.monotonic()) * 1_000))

    def _swallow_request(self) -> bool:
        """Whether a request to stop has come; takes one."""
        try:
            return bool(self._wake.recv(1))
        except BlockingIOError:
            return False
