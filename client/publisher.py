"""Publishes many batches without waiting for each, and sends unanswered ones again after a loss.

Waiting for each receipt leaves the broker idle while the next batch is made, and the publisher idle while the broker
matches. A publisher continues until `window` messages are unanswered, and only then waits for the oldest. The broker
answers in order, so the batches that are known to be accepted come first, then those whose outcome is unknown. If the
client reconnects, it sends the latter again in order; the broker recognises them by their numbers and accepts each
once.

When the broker refuses a batch, later ones were already sent, and the broker accepts them because it does not know that
they belong together. The publisher waits for their answers before it raises the error, which reports their outcome.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn, Protocol, Self, final

from broker.events import DefinitionError, StreamDefinition
from broker.wire import Failure, Message, Published

from .batches import check_batch, column_rows, whole_numbers
from .calls import expected
from .errors import ConnectionLost, ForetellError, ProtocolError, RequestTimeout, remote_error
from .held_batches import HeldBatch, HeldBatches, messages, receipts
from .ownership import ThreadOwner
from .receipt import Receipt, warn_of_refused
from .session import Session
from .times import Times, batch_times
from .tracing import NO_SPANS, PublishSpans

WINDOW_MESSAGES: Final = 16
WINDOW_MESSAGES_MAX: Final = 512
"""Less than the 1,000 messages that ZeroMQ queues on each side, so that a window always fits into the socket."""

LOSSES_MAX: Final = 10
"""So often messages in flight are sent again without a receipt in between: they may be what crashes the broker."""


def checked_window(window: int) -> int:
    """The window, if it is valid. Raises DefinitionError."""
    if type(window) is not int or not 1 <= window <= WINDOW_MESSAGES_MAX:
        raise DefinitionError(f"expected a window of 1 to {WINDOW_MESSAGES_MAX:,} messages, found {window!r}")
    return window


class PublisherConnection(Protocol):
    """What a publisher needs of its client's connection."""

    session: Session
    owner: ThreadOwner

    @property
    def repeats(self) -> bool: ...

    def connected(self) -> int: ...

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None: ...

    def collect(self) -> None: ...

    def answer(self, correlation: int) -> Message: ...


@final
@dataclass(slots=True)
class _InFlight:
    """A message in flight, with whole batches, or with a part of one: the number of its first batch, the index of its
    first row there, and whether it is the last message of its batches."""

    correlation: int
    frame: bytes
    batch: int
    first: int
    last: bool
    batches: list[HeldBatch]

    @property
    def end(self) -> int:
        """The number behind its last batch."""
        return self.batch + len(self.batches)

    def end_spans(self, error: Exception | None = None) -> None:
        for batch in self.batches:
            batch.end_span(error)


@final
class Publisher:
    """Publishes batches to one stream, in order, numbered from 0. A context manager.

    Leaving the block waits for all answers. Without a block, end with `flush`. The publisher holds at most a window of
    messages. Its counters are valid after an error too: `sent` batches, of which `taken` have a receipt, with `count`
    events accepted and `late` ones refused (too late or too early). Until something fails, the batches with a receipt
    are the first ones.

    With `message_events` a batch that comes with fewer events waits for the next ones, until they have so many together
    and travel in one message; also until `flush`. One that waits is not among `sent`.
    """

    __slots__ = (
        "_answers",
        "_begun",
        "_connection",
        "_failed",
        "_held",
        "_in_flight",
        "_losses",
        "_on_receipt",
        "_spans",
        "_stream",
        "_window",
        "count",
        "late",
        "sent",
        "taken",
    )

    def __init__(
        self,
        connection: PublisherConnection,
        stream: StreamDefinition,
        window: int,
        on_receipt: Callable[[int, Receipt], None] | None,
        spans: PublishSpans = NO_SPANS,
        message_events: int = 0,
    ) -> None:
        self._connection = connection
        self._held = HeldBatches(message_events)
        self._spans = spans
        self._stream = stream
        self._window = window
        self._on_receipt = on_receipt
        self._in_flight: deque[_InFlight] = deque()
        self._answers: list[tuple[int, Published]] = []  # to parts of the oldest batch in flight
        self._failed: ForetellError | None = None
        self._begun = connection.session.begun
        self._losses = 0
        self.sent = 0
        self.taken = 0
        self.count = 0
        self.late = 0

    def publish_batch(
        self,
        times: Times | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Times | None = None,
    ) -> None:
        """Send a batch in columns; returns when the window has room for another one. Times are as for `publish_batch`.

        Raises EventError or LimitExceeded for a batch that does not fit the stream or a message. It was not sent, and
        others may follow. (If it takes several messages, the rows before an event that fits no message are accepted.)
        Every other error is final, and names the batch that it concerns, which may be an earlier one: a refusal by the
        broker; ConnectionLost and RequestTimeout, which name the batches whose outcome is unknown.
        """
        self._check()
        self._publish(batch_times(self._connection.session, self._stream, times), rows, ids, starts)

    def publish_columns(
        self, columns: Any, times: Times | None = None, ids: Any = None, starts: Times | None = None
    ) -> None:
        """The same for a batch of which each attribute is a column, as for the client's `publish_columns`."""
        self._check()
        moments = batch_times(self._connection.session, self._stream, times)
        self._publish(moments, column_rows(self._stream, columns, moments), whole_numbers(ids), starts)

    def _publish(
        self,
        times: Sequence[int] | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None,
        starts: Times | None,
    ) -> None:
        session = self._connection.session
        starts = batch_times(session, self._stream, starts)
        rows = check_batch(self._stream, times, rows, ids, starts)
        batch = HeldBatch(times, rows, ids, starts, self._spans.begin(self._stream.name, len(rows)))
        if not self._held.admits(batch):
            self._send_held()
        if self._held.add(batch):
            self._send_held()

    def _send_held(self) -> None:
        """Send the batches that wait."""
        held = self._held.take()
        session, number = self._connection.session, self.sent
        # The last message of a window is answered after all before it. One that is repeated has no deadline.
        waits = 0 if self._connection.repeats else self._window + 1
        request = partial(session.request, waits=waits)
        try:
            for batches, first, last, (correlation, frame) in messages(request, self._stream, held):
                self._send(_InFlight(correlation, frame, number, first, last, batches))
                number += len(batches) if last else 0
                self._settle(min(self._window, session.batches) - 1)
        except ForetellError as error:
            for batch in held:
                batch.end_span(error)
            if self._failed is None and self._held.enough:  # it may be of an earlier call, and others follow it
                self._refuse_unsent(number, error)
            raise

    def flush(self) -> None:
        """Wait for the answers to all batches. Raises as `publish_batch` does."""
        self._check()
        self._send_held()
        self._settle(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._connection.owner.check()
        except ForetellError:
            if kind is None:
                raise
            return  # the exception that ended the block is more important, and nothing changes for the owner
        if self._failed is not None:
            return  # the error was raised already
        if kind is None:
            self.flush()
        elif issubclass(kind, Exception):
            with suppress(ForetellError):  # the exception that ended the block is more important
                self.flush()
        self._abandon()

    def _check(self) -> None:
        self._connection.owner.check()
        if self._failed is not None:
            raise self._failed

    def _send(self, part: _InFlight) -> None:
        alone = not self._in_flight
        self._in_flight.append(part)
        self.sent = part.end
        try:
            # A message behind others must be sent in their session: in a new one it would overtake them.
            self._connection.send(part.frame, part.correlation, None if alone else self._begun)
            self._begun = self._connection.session.begun
        except ForetellError as error:
            if isinstance(error, ConnectionLost) and not alone and self._connection.repeats:
                return  # it is sent again with the others, when the publisher waits for the oldest
            self._in_flight.pop()
            self.sent = part.batch + (part.first > 0)
            self._connection.session.abandon(part.correlation)
            self._lose(error)

    def _repeat(self, error: ForetellError) -> None:
        """Send all messages in flight again in a new session, in order. Raises the error if there is none."""
        while True:
            self._losses += 1
            if self._losses > LOSSES_MAX or not self._connection.repeats:
                raise error
            self._begun = self._connection.connected()
            try:
                for part in self._in_flight:
                    self._connection.send(part.frame, part.correlation, self._begun)
            except ConnectionLost as again:
                error = again
            else:
                return

    def _settle(self, unanswered_max: int) -> None:
        """Process received answers, and wait until at most `unanswered_max` messages are in flight."""
        self._connection.collect()
        while self._in_flight:
            try:
                try:
                    if self._connection.session.begun != self._begun:
                        raise ConnectionLost("the session has begun anew")
                    answer = self._oldest(len(self._in_flight) > unanswered_max)
                except ConnectionLost as error:
                    self._repeat(error)
                    continue
            except ForetellError as error:
                self._lose(error)
            if answer is None:
                return
            part = self._in_flight.popleft()
            if isinstance(answer, Failure):
                self._refuse(part, remote_error(answer))
            self._note(part, answer)

    def _oldest(self, wait: bool) -> Published | Failure | None:
        """The answer to the oldest message in flight; None if it was not received and `wait` is False."""
        correlation = self._in_flight[0].correlation
        answer = self._connection.answer(correlation) if wait else self._connection.session.answer(correlation)
        return answer if answer is None or isinstance(answer, Failure) else expected(answer, Published)

    def _note(self, part: _InFlight, published: Published) -> None:
        self._losses = 0
        self.count += published.count
        self.late += len(published.refused)
        if part.first == 0:
            self._answers = []
        self._answers.append((part.first, published))
        if part.last:
            self.taken += len(part.batches)
            part.end_spans()
            if self._on_receipt is None and not any(answer.refused for _, answer in self._answers):
                return  # nobody looks at the receipts
            told = receipts(part.batches, self._answers)
            if self._on_receipt is not None:
                for batch, receipt in enumerate(told, part.batch):
                    self._on_receipt(batch, receipt)
            warn_of_refused(self._connection.session.warned, self._stream.name, told)

    def _refuse_unsent(self, batch: int, error: ForetellError) -> NoReturn:
        """Raise that a batch which has waited fits no message, after the answers to all before it."""
        self._settle(0)
        error.args = (f"batch {batch}: {error}",)
        self._abandon(error)
        self._failed = error
        raise error

    def _refuse(self, refused: _InFlight, error: ForetellError) -> NoReturn:
        """Raise the broker's refusal of a message, with the outcome of the batches that were sent after it."""
        failed = set(range(refused.batch, refused.end))
        alike = len(failed)
        before = self.taken
        refused.end_spans(error)
        try:
            while self._in_flight:
                answer = self._oldest(wait=True)
                part = self._in_flight.popleft()
                if isinstance(answer, Failure):
                    failed.update(range(part.batch, part.end))
                    part.end_spans(remote_error(answer))
                elif answer is not None and part.batch in failed:
                    self.count += answer.count
                elif answer is not None:
                    self._note(part, answer)
        except ForetellError:
            self._abandon()
        later, taken, more = self.sent - refused.end, self.taken - before, len(failed) - alike
        place = _named(refused.batch, refused.end - 1) + f", from row {refused.first} on" * (refused.first > 0)
        rest = f"; of {later} sent after it, {taken} were taken" * (later > 0)
        rest += f", {more} were refused" * (more > 0)
        rest += f", the outcome of {later - taken - more} is unknown" * (later > taken + more)
        error.args = (f"{place}: {error}{rest}",)
        self._abandon(error)
        self._failed = error
        raise error

    def _lose(self, error: ForetellError) -> NoReturn:
        """Raise the error after which no further answers come, with the batches whose outcome is unknown."""
        if self._in_flight:
            which = _named(self._in_flight[0].batch, self._in_flight[-1].end - 1)
            kind = type(error) if isinstance(error, RequestTimeout | ProtocolError) else ConnectionLost
            error = kind(f"{error}; the outcome of {which} is unknown")
        self._abandon(error)
        self._failed = error
        raise error

    def _abandon(self, error: ForetellError | None = None) -> None:
        while self._in_flight:
            part = self._in_flight.popleft()
            self._connection.session.abandon(part.correlation)
            part.end_spans(error)
        for batch in self._held.take():
            batch.end_span(error)


def _named(first: int, last: int) -> str:
    return f"batch {first}" if first == last else f"batches {first} to {last}"
