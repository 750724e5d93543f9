"""Publishes many batches at once: keeps those without an answer in order, and sends them again after a loss.

Waiting for each receipt leaves the broker idle while the next batch is made, and the publisher while it is matched. A
publisher goes on until `window` messages are unanswered, and only then waits for the oldest. The broker answers in the
order in which it was asked, so that at any time the batches that are known to be taken come first, then those whose
outcome is not known yet. Of a client that reconnects, these are sent again after a loss, in order: the broker knows
them by their numbers, and takes each once.

Where a batch is refused, others have been sent behind it, which the broker takes: it does not know that they belong
together. They are waited for before the error is raised, so that it can say what became of them.
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

from .batches import check_batch, merged, parts
from .calls import expected
from .errors import ConnectionLost, ForetellError, ProtocolError, RequestTimeout, remote_error
from .receipt import Receipt
from .session import Session

WINDOW_MESSAGES: Final = 16
WINDOW_MESSAGES_MAX: Final = 512
"""Below the 1,000 messages that ZeroMQ takes in on each side, so that a window never waits within a socket."""

LOSSES_MAX: Final = 10
"""So often what is under way is sent again without a receipt in between: it may be what ends the broker."""


def checked_window(window: int) -> int:
    """The window itself if it is one. Raises DefinitionError."""
    if type(window) is not int or not 1 <= window <= WINDOW_MESSAGES_MAX:
        raise DefinitionError(f"expected a window of 1 to {WINDOW_MESSAGES_MAX:,} messages, found {window!r}")
    return window


class Way(Protocol):
    """What a publisher asks of its client's connection."""

    session: Session

    @property
    def repeats(self) -> bool: ...

    def connected(self) -> int: ...

    def send(self, frame: bytes, correlation: int = 0, begun: int | None = None) -> None: ...

    def collect(self) -> None: ...

    def answer(self, correlation: int) -> Message: ...


@final
@dataclass(frozen=True, slots=True)
class _Part:
    """A message under way: which batch it belongs to, the index of its first row there, whether it is its last one."""

    correlation: int
    frame: bytes
    batch: int
    first: int
    last: bool


@final
class Publisher:
    """Publishes batches to one stream, in order; they are numbered from 0 on. A context manager.

    Leaving the block waits for what is under way. Without a block, end with `flush`. At most a window of messages is
    held here. Numbers to look at, also after an error: `sent` batches of which `taken` have a receipt, with `count`
    events taken and `late` ones refused, or early ones. As long as nothing has failed, the batches with a receipt are
    the first ones.
    """

    __slots__ = (
        "_answers",
        "_begun",
        "_connection",
        "_failed",
        "_flying",
        "_losses",
        "_on_receipt",
        "_stream",
        "_window",
        "count",
        "late",
        "sent",
        "taken",
    )

    def __init__(
        self,
        connection: Way,
        stream: StreamDefinition,
        window: int,
        on_receipt: Callable[[int, Receipt], None] | None,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._window = window
        self._on_receipt = on_receipt
        self._flying: deque[_Part] = deque()
        self._answers: list[tuple[int, Published]] = []  # to parts of the oldest batch under way
        self._failed: ForetellError | None = None
        self._begun = connection.session.begun
        self._losses = 0
        self.sent = 0
        self.taken = 0
        self.count = 0
        self.late = 0

    def publish_batch(
        self,
        times: Sequence[int] | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        """Send a batch in columns; comes back when there is room for another one in the window.

        Raises EventError or LimitExceeded for a batch that does not fit stream or message: it was not sent, and others
        may follow. (Of a batch of several messages, the rows before an event that fits no message are taken.) Every
        other error is final and may concern an earlier batch, which it names: what the broker refused; ConnectionLost
        and RequestTimeout, which say of which batches the outcome is unknown.
        """
        self._check()
        batch = self.sent
        rows = check_batch(self._stream, times, rows, ids, starts)
        # The last one of a window is waited for after all before it. What is said again after a loss is never too late.
        waits = 0 if self._connection.repeats else self._window + 1
        request = partial(self._connection.session.request, waits=waits)
        for first, last, (correlation, frame) in parts(request, self._stream.name, times, rows, ids, starts):
            self._send(_Part(correlation, frame, batch, first, last))
            self._settle(min(self._window, self._connection.session.batches) - 1)

    def flush(self) -> None:
        """Wait until everything that was sent is answered. Raises as `publish_batch` does."""
        self._check()
        self._settle(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._failed is not None:
            return  # it was raised already
        if kind is None:
            self.flush()
        elif issubclass(kind, Exception):
            with suppress(ForetellError):  # what ended the block is more important
                self.flush()
        self._abandon()

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _send(self, part: _Part) -> None:
        alone = not self._flying
        self._flying.append(part)
        self.sent = part.batch + 1
        try:
            # Behind others only in the session that they were sent in: it must not come before them.
            self._connection.send(part.frame, part.correlation, None if alone else self._begun)
            self._begun = self._connection.session.begun
        except ForetellError as error:
            if isinstance(error, ConnectionLost) and not alone and self._connection.repeats:
                return  # it is sent again with them, when the oldest is waited for
            self._flying.pop()
            self.sent = part.batch + (part.first > 0)
            self._connection.session.abandon(part.correlation)
            self._lose(error)

    def _repeat(self, error: ForetellError) -> None:
        """Say everything that is under way in another session, in order. Raises where there is none."""
        while True:
            self._losses += 1
            if self._losses > LOSSES_MAX or not self._connection.repeats:
                raise error
            self._begun = self._connection.connected()
            try:
                for part in self._flying:
                    self._connection.send(part.frame, part.correlation, self._begun)
            except ConnectionLost as again:
                error = again
            else:
                return

    def _settle(self, unanswered_max: int) -> None:
        """Take the answers that are here, and wait for as many as are too many."""
        self._connection.collect()
        while self._flying:
            try:
                try:
                    if self._connection.session.begun != self._begun:
                        raise ConnectionLost("the session has begun anew")
                    answer = self._oldest(len(self._flying) > unanswered_max)
                except ConnectionLost as error:
                    self._repeat(error)
                    continue
            except ForetellError as error:
                self._lose(error)
            if answer is None:
                return
            part = self._flying.popleft()
            if isinstance(answer, Failure):
                self._refuse(part, remote_error(answer))
            self._note(part, answer)

    def _oldest(self, wait: bool) -> Published | Failure | None:
        """The answer to the oldest message under way; None if it is not here and need not be."""
        correlation = self._flying[0].correlation
        answer = self._connection.answer(correlation) if wait else self._connection.session.answer(correlation)
        return answer if answer is None or isinstance(answer, Failure) else expected(answer, Published)

    def _note(self, part: _Part, published: Published) -> None:
        self._losses = 0
        self.count += published.count
        self.late += len(published.refused)
        if part.first == 0:
            self._answers = []
        self._answers.append((part.first, published))
        if part.last:
            self.taken += 1
            if self._on_receipt is not None:
                self._on_receipt(part.batch, merged(self._answers))

    def _refuse(self, refused: _Part, error: ForetellError) -> NoReturn:
        """The broker has refused a batch: what became of those that were sent behind it?"""
        failed = {refused.batch}
        before = self.taken
        try:
            while self._flying:
                answer = self._oldest(wait=True)
                part = self._flying.popleft()
                if isinstance(answer, Failure):
                    failed.add(part.batch)
                elif answer is not None and part.batch in failed:
                    self.count += answer.count
                elif answer is not None:
                    self._note(part, answer)
        except ForetellError:
            self._abandon()
        later, taken, more = self.sent - refused.batch - 1, self.taken - before, len(failed) - 1
        place = f"batch {refused.batch}" + f", from row {refused.first} on" * (refused.first > 0)
        rest = f"; of {later} sent after it, {taken} were taken" * (later > 0)
        rest += f", {more} were refused" * (more > 0)
        rest += f", the outcome of {later - taken - more} is unknown" * (later > taken + more)
        error.args = (f"{place}: {error}{rest}",)
        self._failed = error
        raise error

    def _lose(self, error: ForetellError) -> NoReturn:
        """No further answers: say of which batches there is none."""
        if self._flying:
            first, last = self._flying[0].batch, self._flying[-1].batch
            which = f"batch {first}" if first == last else f"batches {first} to {last}"
            kind = type(error) if isinstance(error, RequestTimeout | ProtocolError) else ConnectionLost
            error = kind(f"{error}; the outcome of {which} is unknown")
        self._abandon()
        self._failed = error
        raise error

    def _abandon(self) -> None:
        while self._flying:
            self._connection.session.abandon(self._flying.popleft().correlation)
