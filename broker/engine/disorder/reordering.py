"""An engine's events in any order: to subscriptions that revise their results at once, to all others when final.

Here: the way of an event, a withdrawal and a punctuation. Not here: when an event is final (watermarks), the order of
those that are (buffer), who revises (readers), the effect of an event in order (dispatch).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

from sortedcontainers import SortedDict

from ...automaton.arc_updates import ChangedArcs
from ...events.batch import batch_of_rows
from ...events.errors import DuplicateEvent, EventError, LateEvent, LimitExceeded, UnknownEvent
from ...events.instant import FOREVER
from ...events.schema import Row
from ...events.stream import StreamDefinition
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.punctuation import newest, punctuate, release
from ..executors.event_ids import event_ids
from ..notices import Notice
from ..program.target import Target
from ..results import Results
from ..subscribing.catalog import Catalog
from .buffer import ReorderBuffer
from .copies import OrderedCopies
from .held_columns import HeldColumns
from .joined import JoinedResults, RevisedResults
from .numbers import SequenceNumbers
from .readers import RevisingReaders
from .settlement import Settlement
from .watermarks import NOTHING_PROMISED, Watermarks


@final
class Reordering:
    """`ahead`: events that are too far ahead of the safe time for subscriptions that revise (AFA, 5.3)."""

    def __init__(self, catalog: Catalog, runtime: Dispatcher) -> None:
        self.options = catalog.options
        self.runtime = runtime
        processed = newest(runtime)
        self.marks = Watermarks(catalog.streams, NOTHING_PROMISED if processed is None else processed)
        self.buffer = ReorderBuffer()
        self.ahead = ReorderBuffer()
        self.readers = RevisingReaders(catalog.options)
        self.copies = OrderedCopies(catalog, runtime.program, self.readers, self.marks)
        self.numbers: dict[str, SequenceNumbers] = {}
        self.settlement = Settlement(self.marks, self.readers, self.buffer, catalog.options.promised_regions_max)

    # --- events -------------------------------------------------------------------------------------------------

    def floor(self, stream: str) -> int | None:
        """The time before which an event of the stream is late."""
        floor = self.marks.floor(stream)
        return None if floor == NOTHING_PROMISED else floor

    def check(self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]) -> None:
        """Raise LimitExceeded if the events have no room, DuplicateEvent if the id of one is taken, LateEvent if one is
        behind a punctuation of such events."""
        self._check_room(stream, len(ids))
        known = self.buffer.known
        if self._known(stream) and not (len(set(ids)) == len(ids) and known.isdisjoint(ids)):
            self._refuse(stream, times, rows, ids)
        elif self._says_more(stream):
            self._refuse(stream, times, rows, ids)

    def _says_more(self, stream: StreamDefinition) -> bool:
        """Whether events can be refused for more than their times and ids."""
        return stream.name in self.settlement.promised or stream.sequence is not None

    def _check_room(self, stream: StreamDefinition, events: int) -> None:
        most = self.options.buffered_events_max
        if len(self.buffer) + events > most:
            raise LimitExceeded(
                f"stream {stream.name!r}: at most {most} events may wait until they are final (buffered_events_max);"
                f" a punctuation, or lateness, lets them go"
            )

    def _refuse(self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]) -> None:
        """Raise the first fault of a batch, if it has one."""
        for index, fault, message in self.faults(stream, times, rows, ids):
            raise fault(f"stream {stream.name!r}, row {index}: {message}")

    def faults(
        self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]
    ) -> Iterator[tuple[int, type[EventError], str]]:
        """The events of a batch that are refused, by index, each with its error. The others fit together. O(batch)."""
        settlement, lateness = self.settlement, stream.lateness
        numbers, counted = self._numbers(stream), SortedDict()
        known = self.buffer.known if self._known(stream) else set()
        seen: set[int] = set()
        floor = self.marks.floor(stream.name)
        for index, (time, row, number) in enumerate(zip(times, rows, ids)):
            promised = settlement.floor(stream.name, row)
            if time < max(floor, promised):
                which = " of such an event" if promised > floor else ""
                late = f"expected a time of {max(floor, promised)} or later{which}, before which all is final"
                yield index, LateEvent, f"{late}, found {time}"
            elif number in known or number in seen:
                expected = "expected an id that no other event has which may still be withdrawn"
                yield index, DuplicateEvent, f"{expected}, found {number} again"
            else:
                if numbers is not None:
                    counts = numbers.number(row)
                    fault = numbers.fault(counts, time, counted)
                    if fault is not None:
                        yield index, fault[0], fault[1]
                        continue
                    counted[counts] = time
                if self._known(stream):
                    seen.add(number)
                if lateness is not None:
                    floor = max(floor, time - lateness)

    def _numbers(self, stream: StreamDefinition) -> SequenceNumbers | None:
        """The numbers of a stream that have come; None: its events have none."""
        if stream.sequence is None:
            return None
        found = self.numbers.get(stream.name)
        return SequenceNumbers(stream.schema.position(stream.sequence)) if found is None else found

    def _known(self, stream: StreamDefinition) -> bool:
        """Whether events of the stream are known by their ids until they are final: to be withdrawn, or by those who
        revise."""
        return stream.disorder != "arrival" or stream.name in self.readers.readers

    @property
    def reported_until(self) -> int:
        """The time before which later calls give no results; FOREVER if some are not told in the order of time."""
        return FOREVER if len(self.readers.by_name) > 0 else self.marks.safe

    def publish(
        self, stream: StreamDefinition, times: list[int], rows: list[Row], ids: list[int], starts: list[int]
    ) -> JoinedResults:
        """Process a batch of events whose times and rows fit. Raises as `check` does, and changes nothing then."""
        self._check_room(stream, len(ids))
        if self._says_more(stream):
            self._refuse(stream, times, rows, ids)
        newest = self.buffer.add(stream.name, times, ids, starts, rows, self._known(stream))
        if newest is None:
            self._refuse(stream, times, rows, ids)
            raise AssertionError("an id that is taken is a fault")
        self.settlement.forget(stream.name)
        marks = self.marks
        if len(self.readers.by_name) + len(self.ahead) == 0 and stream.sequence is None:  # nobody is told before then
            if not ids or not marks.note(marks.part(stream.name), newest, marks.lag(stream.name)):
                return JoinedResults([])
            return JoinedResults(self._process(self.buffer.release(marks.safe)))
        found = RevisedResults(self.runtime.result_ids)
        if self.options.cancelling:
            self._take(stream, times, rows, ids, starts, newest, found)
        else:
            for i in range(len(times)):
                self._take(stream, [times[i]], [rows[i]], [ids[i]], [starts[i]], times[i], found)
        return JoinedResults([found, *self._process(self.buffer.release(self.marks.safe))])

    def _take(
        self, stream: StreamDefinition, times: list[int], rows: list[Row], ids: list[int], starts: list[int],
        newest: int, found: RevisedResults,
    ) -> None:  # fmt: skip
        """Let time pass to these events, the latest of which has the time `newest`, and show them; what they change
        together is told."""
        marks, part, lag = self.marks, self.marks.part(stream.name), self.marks.lag(stream.name)
        read, passed = stream.name in self.readers.readers, False
        if read and stream.speculation is not None:
            for i in range(len(times)):
                passed = marks.note(part, times[i], lag) or passed
                if times[i] < marks.safe + stream.speculation:
                    self.readers.take(stream.name, times[i], ids[i], rows[i])
                else:
                    self.ahead.add(stream.name, [times[i]], [ids[i]], [starts[i]], [rows[i]], True)
        elif len(times) > 0:
            passed = marks.note(part, newest, lag)  # the latest of them says all
            if read:
                for i in range(len(times)):
                    self.readers.take(stream.name, times[i], ids[i], rows[i])
        numbers = self._numbers(stream)
        if numbers is not None:
            self.numbers[stream.name] = numbers
            for row, time in zip(rows, times):
                numbers.note(numbers.number(row), time)
            passed = self._count(stream.name, numbers) or passed
        if passed:
            self._catch_up()
        self.readers.tell(found, len(times))
        if passed and len(self.readers.by_name) > 0:
            self.readers.pass_time(marks.safe, found)

    def _count(self, stream: str, numbers: SequenceNumbers) -> bool:
        """What has come without a gap is a promise of the stream. Returns whether more events are safe."""
        safe = False
        while True:
            numbers.pass_by(self.marks.floor(stream))
            if numbers.time == NOTHING_PROMISED or numbers.time < self.marks.floor(stream):
                return safe
            safe = self.marks.promise(numbers.time + 1, stream) or safe

    def declare_gap(self, stream: StreamDefinition, first: int, last: int) -> JoinedResults:
        """Events with these numbers do not come. Raises EventError if one has."""
        numbers = self._numbers(stream)
        assert numbers is not None
        try:
            numbers.declare(first, last)
        except EventError as error:
            raise EventError(f"stream {stream.name!r}: {error}") from None
        self.numbers[stream.name] = numbers
        return self._promised(self.marks.safe, False, lambda: punctuate(self.runtime, self.marks.safe))

    def _settle(self, before: int, found: RevisedResults) -> None:
        """Time has passed by a promise in words; `before`: the safe time before it."""
        self._catch_up()
        self.readers.tell(found)
        if len(self.readers.by_name) > 0:
            self.settlement.settle(before, found)

    def _catch_up(self) -> None:
        """Show the events that are no longer too far ahead. O(log of those that are), and what they change."""
        if len(self.ahead) == 0:
            return
        streams, safe = self.marks.streams, self.marks.safe
        farthest = safe + max(stream.speculation or 0 for stream in streams.values())
        for event in self.ahead.before(farthest):
            if event.time < safe + (streams[event.stream].speculation or 0):
                self.ahead.withdraw(event.number)
                self.readers.take(event.stream, event.time, event.number, event.row)

    def _process(self, held: HeldColumns) -> list[Results | RevisedResults]:
        """Pass events that are final to the dispatcher, those of one stream after each other as one batch."""
        found: list[Results | RevisedResults] = []
        streams, n, begin = held.streams, len(held.times), 0
        while begin < n:
            stream, end = held.stream, n
            if stream is None:
                stream, end = streams[begin], begin + 1
                while end < n and streams[end] == stream:
                    end += 1
            part = held if end - begin == n else held.part(begin, end)
            starts = part.times if part.instants else part.starts
            batch, ids = batch_of_rows(part.rows), event_ids(part.numbers)
            found.append(self.runtime.process(stream, part.times, batch, ids, starts))
            begin = end
        return found

    def retract(self, number: int) -> JoinedResults:
        """Withdraw an event. Raises UnknownEvent if none of that id may be withdrawn."""
        known = self.buffer.find(number)
        event = None
        if known is not None and self.marks.streams[known.stream].disorder != "arrival":
            if known.time >= self.settlement.floor(known.stream, known.row):
                event = self.buffer.withdraw(number)
        if event is None:
            raise UnknownEvent(
                f"expected the id of an event that may be withdrawn, found {number}: it is unknown, or it is final"
            )
        found = RevisedResults(self.runtime.result_ids)
        if self.ahead.withdraw(number) is None:
            self.readers.withdraw(event.stream, event.time, number, event.row, found)
        return JoinedResults([found])

    def rewrite(self, name: str, changed: ChangedArcs) -> JoinedResults:
        """Replace the arcs of a subscription, if it revises."""
        found = RevisedResults(self.runtime.result_ids)
        reader = self.readers.by_name.get(name)
        if reader is not None:
            self.readers.rewrite(reader, changed, found)
        return JoinedResults([found])

    # --- time ---------------------------------------------------------------------------------------------------

    def punctuate(self, time: int, stream: str | None, where: str | None = None) -> JoinedResults:
        """Promise that no earlier event comes or is withdrawn; `where`: of those that satisfy this predicate."""
        if stream is not None and self.marks.part(stream) != stream:
            raise EventError(
                f"stream {stream!r}: expected a punctuation of all streams, since events of this one come in order"
            )
        if where is not None and stream is None:
            raise EventError("expected a stream beside the predicate of a punctuation, found none")
        before = self.marks.safe
        if where is None or stream is None:
            safe = self.marks.promise(time, stream)
        else:
            safe = self.settlement.promise(time, self.marks.streams[stream], where)
        return self._promised(before, safe, lambda: punctuate(self.runtime, self.marks.safe))

    def _promised(self, before: int, safe: bool, close: Callable[[], Results] | None) -> JoinedResults:
        """What a promise in words gives; `safe`: whether more events are safe now than `before`."""
        for name, numbers in self.numbers.items():
            safe = self._count(name, numbers) or safe
        found = RevisedResults(self.runtime.result_ids)
        parts: list[Results | RevisedResults] = [found]
        self._settle(before, found)
        for stream in list(self.settlement.promised):
            self.settlement.forget(stream)
        if safe:
            parts += self._process(self.buffer.release(self.marks.safe))
            if close is not None:
                parts.append(close())
        return JoinedResults(parts)

    def finish(self, end: int, close: Callable[[], list[tuple[Target, Notice]]]) -> JoinedResults:
        """No more events come, for now: all are final, and later ones must be later. `close` gives further notices."""
        marks, before = self.marks, self.marks.safe
        parts: list[Results | RevisedResults] = []
        if marks.newest != NOTHING_PROMISED and marks.promise(marks.newest + 1, None):
            parts += self._promised(before, True, None).parts
        last = release(self.runtime, end)
        for target, notice in close():
            last.notify(0, target, notice)
        return JoinedResults([*parts, last])

    def widen(self, stream: str, width: int) -> None:
        """A stream has got an attribute."""
        self.buffer.widen(stream, width)
        self.ahead.widen(stream, width)
        if stream in self.settlement.promised:
            self.settlement.promised[stream].schema = self.marks.streams[stream].schema

    def forget(self, stream: StreamDefinition) -> JoinedResults:
        """A stream that nothing reads has gone, with its events; others need not wait for it any more."""
        self.buffer.forget(stream.name)
        self.ahead.forget(stream.name)
        self.settlement.promised.pop(stream.name, None)
        self.numbers.pop(stream.name, None)
        found = RevisedResults(self.runtime.result_ids)
        parts: list[Results | RevisedResults] = [found]
        if self.marks.forget(stream.name, stream.disorder):
            self._catch_up()
            self.readers.tell(found)
            self.readers.pass_time(self.marks.safe, found)
            parts += self._process(self.buffer.release(self.marks.safe))
        return JoinedResults(parts)

    def end(self) -> list[Results | RevisedResults]:
        """No stream has disorder any more: what is held back is final."""
        assert not self.readers.by_name
        return self._process(self.buffer.release(FOREVER))

    def leave(self, name: str) -> None:
        """A subscription goes."""
        if name in self.readers.by_name:
            self.readers.leave(name)

    # --- questions ----------------------------------------------------------------------------------------------

    def due(self) -> int:
        """The time of the first event that is not final; FOREVER if all are."""
        return self.buffer.first()

    def stream_of(self, number: int) -> str | None:
        """The stream of an event that may be withdrawn; None: there is no such event."""
        event = self.buffer.find(number)
        return None if event is None else event.stream

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, Any]:
        """Events that are not final, and how far the safe time is behind the newest event."""
        return {
            "buffered_events": len(self.buffer),
            "overtaken_events": int(self.buffer.overtaken),
            "events_ahead": len(self.ahead),
            "revising": len(self.readers.by_name),
            "finality_behind": self.marks.behind(self.buffer.first()),
            **self.settlement.statistics(),
            "numbers_missing": sum([numbers.missing() for numbers in self.numbers.values()]),
            "numbers_lost": sum([numbers.lost for numbers in self.numbers.values()]),
        }

    def dump(self) -> Any:
        """Plain data."""
        kept = [self.marks.dump(), self.buffer.dump(), self.ahead.dump(), self.readers.dump()]
        return [*kept, self.settlement.dump(), [[name, each.dump()] for name, each in self.numbers.items()]]

    def load(self, data: Any) -> None:
        """The inverse, after all subscriptions have joined."""
        marks, buffer, ahead, readers, promised, counted = [*data, [], []][:6]  # earlier versions lacked the last two
        self.marks.load(marks)
        self.buffer.load(buffer)
        self.ahead.load(ahead)
        self.readers.load(readers)
        self.settlement.load(promised)
        for name, kept in counted:
            numbers = self._numbers(self.marks.streams[name])
            assert numbers is not None
            self.numbers[name] = numbers
            numbers.load(kept)

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        self.buffer.check_invariants()
        self.ahead.check_invariants()
        self.readers.check_invariants()
        self.settlement.check_invariants()
        for numbers in self.numbers.values():
            numbers.check_invariants()
        assert self.buffer.first() >= self.marks.safe
        assert set(self.ahead.since(-FOREVER)) <= set(self.buffer.since(-FOREVER))
