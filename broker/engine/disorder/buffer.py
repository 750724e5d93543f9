"""The buffer of an engine: the events that are not final yet, in the order in which they will be processed.

That order is the one of times, then of ids, then of arrival. Events can be withdrawn from it by their ids, which are
then different. They lie in sorted columns, since most events come near the end of what is there: a search from the end
finds their place. The few that belong far before it are kept apart, in a tree-like list.

Here: that order. Hot. Not here: the columns (held_columns), when events become final (watermarks), where they go
(reordering).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator
from heapq import merge
from itertools import islice, takewhile
from typing import Any, Final, final

from mypy_extensions import i64
from sortedcontainers import SortedList

from ...events.instant import FOREVER
from ...events.schema import Row
from .held_columns import HeldColumns, HeldEvent, no_events

NEAR: Final = 512  # places before the end, up to which moving what is behind costs less than the sorted list


@final
class ReorderBuffer:
    """`columns`: the events in their order, from place `head` on; those before have gone. `far`: time, id, a number in
    the order of arrival and the event, for those that came more than `near` places before the end; `apart`: how many.
    `known`: the times of those that are known by their ids; `unknown`: how many others there are of each stream, time
    and id. `overtaken`: events so far that came after a later one. `counts`: how many events there are of each stream.
    """

    def __init__(self, near: int = NEAR) -> None:
        self.near: i64 = near
        self.columns = no_events()
        self.head: i64 = 0
        self.far: Any = SortedList()
        self.apart: i64 = 0
        self.came = 0  # events that were kept apart so far
        self.overtaken: i64 = 0
        self.known: dict[int, int] = {}
        self.unknown: dict[tuple[str, int, int], int] = {}
        self.counts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.columns.times) - int(self.head) + int(self.apart)

    # --- coming -------------------------------------------------------------------------------------------------

    def add(
        self, stream: str, times: list[int], numbers: list[int], starts: list[int], rows: list[Row], known: bool
    ) -> int | None:
        """Add a batch; returns its newest time, -FOREVER if it is empty. O(log distance from the end) for each, up to
        `near`, else O(log events).

        `starts` may be `times`. Returns None, and changes nothing, if an id is taken that is `known`; then O(all).
        """
        if not self._note_ids(stream, times, numbers, known):
            return None
        columns = self.columns
        if len(columns.times) == 0:
            columns.instants, columns.starts = True, []
        if columns.instants and starts is not times and starts != times:
            columns.spread()
        # Not as lists of numbers, each of which compiled code would unpack and make again.
        all_times: list[Any] = times
        all_numbers: list[Any] = numbers
        all_starts: list[Any] = starts
        own_times: list[Any] = columns.times
        own_numbers: list[Any] = columns.numbers
        own_starts: list[Any] = columns.starts
        own_streams, own_rows = columns.streams, columns.rows
        spread = not columns.instants
        near = self.near
        last: i64 = own_times[len(own_times) - 1] if len(own_times) > self.head else -FOREVER
        newest: i64 = -FOREVER
        i: i64
        for i in range(len(times)):
            given = all_times[i]
            moment: i64 = given
            if moment > newest:
                newest = moment
            if moment > last:
                last = moment
                own_times.append(given)
                own_numbers.append(all_numbers[i])
                own_rows.append(rows[i])
                own_streams.append(stream)
                if spread:
                    own_starts.append(all_starts[i])
                continue
            if moment < last:
                self.overtaken += 1
            at = self._place(moment, numbers[i])
            if len(own_times) - at > near or (self.apart > 0 and self._has_equal(times[i], numbers[i])):
                event = HeldEvent(times[i], numbers[i], stream, starts[i], rows[i])
                self.came += 1
                self.far.add((event.time, event.number, self.came, event))
                self.apart += 1
                continue
            own_times.insert(at, given)
            own_numbers.insert(at, all_numbers[i])
            own_rows.insert(at, rows[i])
            own_streams.insert(at, stream)
            if spread:
                own_starts.insert(at, all_starts[i])
        return int(newest)

    def _note_ids(self, stream: str, times: list[int], numbers: list[int], known: bool) -> bool:
        """Note the ids of a batch, and how many it has; False, and nothing is noted, if one is taken."""
        if known:
            most = len(self.known) + len(numbers)
            self.known.update(zip(numbers, times))
            if len(self.known) < most:
                self.known = {event.number: event.time for event, told in self._all() if told}
                return False
        else:
            for time, number in zip(times, numbers):
                one = (stream, time, number)
                self.unknown[one] = self.unknown.get(one, 0) + 1
        self.counts[stream] = self.counts.get(stream, 0) + len(times)
        return True

    def _has_equal(self, time: int, number: int) -> bool:
        """Whether an event of that time and id is kept apart: later ones must stand behind it, so that equal events in
        the columns have come before those that are kept apart. Only unknown events can have the id of another."""
        if len(self.unknown) == 0:
            return False
        at = self.far.bisect_left((time, number))
        return at < len(self.far) and bool(self.far[at][:2] == (time, number))

    def _place(self, time: i64, number: i64) -> i64:
        """The place behind all events that are not later, sought from the end. O(log distance from the end)."""
        times, numbers = self.columns.times, self.columns.numbers
        head = self.head
        high: i64 = len(times)
        low = high - 1
        step: i64 = 1
        found: i64
        while low >= head:
            found = times[low]
            if found < time or (found == time and numbers[low] <= number):
                break
            high = low
            low -= step
            step += step
        if low < head:
            low = head - 1
        while high - low > 1:
            middle = (low + high) >> 1
            found = times[middle]
            if found > time or (found == time and numbers[middle] > number):
                high = middle
            else:
                low = middle
        return high

    # --- going --------------------------------------------------------------------------------------------------

    def release(self, time: int) -> HeldColumns:
        """Take out all events before a time, in order; the caller counts them out. O(their number)."""
        columns, head = self.columns, self.head
        upto: i64 = bisect_left(columns.times, time, int(head))
        found = columns.part(int(head), int(upto))
        self.head = upto
        if 2 * upto >= len(columns.times):
            columns.drop(0, int(upto))
            self.head = 0
        if self.apart > 0 and self.far[0][0] < time:
            found = self._with_far(found, self.far.bisect_left((time,)))
        if len(self.unknown) == 0:
            known = self.known
            for number in found.numbers:
                del known[number]
        else:
            for at in range(len(found.times)):
                event = found.event(at)
                if not self._forget(event.stream, event.time, event.number):
                    del self.known[event.number]
        return found

    def count_out(self, stream: str, events: int) -> None:
        """So many events of a stream have been released."""
        self.counts[stream] -= events

    def _forget(self, stream: str, time: int, number: int) -> bool:
        """Forget an unknown event; False if there is none."""
        one = (stream, time, number)
        count = self.unknown.pop(one, 0)
        if count > 1:
            self.unknown[one] = count - 1
        return count > 0

    def _with_far(self, near: HeldColumns, upto: int) -> HeldColumns:
        """The first events that were kept apart, taken out, among those there."""
        events: list[Any] = list(islice(self.far, upto))
        del self.far[:upto]
        self.apart -= len(events)
        near.spread()
        found = no_events()
        begin = 0
        for time, number, _, event in events:
            at = begin
            while at < len(near.times) and near.times[at] < time:
                at = max(at + 1, bisect_left(near.times, time, at))
            while at < len(near.times) and near.times[at] == time and near.numbers[at] <= number:
                at += 1
            found.extend(near, begin, at)
            found.append(event)
            begin = at
        found.extend(near, begin, len(near.times))
        return found

    def withdraw(self, number: int) -> HeldEvent | None:
        """Take out the event with that id; None if there is none. O(events behind it)."""
        event = self.find(number)
        if event is None:
            return None
        del self.known[number]
        self.count_out(event.stream, 1)
        columns = self.columns
        at = bisect_left(columns.times, event.time, int(self.head))
        while at < len(columns.times) and columns.times[at] == event.time:
            if columns.numbers[at] == number and columns.event(at).stream == event.stream:
                columns.drop(at, at + 1)
                return event
            at += 1
        place = self.far.bisect_left((event.time, number))
        while self.far[place][3].stream != event.stream:
            place += 1
        del self.far[place]
        self.apart -= 1
        return event

    def adopt(self, other: ReorderBuffer, streams: Collection[str]) -> None:
        """Add the events of these streams that another buffer has. O(its events)."""
        overtaken = self.overtaken
        for event, known in other._all():
            if event.stream in streams:
                self._add_again(event, known)
        self.overtaken = overtaken

    def forget(self, stream: str) -> None:
        """Drop the events of a stream. O(all)."""
        kept = [each for each in self._all() if each[0].stream != stream]
        self._clear()
        for event, known in kept:
            self._add_again(event, known)

    def _clear(self) -> None:
        self.columns, self.head = no_events(), 0
        self.far.clear()
        self.apart = 0
        self.known.clear()
        self.counts.clear()
        self.unknown.clear()

    def _add_again(self, event: HeldEvent, known: bool) -> None:
        self.add(event.stream, [event.time], [event.number], [event.start], [event.row], known)

    def widen(self, stream: str, width: int) -> None:
        """Fill up the rows of a stream, which has got an attribute, with null. O(all)."""
        columns = self.columns
        for at in range(len(columns.rows)):
            if columns.streams[at] == stream:
                columns.rows[at] = _widened(columns.rows[at], width)
        far: list[Any] = list(self.far)
        self.far.clear()
        for time, number, came, event in far:
            row = _widened(event.row, width) if event.stream == stream else event.row
            self.far.add((time, number, came, event._replace(row=row)))

    # --- questions ----------------------------------------------------------------------------------------------

    def find(self, number: int) -> HeldEvent | None:
        """The event that is known by that id; None if there is none. O(log events)."""
        time = self.known.get(number)
        if time is None:
            return None
        for event in self.since(time, number):
            if (event.stream, time, number) not in self.unknown:
                return event
        raise AssertionError(f"event {number} is known and not there")

    def since(self, time: int, number: int = -1) -> Iterator[HeldEvent]:
        """The events from a time and an id on, in order."""
        columns = self.columns
        at = bisect_left(columns.times, time, int(self.head))
        while at < len(columns.times) and columns.times[at] == time and columns.numbers[at] < number:
            at += 1
        near = map(columns.event, range(at, len(columns.times)))
        if self.apart == 0:
            return near
        far = [each[3] for each in self.far.irange((time, number))]
        return merge(near, far, key=_order)

    def of_others(self, stream: str) -> int:
        """How many events are of other streams. O(1)."""
        return len(self) - self.counts.get(stream, 0)

    def before(self, time: int) -> list[HeldEvent]:
        """The events before a time, in order."""
        return list(takewhile(lambda event: event.time < time, self.since(-FOREVER)))

    def first(self) -> int:
        """The time of the first event; FOREVER if there is none."""
        columns = self.columns
        near = columns.times[int(self.head)] if len(columns.times) > self.head else FOREVER
        return min(near, int(self.far[0][0])) if self.apart > 0 else near

    def _all(self) -> Iterator[tuple[HeldEvent, bool]]:
        """All events in order, and whether each is known by its id."""
        seen: dict[tuple[str, int, int], int] = {}
        for event in self.since(-FOREVER):
            one = (event.stream, event.time, event.number)
            seen[one] = seen.get(one, 0) + 1
            yield event, seen[one] > self.unknown.get(one, 0)

    # --- inspection ---------------------------------------------------------------------------------------------

    def check_invariants(self) -> None:
        """Raise AssertionError if the views contradict each other."""
        self.far._check()
        columns = self.columns
        near = [columns.event(at) for at in range(int(self.head), len(columns.times))]
        assert near == sorted(near, key=_order), "the events are in their order"
        events = list(self._all())
        assert len(events) == len(self)
        assert self.apart == len(self.far)
        assert {event.number: event.time for event, known in events if known} == self.known
        assert len(events) == len(self.known) + sum(self.unknown.values())
        assert {name: n for name, n in self.counts.items() if n} == Counter([event.stream for event, _ in events])

    def dump(self) -> Any:
        """Plain data."""
        return [[*event[:4], list(event.row), known] for event, known in self._all()]

    def load(self, data: Any) -> None:
        for time, number, stream, start, row, known in data:
            self._add_again(HeldEvent(time, number, stream, start, tuple(row)), known)


def _widened(row: Row, width: int) -> Row:
    return (*row, *[None] * (width - len(row)))


def _order(event: HeldEvent) -> tuple[int, int]:
    return event.time, event.number
