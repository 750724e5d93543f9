"""Sequence numbers: a stream whose source numbers its events without gaps says itself what is missing (AFA+O, 5.3).

The times of events grow with their numbers. So once all numbers up to one have come, or are declared to be a gap, no
event before its time can come any more, and nobody has to promise so. A number that can only come late, because a
promise of the stream has passed the event behind it, is *lost*: it is waited for no longer.

Here: which numbers have come. Not here: what becomes final by that (watermarks), who numbers events (their source).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, Final, final

from sortedcontainers import SortedDict

from ...events.errors import DuplicateEvent, EventError, LateEvent, MisnumberedEvent
from ...events.schema import Row
from ...events.time_unit import shown_instant
from .stream_order import NOTHING_PROMISED

FIRST: Final = 1


@final
class SequenceNumbers:
    """The numbers of one stream, which stand in its attribute at `position`.

    All below `next` have come, are gaps or are lost, and the newest event of these has the time `time`. `ahead`: those
    that have come beyond, with their times; `gaps`: intervals beyond that will not come, apart and in order.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        self.next = FIRST
        self.time = NOTHING_PROMISED
        self.lost = 0
        self.ahead: Any = SortedDict()
        self.gaps: list[tuple[int, int]] = []

    def number(self, row: Row) -> int:
        """That of an event."""
        found = row[self.position]
        assert isinstance(found, int)
        return found

    def fault(self, number: int, time: int, batch: Any) -> tuple[type[EventError], str] | None:
        """Why an event of that number and time is refused; None: it fits, and to those of its `batch`. O(log ahead)."""
        if number < self.next:
            later = f"expected a number of {self.next} or later, since earlier ones have come or will not come"
            return LateEvent, f"{later}, found {number}"
        if number in self.ahead or number in batch:
            return DuplicateEvent, f"expected a number that has not come, found {number} again"
        gap = self._gap(number)
        if gap is not None:
            return LateEvent, f"expected a number in no gap, found {number} of the gap from {gap[0]} to {gap[1]}"
        for known in (self.ahead, batch):
            at = known.bisect_left(number)
            if at > 0:
                before, earlier = known.peekitem(at - 1)
                if time <= earlier:
                    return MisnumberedEvent, _expected(number, f"later than {earlier}", before, time)
            if at < len(known):
                behind, later_time = known.peekitem(at)
                if time >= later_time:
                    return MisnumberedEvent, _expected(number, f"earlier than {later_time}", behind, time)
        return None

    def _gap(self, number: int) -> tuple[int, int] | None:
        at = bisect_left(self.gaps, (number + 1,)) - 1
        return self.gaps[at] if at >= 0 and self.gaps[at][1] >= number else None

    def note(self, number: int, time: int) -> None:
        """An event that fits has come. O(log ahead), amortised."""
        self.ahead[number] = time
        self._advance()

    def declare(self, first: int, last: int) -> None:
        """The numbers from `first` to `last` will not come. Raises EventError if one has. O(gaps)."""
        come = next(iter(self.ahead.irange(first, last)), None)
        if come is not None:
            raise EventError(f"expected a gap of numbers that have not come, found {come}, which has")
        begin, end = max(first, self.next), last
        if begin > end:
            return
        kept = []
        for gap in self.gaps:
            if gap[1] < begin - 1 or gap[0] > end + 1:
                kept.append(gap)
            else:
                begin, end = min(begin, gap[0]), max(end, gap[1])
        insort(kept, (begin, end))
        self.gaps = kept
        self._advance()

    def pass_by(self, floor: int) -> None:
        """No event before `floor` comes: what is missing before an event at that time or earlier is lost. O(log ahead),
        amortised."""
        while len(self.ahead) > 0:
            number, time = self.ahead.peekitem(0)
            if time > floor:
                break
            missing = number - self.next
            for begin, end in self.gaps:
                if begin < number:
                    missing -= end - begin + 1
            self.lost += missing
            self.gaps = [gap for gap in self.gaps if gap[0] > number]
            self.next = number
            self._advance()

    def _advance(self) -> None:
        while True:
            if len(self.ahead) > 0 and self.ahead.peekitem(0)[0] == self.next:
                _, self.time = self.ahead.popitem(0)
                self.next += 1
            elif self.gaps and self.gaps[0][0] <= self.next:
                self.next = self.gaps.pop(0)[1] + 1
            else:
                return

    def missing(self) -> int:
        """How many numbers are waited for: before the newest that has come. O(gaps)."""
        if len(self.ahead) == 0:
            return 0
        newest = self.ahead.peekitem(-1)[0]
        declared = sum([min(end, newest) - begin + 1 for begin, end in self.gaps if begin < newest])
        return int(newest - self.next + 1 - len(self.ahead) - declared)

    def dump(self) -> Any:
        return [self.next, self.time, self.lost, list(self.ahead.items()), [list(gap) for gap in self.gaps]]

    def load(self, data: Any) -> None:
        self.next, self.time, self.lost, ahead, gaps = data
        self.ahead.update([(number, time) for number, time in ahead])
        self.gaps = [(begin, end) for begin, end in gaps]

    def check_invariants(self) -> None:
        assert self.missing() >= 0
        assert all(number > self.next for number in self.ahead)
        assert all(begin > self.next for begin, _ in self.gaps)
        times = list(self.ahead.values())
        assert times == sorted(set(times)), "times grow with the numbers"
        assert not times or times[0] > self.time


def _expected(number: int, what: str, of: int, time: int) -> str:
    return f"expected a time of number {number} that is {what}, that of number {of}, found {shown_instant(time)}"
