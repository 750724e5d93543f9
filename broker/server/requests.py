"""Hands requests to the kernel: at once or after waiting in line, and an expensive batch piece by piece.

A mistake of ours ends here. Whoever asked is told; the others keep their broker unless events are concerned: a batch
that was taken in part would make every later answer doubtful.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, final

from ..kernel import (
    Away,
    ContinueBatch,
    Effects,
    Gone,
    Input,
    Kernel,
    Received,
    Send,
    TooManyBatches,
    Undecodable,
    Work,
)
from ..wire import Failure, Message, Publish
from .admission_queue import AdmissionQueue
from .durable_kernel import DurableKernel
from .durations import Durations
from .logs import LOG
from .slice_sizer import PIECE_NANOSECONDS, SliceSizer

LET_IN_MAX: Final = 256
"""How many of those who have waited come in one pass of the loop."""


@final
class Requests:
    """What comes of them is sent when the pass ends. `now` is the wall clock in microseconds."""

    def __init__(self, kernel: Kernel, kept: DurableKernel, now: Callable[[], int]) -> None:
        self._kernel: Final = kernel
        self._kept: Final = kept
        self._now: Final = now
        self._line: Final = AdmissionQueue(kernel)
        self._pace: Final = SliceSizer()
        self._spent = 0  # on batches since the last `begin`, in nanoseconds
        self._spent_before = 0  # on the batch in work
        self.durations: Final = Durations()

    @property
    def waiting(self) -> bool:
        """Whether a batch is in work, or somebody in line."""
        return self._kernel.work is not None or bool(self._line)

    @property
    def crowded(self) -> bool:
        """Whether nothing more should be taken from the socket."""
        return self._line.crowded or self._spent >= PIECE_NANOSECONDS

    @property
    def deaf(self) -> bool:
        """Whether that is to stay so for a while."""
        return self._line.crowded

    def statistics(self) -> dict[str, int]:
        """Who waits."""
        return self._line.statistics()

    # ---- what comes ----

    def receive(self, session: bytes, message: Message, identity: str, size: int) -> None:
        """A message of so many bytes."""
        self.come(Received(session, message, identity, self._pace.events), size)

    def come(self, given: Input, size: int = 0) -> None:
        """Handle it, or put it in line."""
        if self._line.admit(given, size):
            self._handle(given)

    def leave(self, session: bytes) -> bool:
        """Nothing reaches this session any more; whether that is news. Its effects are not performed here."""
        if self._line.leaving(session):
            return False
        if self._line.admit(Gone(session)):
            self._kept.happen(Gone(session), self._now())
        else:
            self._kept.step(Away(session), self._now())
        return True

    def turn(self) -> None:
        """In each pass of the loop: go on with the batch in work, or let those in who have waited for its end."""
        self._spent = 0
        if self._kernel.work is not None:
            self._go_on(self._kernel.work)
        else:
            self._let_in()
        self._spent = 0  # who comes now is not to wait for that

    def _let_in(self) -> None:
        for _ in range(LET_IN_MAX):
            waited = None if self._spent >= PIECE_NANOSECONDS or self._kept.failed else self._line.next()
            if waited is None:
                return
            if isinstance(waited, Received):
                waited = replace(waited, events=self._pace.events)
            self._handle(waited)

    def _handle(self, given: Input) -> None:
        match given:
            case Received(message=Publish()):
                self._publish(given)
                return
            case Received():
                self._request(given)
            case Undecodable() | TooManyBatches():
                self._kept.step(given, self._now())
            case _:
                self._kept.happen(given, self._now())

    def _request(self, received: Received) -> None:
        try:
            self._kept.request(received, self._now())
        except Exception as error:
            self._apologize(received.session, received.message.correlation, error)

    def _publish(self, received: Received) -> None:
        message = received.message
        assert isinstance(message, Publish)
        began = time.perf_counter_ns()
        try:
            self._kept.request(received, self._now())
        except Exception as error:
            self._apologize(received.session, message.correlation, error)
            self._kept.fail(error)
        took = time.perf_counter_ns() - began
        self._spent += took
        work = self._kernel.work
        if work is not None:
            self._spent_before = took
            self._pace.took(work.at, took)
            return
        if took > PIECE_NANOSECONDS:
            self._pace.took(len(message.rows), took)
        self.durations.add(took // 1_000)

    def _go_on(self, work: Work) -> None:
        """A piece of the batch in work."""
        began = time.perf_counter_ns()
        events = min(self._pace.events, len(work.taken.rows) - work.at)
        try:
            self._kept.step(ContinueBatch(events), self._now())
        except Exception as error:
            self._apologize(work.session, work.batch.correlation, error)
            self._kept.fail(error)
        took = time.perf_counter_ns() - began
        self._spent_before += took
        self._pace.took(events, took)
        if self._kernel.work is None:
            self.durations.add(self._spent_before // 1_000)
            self._kept.advance(self._now())  # a checkpoint may be due, and the next batch may come at once

    def _apologize(self, session: bytes, correlation: int, error: Exception) -> None:
        LOG.exception("a request failed, which is a mistake in the broker")
        reason = f"the broker failed at this request, which is a mistake in the broker: {type(error).__name__}"
        self._kept.perform(Effects([Send(session, Failure(correlation, "internal", reason))]), self._now())
