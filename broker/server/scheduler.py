"""Decides when the kernel gets each input: at once, after a batch in work, in pieces, or when there is room.

The path of a batch: the Receiver takes it from the socket, the Scheduler passes it to the Kernel, at once or after it
waited in the AdmissionQueue, and the OutputGate holds the effects until the journal has made them safe.

Room. An input that may be recorded needs room for its record. Without room, the scheduler refuses requests as busy, and
postpones inputs that cannot be refused (a client has gone, a client unsubscribes) until there is room.

Mistakes of the broker are caught here. The requesting client gets an error, and the broker continues, unless a batch
was matched in part: that ends the broker, because every later answer could be wrong.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Final, final

from ..kernel import (
    Away,
    ClockDue,
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
from ..kernel.answers import failure
from ..kernel.auditing import DONE
from ..kernel.inputs_and_effects import Audit
from ..wire import ROW_OF, Failure, Message, Numbered, Publish
from .admission_queue import AdmissionQueue
from .audit_log import AuditLog
from .durations import Durations
from .logs import LOG, say
from .output_gate import OutputGate
from .slice_sizer import PIECE_NANOSECONDS, SliceSizer
from .tracing import BatchTrace, BatchTraces

LET_IN_MAX: Final = 256
"""How many queued inputs are handled in one pass of the loop."""


@final
class Scheduler:
    """The scheduler. `now`: the wall clock in microseconds. `stopwatch`: nanoseconds, to size the pieces of a batch."""

    def __init__(
        self,
        kernel: Kernel,
        gate: OutputGate,
        now: Callable[[], int],
        stopwatch: Callable[[], int] = time.perf_counter_ns,
        audit_log: AuditLog | None = None,
        traces: BatchTraces | None = None,
    ) -> None:
        self._kernel: Final = kernel
        self._gate: Final = gate
        self._now: Final = now
        self._stopwatch: Final = stopwatch
        self._audit_log: Final = audit_log
        self._traces: Final = traces
        self._trace: BatchTrace | None = None  # of the batch in work
        self._messages = 0  # that the traced batch has caused
        self._queue: Final = AdmissionQueue(kernel)
        self._postponed: deque[Input] = deque()  # inputs that wait for room for a record
        self._sizer: Final = SliceSizer()
        self._spent = 0  # nanoseconds spent on batches in this pass
        self._spent_before = 0  # nanoseconds spent on the batch in work
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
        """The numbers of waiting inputs."""
        return self._queue.statistics()

    def check_invariants(self) -> None:
        """For tests."""
        self._queue.check_invariants()

    # ---- inputs ----

    def receive(self, session: bytes, message: Message, identity: str, size: int) -> None:
        """Handle a client's message of so many bytes, or queue it."""
        self.submit(Received(session, message, identity, self._sizer.events, size), size)

    def submit(self, given: Input, size: int = 0) -> None:
        """Handle an input, or queue it while a batch is in work."""
        if self._queue.admit(given, size):
            self._handle(given)

    def leave(self, session: bytes) -> bool:
        """Note that this session cannot be reached any more; whether that is new."""
        if self._queue.leaving(session):
            return False
        self.step(Gone(session) if self._queue.admit(Gone(session)) else Away(session))
        return True

    def turn(self) -> None:
        """Continue the batch in work, or handle inputs that waited for its end. Called in each pass of the loop."""
        self._spent = 0
        if self._kernel.work is not None:
            self._continue(self._kernel.work)
        else:
            self._let_in()
        self._spent = 0  # new inputs need not wait for earlier batches

    def make_results(self, full: Container[bytes]) -> None:
        """Make some results of queued shares, but none for the sessions in `full`."""
        try:
            self.step(MakeResults(full))
        except Exception as error:
            # A mistake of the broker has lost results, and no subscriber would notice.
            LOG.exception("results could not be made, which is a mistake in the broker")
            self._gate.fail(error)

    def punctuate(self) -> None:
        """Let the clock punctuate."""
        try:
            self.step(ClockDue())
        except Exception as error:
            LOG.exception("the clock could not punctuate, which is a mistake in the broker")
            self._gate.fail(error)

    # ---- the kernel ----

    def step(self, given: Input) -> None:
        """Pass an input to the kernel if there is room for its records; otherwise refuse or postpone it."""
        match _when_full(given):
            case "take":
                self._step(given)
            case "wait":
                if not (isinstance(given, Tick | ClockDue) and self._postponed) and given not in self._postponed:
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
        if effects.audits:
            self._note(effects.audits, now)
        if self._trace is not None:
            self._messages += len(effects.sends)
        self._gate.hold(effects, now)

    def _note(self, audits: Sequence[Audit], now: int) -> None:
        """Write what was asked for to the audit log, and what operators have done to the log."""
        if self._audit_log is not None:
            self._audit_log.write(audits, now)
        for each in audits:
            if each.operator and each.outcome == DONE:
                fields = {"user": each.user, "action": each.action, "name": each.name, **each.details}
                say(logging.WARNING, "changed by an operator", **fields)

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
                if isinstance(given.message, Numbered):  # it may have been carried out in part
                    self._gate.fail(error)

    def _publish(self, received: Received, batch: Publish) -> None:
        traces = self._traces
        if traces is not None:
            self._trace = traces.begin(batch.stream, len(batch.rows), received.size, batch.trace)
            self._messages = 0
        began = self._stopwatch()
        try:
            self.step(received)
        except Exception as error:
            self._apologize(received.session, batch.correlation, error)
            self._gate.fail(error)
        if self._trace is not None and self._kernel.work is None:
            self._end_trace()
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
            if self._trace is not None:
                self._end_trace()
            self.durations.add(self._spent_before // 1_000)
            self._gate.advance(self._now(), True)  # a checkpoint may be due, and the next batch may come at once

    def _end_trace(self) -> None:
        trace, self._trace = self._trace, None
        assert trace is not None
        assert self._traces is not None
        self._traces.matched(trace, self._messages, self._gate.position)

    def _apologize(self, session: bytes, correlation: int, error: Exception) -> None:
        LOG.exception("a request failed, which is a mistake in the broker")
        reason = f"the broker failed at this request, which is a mistake in the broker: {type(error).__name__}"
        self._answer(session, Failure(correlation, "internal", reason))


def _when_full(given: Input) -> str:
    """What to do with an input if there is no room for a record: take it (it needs none), refuse, or wait."""
    if isinstance(given, Received):
        return ROW_OF[type(given.message)].when_full
    return "wait" if isinstance(given, Gone | Reconfigure | Tick | ClockDue) else "take"
