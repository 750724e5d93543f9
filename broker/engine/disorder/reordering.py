"""An engine's events in any order: to subscriptions that revise their results at once, to all others when final.

Here: the way of an event, a withdrawal and a punctuation. Not here: when an event is final (watermarks), the order of
those that are (buffer), who revises (readers), the effect of an event in order (dispatch).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

from ...automaton.arc_updates import ChangedArcs
from ...events.batch import Batch, batch_of_rows
from ...events.errors import EventError, unknown_event
from ...events.instant import FOREVER
from ...events.schema import Row
from ...events.stream import StreamDefinition
from ..dispatch.dispatcher import Dispatcher
from ..dispatch.punctuation import newest, punctuate, release
from ..dispatch.time_order import horizon_in
from ..executors.event_ids import EventIds, event_ids
from ..notices import Notice
from ..program.target import Target
from ..results import Results, results_of_moment
from ..subscribing.catalog import Catalog
from ..subscribing.holdings import Holding
from ..subscribing.subscriber import Subscriber
from .checks import BatchChecks
from .copies import OrderedCopies
from .held_columns import HeldEvent
from .joined import JoinedResults, RevisedResults
from .numbers import SequenceNumbers
from .readers import RevisingReaders
from .related import StreamOrders
from .settlement import Settlement
from .stream_order import NOTHING_PROMISED, StreamOrder
from .watermarks import IN_ORDER, Watermarks


@final
class Reordering:
    def __init__(self, catalog: Catalog, runtime: Dispatcher) -> None:
        self.options = catalog.options
        self.runtime = runtime
        processed = newest(runtime)
        self.orders = StreamOrders(catalog, runtime)
        self.marks = Watermarks(catalog.streams, self.orders.of)
        if processed is not None:
            self.marks.newest = self.marks.arrived[IN_ORDER] = self.orders.first.safe = processed
        if runtime.promised is not None:
            self.marks.promised = runtime.promised
        self.readers = RevisingReaders(catalog.options, self.marks)
        self.copies = OrderedCopies(catalog, runtime.program, self.readers, self.marks)
        self.settlement = Settlement(self.marks, self.readers, catalog.options.promised_regions_max)
        most = catalog.options.buffered_events_max
        self.checks = BatchChecks(self.orders, self.marks, self.settlement, most)

    # --- events -------------------------------------------------------------------------------------------------

    def floor(self, stream: str) -> int | None:
        """The time before which an event of the stream is late."""
        floor = self.marks.floor(stream)
        return None if floor == NOTHING_PROMISED else floor

    @property
    def reported_until(self) -> int:
        """The time before which later calls give no results; FOREVER if some are not told in the order of time."""
        orders = self.orders.all
        if len(self.readers.by_name) > 0 or len(orders) > 2:
            return FOREVER
        first = self.marks.arrived.get(IN_ORDER, FOREVER) if orders[0].punctual else FOREVER
        return min(first, orders[-1].safe)

    def publish(
        self, stream: StreamDefinition, times: list[int], batch: Batch, ids: EventIds, starts: list[int]
    ) -> JoinedResults:
        """Process a batch of events whose times and rows fit. Raises as `check` does, and changes nothing then."""
        self.orders.follow()
        order = self.orders.of(stream.name)
        if order.late:
            return self._held_back(stream, order, times, batch.rows(), ids.all(), starts)
        parts = self.settled()
        order = self.orders.first
        self.runtime.enter(order.time)
        if not times:
            return JoinedResults(parts)
        self.marks.note(stream.name, times[-1])
        self.marks.advance(order)
        parts.append(self.runtime.process(stream.name, times, batch, ids, starts))
        return JoinedResults([*parts, *self._others(stream.name, order)])

    def _held_back(
        self, stream: StreamDefinition, order: StreamOrder, times: list[int], rows: list[Row], ids: list[int],
        starts: list[int],
    ) -> JoinedResults:  # fmt: skip
        """Process a batch of a stream whose events may wait, or be waited for."""
        checks, marks, name = self.checks, self.marks, stream.name
        checks.check_room(stream, len(ids))
        if checks.says_more(stream) or self.orders.unsettled:
            checks.refuse(stream, times, rows, ids)
        known = checks.known(stream)
        free = not known or checks.is_free(ids, order)
        newest = order.buffer.add(name, times, ids, starts, rows, known) if free else None
        if newest is None:
            checks.refuse(stream, times, rows, ids)
            raise AssertionError("an id that is taken is a fault")
        if not ids:
            return JoinedResults([])
        marks.begin(name)
        parts = self.settled()
        self.settlement.forget(name)
        if len(self.readers.by_name) + len(order.ahead) == 0 and stream.sequence is None:  # nobody is told before then
            if marks.note(name, newest) and marks.advance(order):
                parts += self._process(order)
        else:
            found = RevisedResults(self.runtime.result_ids)
            if self.options.cancelling:
                self._take(stream, order, times, rows, ids, starts, newest, found)
            else:
                for i in range(len(times)):
                    self._take(stream, order, [times[i]], [rows[i]], [ids[i]], [starts[i]], times[i], found)
            parts += [found, *self._process(order)]
        return JoinedResults([*parts, *self._others(name, order)])

    def _others(self, stream: str, order: StreamOrder) -> list[Results | RevisedResults]:
        """An event of a stream in order is a promise for all others that are. O(orders with such streams)."""
        parts: list[Results | RevisedResults] = []
        if stream in order.punctual:
            for other in self.orders.all:
                if other is not order and other.punctual and self.marks.advance(other):
                    parts += self._advanced(other)
        return parts

    def _advanced(self, order: StreamOrder) -> list[Results | RevisedResults]:
        """What becomes final in an order, once more events are safe in it."""
        found = RevisedResults(self.runtime.result_ids)
        self._catch_up(order)
        self.readers.tell(found)
        self.readers.pass_time(order, found)
        parts: list[Results | RevisedResults] = [found, *self._process(order)]
        self.runtime.enter(order.time)
        if self.runtime.program.machines.clock.next < order.safe and not order.late:
            parts.append(punctuate(self.runtime, order.safe))
        return parts

    def settled(self) -> list[Results | RevisedResults]:
        """What is final since streams have no relation any more, of those that waited for each other. O(1) if nothing
        has changed."""
        if not self.orders.unsettled:
            return []
        parts = self._parted()
        for order in self.orders.all:
            if self.marks.advance(order):
                parts += self._advanced(order)
        return parts

    def _parted(self) -> list[Results | RevisedResults]:
        """The part of streams without disorder, which wait for nothing more. A promise in words tells the rest."""
        parts: list[Results | RevisedResults] = []
        for order in self.orders.leaving:
            order.safe = FOREVER
            parts += self._process(order)
            if IN_ORDER in self.marks.arrived:
                parts.append(punctuate(self.runtime, self.marks.arrived[IN_ORDER]))
        if self.orders.unsettled:
            self.orders.settle()
        return parts

    def _take(
        self, stream: StreamDefinition, order: StreamOrder, times: list[int], rows: Sequence[Row], ids: list[int],
        starts: list[int], newest: int, found: RevisedResults,
    ) -> None:  # fmt: skip
        """Let time pass to these events, the latest of which has the time `newest`, and show them; what they change
        together is told."""
        marks, name = self.marks, stream.name
        read, passed = name in self.readers.readers, False
        if read and stream.speculation is not None:
            for i in range(len(times)):
                passed = (marks.note(name, times[i]) and marks.advance(order)) or passed
                if times[i] < order.safe + stream.speculation:
                    self.readers.take(name, times[i], ids[i], ids[i], rows[i])
                else:
                    order.ahead.add(stream.name, [times[i]], [ids[i]], [starts[i]], [rows[i]], True)
        elif len(times) > 0:
            passed = marks.note(name, newest) and marks.advance(order)  # the latest of them says all
            if read:
                for i in range(len(times)):
                    self.readers.take(name, times[i], ids[i], ids[i], rows[i])
        numbers = self.checks.numbers_of(stream)
        if numbers is not None:
            self.checks.numbers[stream.name] = numbers
            for row, time in zip(rows, times):
                numbers.note(numbers.number(row), time)
            self._count(name, numbers)
            passed = marks.advance(order) or passed
        if passed:
            self._catch_up(order)
        self.readers.tell(found, len(times))
        if passed and len(self.readers.by_name) > 0:
            self.readers.pass_time(order, found)

    def _count(self, stream: str, numbers: SequenceNumbers) -> None:
        """What has come without a gap is a promise of the stream."""
        while True:
            numbers.pass_by(self.marks.floor(stream))
            if numbers.time == NOTHING_PROMISED or numbers.time < self.marks.floor(stream):
                return
            self.marks.promise(numbers.time + 1, stream)

    def declare_gap(self, stream: StreamDefinition, first: int, last: int) -> JoinedResults:
        """Events with these numbers do not come. Raises EventError if one has."""
        numbers = self.checks.numbers_of(stream)
        assert numbers is not None
        try:
            numbers.declare(first, last)
        except EventError as error:
            raise EventError(f"stream {stream.name!r}: {error}") from None
        self.checks.numbers[stream.name] = numbers
        self.orders.follow()
        self._remember()
        return JoinedResults([*self._parted(), *self._promised(True)])

    def _settle(self, found: RevisedResults) -> None:
        """Time has passed by a promise in words."""
        for order in self.orders.all:
            self._catch_up(order)
        self.readers.tell(found)
        if len(self.readers.by_name) > 0:
            self.settlement.settle(found)

    def _catch_up(self, order: StreamOrder) -> None:
        """Show the events that are no longer too far ahead. O(log of those that are), and what they change."""
        if len(order.ahead) == 0:
            return
        streams, safe = self.marks.streams, order.safe
        farthest = safe + max(streams[stream].speculation or 0 for stream in order.late)
        for event in order.ahead.before(farthest):
            if event.time < safe + (streams[event.stream].speculation or 0):
                order.ahead.withdraw(event.number)
                self.readers.take(event.stream, event.time, event.number, event.number, event.row)

    def _process(self, order: StreamOrder) -> list[Results | RevisedResults]:
        """Pass the events of an order that are final to the dispatcher, those of one stream after each other as one
        batch."""
        held = order.buffer.release(order.safe)
        self.runtime.enter(order.time)
        found: list[Results | RevisedResults] = []
        streams, n, begin = held.streams, len(held.times), 0
        while begin < n:
            stream, end = streams[begin], begin + 1
            while end < n and streams[end] == stream:
                end += 1
            order.buffer.count_out(stream, end - begin)
            part = held if end - begin == n else held.part(begin, end)
            starts = part.times if part.instants else part.starts
            batch, ids = batch_of_rows(part.rows), event_ids(part.numbers)
            found.append(self.runtime.process(stream, part.times, batch, ids, starts))
            begin = end
        return found

    def retract(self, number: int) -> JoinedResults:
        """Withdraw an event. Raises UnknownEvent if none of that id may be withdrawn."""
        self.orders.follow()
        known = self._find(number)
        event = None
        if known is not None and self.marks.streams[known.stream].disorder != "arrival":
            if known.time >= self.settlement.floor(known.stream, known.row):
                event = self.orders.of(known.stream).buffer.withdraw(number)
        if event is None:
            raise unknown_event(number)
        found = RevisedResults(self.runtime.result_ids)
        if self.orders.of(event.stream).ahead.withdraw(number) is None:
            self.readers.withdraw(event.stream, event.time, number, event.row)
            self.readers.tell(found)
        return JoinedResults([*self.settled(), found])

    def _find(self, number: int) -> HeldEvent | None:
        """The event that is known by that id; None if there is none."""
        return next((event for order in self.orders.all if (event := order.buffer.find(number)) is not None), None)

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
        self.orders.follow()
        if where is not None and stream is None:
            raise EventError("expected a stream beside the predicate of a punctuation, found none")
        if where is not None and stream is not None and self.marks.streams[stream].disorder == "arrival":
            found = "expected no predicate of a punctuation, since its events are in order"
            raise EventError(f"stream {stream!r}: {found}")
        self._remember()
        if where is None or stream is None:
            self.marks.promise(time, stream)
        else:
            self.settlement.promise(time, self.marks.streams[stream], where)
        return JoinedResults([*self._parted(), *self._promised(True)])

    def _remember(self) -> None:
        """Note what is safe before a promise."""
        for order in self.orders.all:
            order.before = order.safe

    def _promised(self, closing: bool) -> list[Results | RevisedResults]:
        """What a promise in words gives; `closing`: results that wait for time to pass are told."""
        for name, numbers in self.checks.numbers.items():
            self._count(name, numbers)
        advanced = [order for order in self.orders.all if self.marks.advance(order)]
        found = RevisedResults(self.runtime.result_ids)
        parts: list[Results | RevisedResults] = [found]
        self._settle(found)
        for stream in list(self.settlement.promised):
            self.settlement.forget(stream)
        for order in advanced:
            parts += self._process(order)
            if closing:
                parts.append(punctuate(self.runtime, order.safe))
        return parts

    def finish(self, end: int, close: Callable[[], list[tuple[Target, Notice]]]) -> JoinedResults:
        """No more events come, for now: all are final, and later ones must be later. `close` gives further notices."""
        self.orders.follow()
        self._remember()
        parts = self.settled()
        if self.marks.newest != NOTHING_PROMISED:
            self.marks.promise(self.marks.newest + 1, None)
            parts += self._promised(False)
        for order in self.orders.all:
            self.runtime.enter(order.time)
            parts.append(release(self.runtime, end))
        last = results_of_moment(self.marks.newest, {})
        for target, notice in close():
            last.notify(0, target, notice)
        for order in self.orders.all:
            order.time.deadlines.clear()
        return JoinedResults([*parts, last])

    def widen(self, stream: str, width: int) -> None:
        """A stream has got an attribute."""
        order = self.orders.of(stream)
        order.buffer.widen(stream, width)
        order.ahead.widen(stream, width)
        if stream in self.settlement.promised:
            self.settlement.promised[stream].schema = self.marks.streams[stream].schema

    def forget(self, stream: StreamDefinition) -> JoinedResults:
        """A stream that nothing reads has gone, with its events; others need not wait for it any more."""
        order = self.orders.of(stream.name)
        order.buffer.forget(stream.name)
        order.ahead.forget(stream.name)
        self.settlement.promised.pop(stream.name, None)
        self.checks.numbers.pop(stream.name, None)
        self.marks.forget(stream.name)
        self.orders.stale = True
        self.orders.follow()
        return JoinedResults(self.settled())

    def end(self) -> None:
        """No stream has disorder any more."""
        assert not self.readers.by_name
        assert len(self.orders.all) == 1
        self.runtime.promised = max(self.marks.promised, self.orders.first.safe)

    def enter(self, subscriber: Subscriber, holding: Holding | None) -> None:
        """A subscription has come."""
        self.orders.enter(subscriber, holding)
        self.runtime.enter(self.orders.of_subscriber(subscriber).time)

    def leave(self, subscriber: Subscriber) -> None:
        """A subscription goes."""
        self.orders.leave(subscriber)
        if subscriber.name in self.readers.by_name:
            self.readers.leave(subscriber.name)

    # --- questions ----------------------------------------------------------------------------------------------

    def due(self) -> Sequence[tuple[list[str], int]]:
        """The streams of each order in which something waits, and for what time to pass: the next alarm, the first
        horizon of a forecast, or the first event that is not final."""
        self.orders.follow()
        self.runtime.park()
        found: list[tuple[list[str], int]] = []
        for order in self.orders.all:
            alarms = order.time.alarms
            due = min(order.buffer.first(), alarms[0][0] if alarms else FOREVER, horizon_in(order.time.deadlines))
            if due < FOREVER:
                found.append((order.streams(), max(due, order.safe)))  # an earlier promise would say nothing new
        return found

    def stream_of(self, number: int) -> str | None:
        """The stream of an event that may be withdrawn; None: there is no such event."""
        event = self._find(number)
        return None if event is None else event.stream
