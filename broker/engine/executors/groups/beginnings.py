"""Starts that wait with the text that begins them, for all members of a group that begin with it.

Here: the starts of one text, and of all. Hot. Not here: what they wait for (next_match, any_match, text_chain).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .columns import INFINITY, Floats, Integers, filled, integers, with_room_for_integers
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause
from .text_members import ANY, Text

SWEEP_MIN: Final = 64
BEFORE: Final = -(1 << 62)


@final
class Beginning:
    """The starts of a text, for the `members` that begin with it. `clause`: what such an event is asked; only what it
    bounds is kept of one. `root`: at most the members' least corner. `newest` and `newest_time`: the number and the
    time of the last start. `number`: its place in TextLog, if it has one there. `window`: the coordinate of WITHIN,
    NONE for none."""

    def __init__(
        self, text: Text, clause: StepClause, d: i64, window: i64 = NONE, root: Floats | None = None
    ) -> None:  # fmt: skip
        self.text = text
        self.clause = clause
        self.members: i64 = 0
        self.root: Floats = filled(d, INFINITY) if root is None else root
        self.newest: i64 = NONE
        self.newest_time: i64 = BEFORE
        self.number: i64 = NONE
        self._d: i64 = d
        self._window: i64 = window
        self._kept: i64 = 0
        bounded = [int(bound.coordinate) for bound in clause.bounds] or [0]
        self._low: i64 = min(bounded)
        self._upto: i64 = max(bounded) + 1
        self.starts = Starts(self._upto - self._low, window, self._low)

    def clear(self) -> None:
        """Drop all starts."""
        self.starts.clear()
        self.newest, self.newest_time, self._kept = NONE, BEFORE, 0

    def joined(self, point: list[float]) -> None:
        """A member begins with the text."""
        self.members += 1
        j: i64
        for j in range(self._d):
            self.root[j] = min(self.root[j], point[j])

    def begin(self, row: Row, time: i64, event: i64) -> bool:
        """Keep the event if it may begin a match of some member. O(1)."""
        starts, root, clause = self.starts, self.root, self.clause
        at = starts.open()
        values = starts.values
        if not clause.narrows(row, time, time, values, at, values, at):
            return False
        j: i64
        for j in range(self._low, self._upto):
            if not root[j] <= values[at + j]:
                return False
        if not clause.admits(row):
            return False
        starts.keep(time, event)
        self.newest, self.newest_time = event, time
        return True

    def grown(self) -> bool:
        """Whether it is time to drop starts that nobody waits with."""
        return self.starts.count > 2 * self._kept + SWEEP_MIN

    def drop(self, first: i64) -> None:
        """Drop the starts before that place, but for some. O(starts)."""
        starts = self.starts
        cut = starts.drop_first(first)
        starts.head = starts.head - cut if starts.head > cut else 0
        self._kept = starts.count + cut - first

    def retain(self, wanted: list[bool]) -> None:
        """Drop the other starts. O(starts)."""
        starts = self.starts
        starts.retain(wanted)
        starts.head = 0
        self._kept = starts.count

    def waits(self, time: i64) -> bool:
        """Whether the newest start is in some member's window. O(1)."""
        window = self._window
        return self.starts.count > 0 and (window < 0 or float(self.newest_time - time) >= self.root[window])

    def first_in_time(self, time: i64) -> i64:
        """The first start that is in some member's window. O(log)."""
        return self.starts.since_time(time, self.root[self._window], 0, self.starts.count)

    def passed(self, time: i64) -> i64:
        """The same for times that only go on. Amortised O(1)."""
        starts = self.starts
        if self._window < 0:
            return 0
        starts.head = starts.passed(time, self.root[self._window], starts.head, starts.count)
        return starts.head

    def lower(self, x: Floats, top: Floats, first: i64, upto: i64) -> None:
        """Lower values to the greatest of the starts from `first` to `upto`; they may be too high. `top`: scratch.
        O(blocks)."""
        j: i64
        for j in range(self._low, self._upto):
            top[j] = -INFINITY
        self.starts.raise_by_blocks(top, first, upto)
        for j in range(self._low, self._upto):
            if top[j] < x[j]:
                x[j] = top[j]

    def load(self, dumped: dict[str, Any]) -> None:
        """Restore the starts."""
        starts = self.starts
        starts.load(dumped)
        self._kept = starts.count
        self.newest, self.newest_time = starts.events[starts.count - 1], starts.times[starts.count - 1]


@final
class TextLog:
    """The events of one place in matches, which lie with their texts, for the members of a group. `only`: all of them,
    if the place has no texts.

    Which starts each member has is in columns, since an event asks this of many members, most of which wait with
    nothing. `numbers`: of its starts, by handle; `times`: of the newest of them, by number.
    """

    def __init__(
        self, clause: StepClause, d: i64, window: i64 = NONE, whole: bool = False, root: Floats | None = None
    ) -> None:  # fmt: skip
        self.only = Beginning(ANY, clause, d, window, root) if whole else None
        self.by_text: dict[Text, Beginning] = {} if self.only is None else {ANY: self.only}
        self.numbers: Integers = integers()
        self.times: Integers = integers()
        self._clause = clause
        self._d: i64 = d
        self._window: i64 = window
        self._known: list[Beginning] = []  # by number
        self._free: list[int] = []

    def apart(self) -> TextLog:
        """Another one of the same members, which have no texts, and whose least corner is one for all."""
        assert self.only is not None, "partitions have no texts"
        return TextLog(self._clause, self._d, self._window, True, self.only.root)

    def joined(self, handle: int, text: Text, point: list[float]) -> None:
        """A member has this text here. O(1), amortised."""
        beginning = self.by_text.get(text)
        if beginning is None:
            beginning = self.by_text[text] = Beginning(text, self._clause, self._d, self._window)
            self._enter(beginning)
        beginning.joined(point)
        if self.only is None:
            self.numbers = with_room_for_integers(self.numbers, handle + 1)
            self.numbers[handle] = beginning.number

    def _enter(self, beginning: Beginning) -> None:
        """Give a number to starts that no member has yet."""
        if self._free:
            number = self._free.pop()
            self._known[number] = beginning
        else:
            number = len(self._known)
            self._known.append(beginning)
        beginning.number = number
        self.times = with_room_for_integers(self.times, number + 1)
        self.times[number] = BEFORE

    def left(self, handle: int) -> None:
        """A member has left the group. O(1)."""
        beginning = self.of(handle)
        beginning.members -= 1
        if beginning.members == 0 and self.only is None:
            del self.by_text[beginning.text]
            self._free.append(int(beginning.number))

    def of(self, handle: i64) -> Beginning:
        """The starts of a member. O(1)."""
        return self._known[self.numbers[handle]] if self.only is None else self.only

    def note(self, beginning: Beginning) -> None:
        """There is another start. O(1)."""
        if self.only is None:
            self.times[beginning.number] = beginning.newest_time

    def clear(self) -> None:
        """Drop all starts."""
        for beginning in self.by_text.values():
            beginning.clear()
            self.note(beginning)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def waits(self, time: i64) -> bool:
        """Whether a start is in some member's window. O(texts)."""
        return any(each.waits(time) for each in self.by_text.values())

    def oldest(self, event: i64) -> i64:
        """The event of the oldest start, at most `event`."""
        for each in self.by_text.values():
            event = each.starts.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        """Add the events of all starts."""
        for each in self.by_text.values():
            each.starts.used(events)

    def dump(self) -> list[Any]:
        return [[text, each.starts.dump()] for text, each in self.by_text.items() if each.starts.count > 0]

    def load(self, dumped: Any) -> None:
        for text, starts in dumped:
            beginning = self.by_text[text]
            beginning.load(starts)
            self.note(beginning)

    def check_invariants(self, members: Members) -> None:
        """`members`: of the group."""
        assert sum(int(each.members) for each in self.by_text.values()) in (members.count, 0)  # a part counts none
        for each in self.by_text.values():
            each.starts.check_invariants()
            assert self.only is not None or self.times[each.number] == each.newest_time
        for handle, point, _ in members.each():
            assert all(self.of(handle).root[j] <= point[j] for j in range(int(self._d)))
