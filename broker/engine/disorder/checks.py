"""Which events of streams out of order are refused: late ones, ids that are taken, wrong numbers, too many that wait.

Here: these checks, and the numbers of events that have come. Not here: the way of those that are taken (reordering).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from sortedcontainers import SortedDict

from ...events.errors import DuplicateEvent, EventError, LateEvent, LimitExceeded
from ...events.schema import Row
from ...events.stream import StreamDefinition
from ...events.validation import late_reason
from .numbers import SequenceNumbers
from .related import StreamOrders
from .settlement import Settlement
from .stream_order import StreamOrder
from .watermarks import Watermarks


@final
class BatchChecks:
    """`most`: how many events may wait. `numbers`: by stream, those that have come."""

    def __init__(self, orders: StreamOrders, marks: Watermarks, settlement: Settlement, most: int) -> None:
        self.orders = orders
        self.marks = marks
        self.settlement = settlement
        self.most = most
        self.numbers: dict[str, SequenceNumbers] = {}

    def check(self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]) -> None:
        """Raise LimitExceeded if the events have no room, DuplicateEvent if the id of one is taken, LateEvent if one is
        behind a punctuation of such events."""
        self.check_room(stream, len(ids))
        if self.known(stream) and not (len(set(ids)) == len(ids) and self.is_free(ids)):
            self.refuse(stream, times, rows, ids)
        elif self.says_more(stream):
            self.refuse(stream, times, rows, ids)

    def is_free(self, ids: Sequence[int], but: StreamOrder | None = None) -> bool:
        """Whether no event that may be withdrawn has one of these ids; those of the order `but` are not asked. O(orders
        with such events x ids)."""
        known = [order.buffer.known.keys() for order in self.orders.all if order is not but]
        return all(not taken or taken.isdisjoint(ids) for taken in known)

    def says_more(self, stream: StreamDefinition) -> bool:
        """Whether events can be refused for more than their times and ids."""
        return stream.name in self.settlement.promised or stream.sequence is not None

    def check_room(self, stream: StreamDefinition, events: int) -> None:
        most = self.most
        if sum([len(order.buffer) for order in self.orders.all]) + events > most:
            raise LimitExceeded(
                f"stream {stream.name!r}: at most {most} events may wait until they are final (buffered_events_max);"
                f" a punctuation, or lateness, lets them go"
            )

    def refuse(self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]) -> None:
        """Raise the first fault of a batch, if it has one."""
        for index, fault, message in self.faults(stream, times, rows, ids):
            raise fault(f"stream {stream.name!r}, row {index}: {message}")

    def faults(
        self, stream: StreamDefinition, times: Sequence[int], rows: Sequence[Row], ids: Sequence[int]
    ) -> Iterator[tuple[int, type[EventError], str]]:
        """The events of a batch that are refused, by index, each with its error. The others fit together. O(batch)."""
        settlement, lateness = self.settlement, stream.lateness
        numbers, counted = self.numbers_of(stream), SortedDict()
        known = set().union(*[order.buffer.known for order in self.orders.all]) if self.known(stream) else set()
        seen: set[int] = set()
        floor = self.marks.floor(stream.name)
        for index, (time, row, number) in enumerate(zip(times, rows, ids)):
            promised = settlement.floor(stream.name, row)
            if time < max(floor, promised):
                yield index, LateEvent, late_reason(max(floor, promised), time, promised > floor)
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
                if self.known(stream):
                    seen.add(number)
                if lateness is not None:
                    floor = max(floor, time - lateness)

    def numbers_of(self, stream: StreamDefinition) -> SequenceNumbers | None:
        """The numbers of a stream that have come; None: its events have none."""
        if stream.sequence is None:
            return None
        found = self.numbers.get(stream.name)
        return SequenceNumbers(stream.schema.position(stream.sequence)) if found is None else found

    def known(self, stream: StreamDefinition) -> bool:
        """Whether events of the stream are known by their ids until they are final: to be withdrawn, or by those who
        revise."""
        return stream.disorder != "arrival" or stream.name in self.settlement.readers.readers
