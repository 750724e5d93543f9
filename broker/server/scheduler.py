"""Decides when the kernel gets each input: at once, after a batch in work, piece by piece, or when there is room.

The way of a batch: the Receiver takes it from the socket, the Scheduler hands it to the Kernel, at once or after it has
waited in the AdmissionQueue, and the OutputGate holds the effects until the journal has made them safe.

Room. An input that may be recorded is taken when there is room for its record. Without, the scheduler refuses requests
as busy, and postpones what has happened anyway (a client has gone, a client unsubscribes) until there is room.

Mistakes of the broker end here. The client that asked gets an error; the others keep their broker unless events are
concerned: a batch that was taken in part would make every later answer doubtful.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Final, final

from ..kernel import (
    Away,
    ContinueBatch,
    Effects,
    Gone,
    Input,
    Kernel,
    MakeResults,
    Received,
    Reconfigure,
    Send,
    Tick,
    Work,
)
from ..kernel.listing import failure
from ..wire import ROW_OF, Failure, Message, Publish
from .admission_queue import AdmissionQueue
from .durations import Durations
from .logs import LOG, say
from .output_gate import OutputGate
from .slice_sizer import PIECE_NANOSECONDS, SliceSizer

LET_IN_MAX: Final = 256
"""How many inputs that have waited are handled in one pass of the loop."""


@final
class Scheduler:
    """`now` is the wall clock in microseconds; `stopwatch` counts nanoseconds, to size the pieces of a batch."""

    def __init__(
        self,
        kernel: Kernel,
        gate: OutputGate,
        now: Callable[[], int],
        stopwatch: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._kernel: Final = kernel
        self._gate: Final = gate
        self._now: Final = now
        self._stopwatch: Final = stopwatch
        self._queue: Final = AdmissionQueue(kernel)
        self._postponed: deque[Input] = deque()  # until there is room for a record
        self._sizer: Final = SliceSizer()
        self._spent = 0  # on batches in this pass, in nanoseconds
        self._spent_before = 0  # on the batch in work
        self.durations: Final = Durations()

    @property
    def waiting(self) -> bool:
        """Whether a batch is in work, or inputs wait for its end."""
        return self._kernel.work is not None or bool(self._queue)

    @property
    def crowded(self) -> bool:
        """Whether nothing more should be taken from the socket in this pass."""
        return self._queue.crowded or self._spent >= PIECE_NANOSECONDS

    @property
    def full(self) -> bool:
        """Whether nothing more should be taken from the socket for a while."""
        return self._queue.crowded

    def statistics(self) -> dict[str, int]:
        """Of what waits."""
        return self._queue.statistics()

    def check_invariants(self) -> None:
        """For tests."""
        self._queue.check_invariants()

    # ---- inputs ----

    def receive(self, session: bytes, message: Message, identity: str, size: int) -> None:
        """Handle a client's message of so many bytes, or queue it."""
        self.submit(Received(session, message, identity, self._sizer.events), size)

    def submit(self, given: Input, size: int = 0) -> None:
        """Handle an input, or queue it while a batch is in work."""
        if self._queue.admit(given, size):
            self._handle(given)

    def leave(self, session: bytes) -> bool:
        """Note that nothing reaches this session any more; whether that is news."""
        if self._queue.leaving(session):
            return False
        self.step(Gone(session) if self._queue.admit(Gone(session)) else Away(session))
        return True

    def turn(self) -> None:
        """In each pass of the loop: go on with the batch in work, or handle inputs that have waited for its end."""
        self._spent = 0
        if self._kernel.work is not None:
            self._continue(self._kernel.work)
        else:
            self._let_in()
        self._spent = 0  # what comes now need not wait for that

    def make_results(self, full: Container[bytes]) -> None:
        """Make a piece of the results that wait, but none for these sessions."""
        try:
            self.step(MakeResults(full))
        except Exception as error:
            # A mistake of the broker, and results are lost that no subscriber would learn of.
            LOG.exception("results could not be made, which is a mistake in the broker")
            self._gate.fail(error)

    # ---- the kernel ----

    def step(self, given: Input) -> None:
        """Hand an input to the kernel if there is room for its records; else refuse or postpone it."""
        match _when_full(given):
            case "take":
                self._step(given)
            case "wait":
                if not (isinstance(given, Tick) and self._postponed) and given not in self._postponed:
                    self._postponed.append(given)
                while self._postponed and self._gate.failed is None and self._gate.refusal() is None:
                    self._step(self._postponed.popleft())
            case _:
                refusal = self._gate.refusal()
                if refusal is None:
                    self._step(given)
                elif isinstance(given, Received):
                    self._answer(given.session, failure(given.message.correlation, refusal))

    def _step(self, given: Input) -> None:
        now = self._now()
        effects = self._kernel.step(given, now)
        for each in effects.given_up:
            cursor, position, deliveries = each.cursor, each.position, each.deliveries
            say(logging.WARNING, "result set aside", cursor=cursor, position=position, deliveries=deliveries)
        self._gate.hold(effects, now)

    def _answer(self, session: bytes, message: Message) -> None:
        self._gate.hold(Effects([Send(session, message)]), self._now())

    # ---- batches, and mistakes ----

    def _let_in(self) -> None:
        for _ in range(LET_IN_MAX):
            waited = None if self._spent >= PIECE_NANOSECONDS or self._gate.failed else self._queue.next()
            if waited is None:
                return
            if isinstance(waited, Received):
                waited = replace(waited, events=self._sizer.events)
            self._handle(waited)

    def _handle(self, given: Input) -> None:
        if not isinstance(given, Received):
            self.step(given)
        elif isinstance(given.message, Publish):
            self._publish(given, given.message)
        else:
            try:
                self.step(given)
            except Exception as error:
                self._apologize(given.session, given.message.correlation, error)

    def _publish(self, received: Received, batch: Publish) -> None:
        began = self._stopwatch()
        try:
            self.step(received)
        except Exception as error:
            self._apologize(received.session, batch.correlation, error)
            self._gate.fail(error)
        took = self._stopwatch() - began
        self._spent += took
        work = self._kernel.work
        if work is not None:
            self._spent_before = took
            self._sizer.took(work.at, took)
            return
        if took > PIECE_NANOSECONDS:
            self._sizer.took(len(batch.rows), took)
        self.durations.add(took // 1_000)

    def _continue(self, work: Work) -> None:
        """Match a piece of the batch in work."""
        began = self._stopwatch()
        events = min(self._sizer.events, len(work.record.rows) - work.at)
        try:
            self.step(ContinueBatch(events))
        except Exception as error:
            self._apologize(work.session, work.batch.correlation, error)
            self._gate.fail(error)
        took = self._stopwatch() - began
        self._spent_before += took
        self._sizer.took(events, took)
        if self._kernel.work is None:
            self.durations.add(self._spent_before // 1_000)
            self._gate.advance(self._now(), True)  # a checkpoint may be due, and the next batch may come at once

    def _apologize(self, session: bytes, correlation: int, error: Exception) -> None:
        LOG.exception("a request failed, which is a mistake in the broker")
        reason = f"the broker failed at this request, which is a mistake in the broker: {type(error).__name__}"
        self._answer(session, Failure(correlation, "internal", reason))


def _when_full(given: Input) -> str:
    """What becomes of an input without room for a record: it needs none (take), is refused, or waits."""
    if isinstance(given, Received):
        return ROW_OF[type(given.message)].when_full
    return "wait" if isinstance(given, Gone | Reconfigure | Tick) else "take"
